/*
 * mcp_calls - the thread of slow calls: a queue of messages, which call runs, which are cancelled.
 */
#ifndef STRATA_MCP_MCP_CALLS_H
#define STRATA_MCP_MCP_CALLS_H

#include <pthread.h>
#include <stdatomic.h>

#include "mcp/mcp_server.h"

struct mcp_queued {
    struct mcp_queued *next;
    size_t n;
    char message[];
};

/* The id of a request: 's' or 'n' and its text; "": none. Longer ids cannot be cancelled. */
enum { MCP_ID = 128, MCP_CANCELLED = 64, MCP_QUEUED = 64 };

struct mcp_server {
    struct mcp_catalog *catalog; /* tools/list apart, the thread of calls alone uses it */
    const char *instructions;
    atomic_bool is_initialized;
    int out;
    pthread_mutex_t write_lock;
    bool is_broken; /* the output failed */
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t wake;
    struct mcp_queued *first, *last;
    size_t n_queued;                       /* at most MCP_QUEUED */
    bool has_ended;                        /* no message will follow */
    char running[MCP_ID];                  /* the call that runs */
    bool is_cancelled;                     /* it is to end, by a notification */
    char cancelled[MCP_CANCELLED][MCP_ID]; /* before they began, the oldest is replaced */
    size_t next_cancelled;
};

/* A call was read: a cancellation of its id that came before was of an earlier one. */
void mcp_call_expect(struct mcp_server *server, const struct tree *id);

/* A call begins; false: it was cancelled before. It ends; false: it was cancelled meanwhile. */
bool mcp_call_begin(struct mcp_server *server, const struct tree *id);
bool mcp_call_end(struct mcp_server *server);
void mcp_call_cancel(struct mcp_server *server, const struct tree *id);

/* A message for the thread of calls, and its answer when too many wait for it. */
bool mcp_is_slow(struct mcp_server *server, struct str message);
void mcp_server_refuse(struct mcp_server *server, struct str message, struct text *out);

/* An error, with an id as above; "": it belongs to no request. */
void mcp_put_failure(struct text *out, const char *id, enum rpc_error code, const char *text);

#endif
