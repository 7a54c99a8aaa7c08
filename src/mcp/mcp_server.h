/*
 * mcp_server - the Model Context Protocol over two descriptors: JSON-RPC 2.0, a message a line.
 *
 *     struct mcp_host host = {...};
 *     struct mcp_server *server = mcp_server_new(&host);
 *     mcp_server_run(server, STDIN_FILENO, STDOUT_FILENO);
 *     mcp_server_free(server);
 *
 * The calling thread reads and answers what is quick; tools run one after the other in a thread of
 * their own, each in a job (base/job.h). A notification of cancellation sets the flag of
 * base/cancel.h while its call runs; a cancelled call has no answer.
 */
#ifndef STRATA_MCP_MCP_SERVER_H
#define STRATA_MCP_MCP_SERVER_H

#include "base/tree.h"

/* What a server offers. Each function writes one value. */
struct mcp_host {
    void *ctx;
    const char *instructions; /* for the client, a few sentences */
    void (*put_tools)(void *ctx, struct json_writer *w); /* a list */
    bool (*has_tool)(void *ctx, struct str name);
    /* The result of a call; `arguments` is a map, or NULL. */
    void (*call)(void *ctx, struct str tool, const struct tree *arguments, struct json_writer *w);
    void (*put_resources)(void *ctx, struct json_writer *w); /* a list */
    bool (*has_resource)(void *ctx, struct str uri);
    void (*read)(void *ctx, struct str uri, struct json_writer *w); /* the contents, a list */
};

enum { MCP_MESSAGE = 1 << 20 }; /* bytes of a message */

enum rpc_error {
    RPC_PARSE = -32700,
    RPC_REQUEST = -32600,
    RPC_METHOD = -32601,
    RPC_PARAMS = -32602,
    RPC_INTERNAL = -32603,
    RPC_NO_RESOURCE = -32002,
};

struct mcp_server;

struct mcp_server *mcp_server_new(const struct mcp_host *host);
void mcp_server_free(struct mcp_server *server);

/* Until the input ends, the output fails or the user interrupts. */
void mcp_server_run(struct mcp_server *server, int in, int out);

/* The same for one message at a time, in the calling thread: appends the answer, which may be
 * nothing, without a line end. */
void mcp_server_answer(struct mcp_server *server, struct str message, struct text *out);

/* The version of the protocol that is answered when a client asks for `wanted`. */
struct str mcp_version_for(struct str wanted);

#endif
