/*
 * Collectives between GPUs by NCCL. See device_links.h.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver/device_links.h"

struct nccl_id {
    char bytes[128];
};

struct nccl {
    struct {
#define NCCL_CALL(name, symbol, ...) int (*name)(__VA_ARGS__);
#include "driver/nccl_calls.def"
#undef NCCL_CALL
    } api;
    void *stream, *begin, *end, *comm;
    int rank, size;
    char problem[128];
};

static const struct links_symbol symbols[] = {
#define NCCL_CALL(name, symbol, ...) {symbol, offsetof(struct nccl, api.name)},
#include "driver/nccl_calls.def"
#undef NCCL_CALL
};

void *links_library(const char *variable, const char *name)
{
    const char *given = getenv(variable);

    return dlopen(given != NULL ? given : name, RTLD_NOW | RTLD_GLOBAL);
}

const char *links_load(void *const *libraries, size_t n_libraries,
                       const struct links_symbol *wanted, size_t n, void *table)
{
    for (size_t i = 0; i < n; i++) {
        void *found = NULL;
        for (size_t k = 0; k < n_libraries && found == NULL; k++)
            found = libraries[k] != NULL ? dlsym(libraries[k], wanted[i].symbol) : NULL;
        if (found == NULL)
            return wanted[i].symbol;
        memcpy((char *)table + wanted[i].offset, &found, sizeof(found));
    }
    return NULL;
}

static const char *failed(struct nccl *n, const char *what, int code)
{
    snprintf(n->problem, sizeof(n->problem), "%s: error %d", what, code);
    return n->problem;
}

static const char *open_gpu(struct nccl *n, int rank)
{
    static char text[96];
    int count = 0, device = 0;
    void *context = NULL;

    if (n->api.start(0) != 0 || n->api.count(&count) != 0 || count < 1)
        return "no GPU";
    if (rank >= count) {
        snprintf(text, sizeof(text), "rank %d has no GPU of its own, there are %d", rank, count);
        return text;
    }
    if (n->api.get(&device, rank) != 0 || n->api.retain(&context, device) != 0 ||
        n->api.use(context) != 0 || n->api.stream(&n->stream, 1) != 0 ||
        n->api.event(&n->begin, 0) != 0 || n->api.event(&n->end, 0) != 0)
        return "the GPU has no room for a stream";
    return NULL;
}

static const char *nccl_open(void **state, int rank)
{
    void *libraries[] = {links_library("STRATA_CUDA_PATH", "libcuda.so.1"),
                         links_library("STRATA_NCCL_PATH", "libnccl.so.2")};
    struct nccl *n = calloc(1, sizeof(*n));
    const char *problem = NULL;

    if (n == NULL)
        return "no memory";
    if (libraries[0] == NULL || libraries[1] == NULL)
        problem = libraries[0] == NULL ? "libcuda.so.1 not found" : "libnccl.so.2 not found";
    if (problem == NULL)
        problem = links_load(libraries, ARRAY_LEN(libraries), symbols, ARRAY_LEN(symbols), n);
    if (problem == NULL)
        problem = open_gpu(n, rank);
    if (problem == NULL)
        *state = n;
    else
        free(n);
    return problem;
}

static size_t nccl_memory(void *state)
{
    struct nccl *n = state;
    size_t left = 0, all = 0;

    return n->api.free_memory(&left, &all) == 0 ? left : 0;
}

static const char *nccl_id(void *state, char id[LINKS_ID_BYTES])
{
    struct nccl *n = state;
    struct nccl_id own;
    int code = n->api.id(&own);

    memcpy(id, &own, sizeof(own));
    return code == 0 ? NULL : failed(n, "ncclGetUniqueId", code);
}

static const char *nccl_join(void *state, const char id[LINKS_ID_BYTES], int rank, int size)
{
    struct nccl *n = state;
    struct nccl_id own;

    memcpy(&own, id, sizeof(own));
    n->rank = rank;
    n->size = size;
    int code = n->api.join(&n->comm, size, own, rank);
    return code == 0 ? NULL : failed(n, "ncclCommInitRank", code);
}

static void nccl_leave(void *state)
{
    struct nccl *n = state;

    if (n->comm != NULL)
        n->api.leave(n->comm);
    n->comm = NULL;
}

static void *nccl_buffer(void *state, size_t bytes)
{
    struct nccl *n = state;
    uint64_t at = 0;

    if (n->api.memory(&at, bytes) != 0)
        return NULL;
    n->api.zero(at, 0, bytes);
    return (void *)at;
}

static void nccl_buffer_free(void *state, void *at)
{
    ((struct nccl *)state)->api.memory_free((uint64_t)at);
}

/* It has no all-to-all: a message to and from every rank, at once. */
static int all_to_all(struct nccl *n, const struct coll_call *c, int type,
                      const struct coll_buffers *b)
{
    size_t bytes = c->n * coll_elem_size(c->elem);
    int code = n->api.begin();

    for (int i = 0; i < n->size && code == 0; i++) {
        code = n->api.send((char *)b->from + (size_t)i * bytes, c->n, type, i, n->comm, n->stream);
        if (code == 0)
            code = n->api.receive((char *)b->into + (size_t)i * bytes, c->n, type, i, n->comm,
                                  n->stream);
    }
    int last = n->api.end();
    return code != 0 ? code : last;
}

static int make_call(struct nccl *n, const struct coll_call *c, const struct coll_buffers *b)
{
    enum { SUM = 0 };
    static const int types[MPI_ELEMS] = {0, 6, 9, 7, 8, 4}; /* ncclInt8, Float16, Bfloat16, ... */
    int type = types[c->elem], code = 0;

    switch (c->op) {
    case COLL_ALL_REDUCE:
        return n->api.all_reduce(b->from, b->into, c->n, type, SUM, n->comm, n->stream);
    case COLL_ALL_GATHER:
        return n->api.all_gather(b->from, b->into, c->n, type, n->comm, n->stream);
    case COLL_REDUCE_SCATTER:
        return n->api.reduce_scatter(b->from, b->into, c->n, type, SUM, n->comm, n->stream);
    case COLL_BROADCAST:
        return n->api.broadcast(b->from, b->from, c->n, type, 0, n->comm, n->stream);
    case COLL_ALL_TO_ALL:
        return all_to_all(n, c, type, b);
    default: /* there and back */
        for (int turn = 0; turn < 2 && n->rank < 2 && code == 0; turn++)
            code = turn == n->rank
                       ? n->api.send(b->from, c->n, type, 1 - n->rank, n->comm, n->stream)
                       : n->api.receive(b->into, c->n, type, 1 - n->rank, n->comm, n->stream);
        return code;
    }
}

static const char *nccl_run(void *state, const struct coll_call *call, const struct coll_buffers *b,
                            double *seconds)
{
    struct nccl *n = state;
    float ms = 0;
    int code = n->api.record(n->begin, n->stream);

    if (code == 0)
        code = make_call(n, call, b);
    if (code == 0)
        code = n->api.record(n->end, n->stream);
    if (code == 0)
        code = n->api.sync(n->stream);
    if (code == 0)
        code = n->api.elapsed(&ms, n->begin, n->end);
    *seconds = (double)ms / 1e3;
    return code == 0 ? NULL : failed(n, "NCCL", code);
}

const struct device_links device_links_nccl = {
    .name = "nccl",
    .open = nccl_open,
    .close = free,
    .memory = nccl_memory,
    .id = nccl_id,
    .join = nccl_join,
    .leave = nccl_leave,
    .buffer = nccl_buffer,
    .buffer_free = nccl_buffer_free,
    .run = nccl_run,
};
