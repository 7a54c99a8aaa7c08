/*
 * mcp_server - the Model Context Protocol over two descriptors: JSON-RPC 2.0, a message a line.
 *
 *     struct mcp_catalog catalog = {...};
 *     struct mcp_server *server = mcp_server_new(&catalog, "what the tools are for");
 *     mcp_server_run(server, STDIN_FILENO, STDOUT_FILENO);
 *     mcp_server_free(server);
 *
 * The calling thread reads and answers what is quick; tools run one after the other in a thread of
 * their own, each in a job (base/run/job.h). A notification of cancellation sets the flag of
 * base/run/cancel.h while its call runs; a cancelled call has no answer.
 */
#ifndef STRATA_MCP_MCP_SERVER_H
#define STRATA_MCP_MCP_SERVER_H

#include "mcp/mcp_catalog.h"

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

/* The catalog, and the sentences that a client is given about it, must outlive the server. */
struct mcp_server *mcp_server_new(struct mcp_catalog *catalog, const char *instructions);
void mcp_server_free(struct mcp_server *server);

/* Until the input ends, the output fails or the user interrupts. */
void mcp_server_run(struct mcp_server *server, int in, int out);

/* The same for one message at a time, in the calling thread: appends the answer, which may be
 * nothing, without a line end. */
void mcp_server_answer(struct mcp_server *server, struct str message, struct text *out);

/* The version of the protocol that is answered when a client asks for `wanted`. */
struct str mcp_version_for(struct str wanted);

#endif
