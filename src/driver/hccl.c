/*
 * Collectives between NPUs by HCCL. See device_links.h.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver/device_links.h"

struct hccl {
    struct {
#define HCCL_CALL(name, symbol, ...) int (*name)(__VA_ARGS__);
#include "driver/hccl_calls.def"
#undef HCCL_CALL
    } api;
    void *stream, *begin, *end, *comm;
    uint64_t *counts, *places; /* elements for each rank, and where they begin */
    int rank, size;
    char problem[128];
};

static const struct links_symbol symbols[] = {
#define HCCL_CALL(name, symbol, ...) {symbol, offsetof(struct hccl, api.name)},
#include "driver/hccl_calls.def"
#undef HCCL_CALL
};

static const char *failed(struct hccl *h, const char *what, int code)
{
    snprintf(h->problem, sizeof(h->problem), "%s: error %d", what, code);
    return h->problem;
}

static const char *open_npu(struct hccl *h, int rank)
{
    static char text[96];
    uint32_t count = 0;

    if (h->api.start(NULL) != 0 || h->api.count(&count) != 0 || count < 1)
        return "no NPU";
    if ((uint32_t)rank >= count) {
        snprintf(text, sizeof(text), "rank %d has no NPU of its own, there are %u", rank, count);
        return text;
    }
    if (h->api.use(rank) != 0 || h->api.stream(&h->stream) != 0 || h->api.event(&h->begin) != 0 ||
        h->api.event(&h->end) != 0)
        return "the NPU has no room for a stream";
    return NULL;
}

static const char *hccl_open(void **state, int rank)
{
    void *libraries[] = {links_library("STRATA_ASCEND_PATH", "libascendcl.so"),
                         links_library("STRATA_HCCL_PATH", "libhccl.so")};
    struct hccl *h = calloc(1, sizeof(*h));
    const char *problem = NULL;

    if (h == NULL)
        return "no memory";
    if (libraries[0] == NULL || libraries[1] == NULL)
        problem = libraries[0] == NULL ? "libascendcl.so not found" : "libhccl.so not found";
    if (problem == NULL)
        problem = links_load(libraries, ARRAY_LEN(libraries), symbols, ARRAY_LEN(symbols), h);
    if (problem == NULL)
        problem = open_npu(h, rank);
    if (problem == NULL)
        *state = h;
    else
        free(h);
    return problem;
}

static void hccl_close(void *state)
{
    struct hccl *h = state;

    free(h->counts);
    free(h->places);
    free(h);
}

static size_t hccl_memory(void *state)
{
    enum { HBM = 1 };
    struct hccl *h = state;
    size_t left = 0, all = 0;

    return h->api.free_memory(HBM, &left, &all) == 0 ? left : 0;
}

static const char *hccl_id(void *state, char id[LINKS_ID_BYTES])
{
    struct hccl *h = state;
    int code = h->api.id(id);

    return code == 0 ? NULL : failed(h, "HcclGetRootInfo", code);
}

static const char *hccl_join(void *state, const char id[LINKS_ID_BYTES], int rank, int size)
{
    struct hccl *h = state;

    free(h->counts);
    free(h->places);
    h->rank = rank;
    h->size = size;
    h->counts = calloc((size_t)size, sizeof(*h->counts));
    h->places = calloc((size_t)size, sizeof(*h->places));
    if (h->counts == NULL || h->places == NULL)
        return "no memory";
    int code = h->api.join((uint32_t)size, id, (uint32_t)rank, &h->comm);
    return code == 0 ? NULL : failed(h, "HcclCommInitRootInfo", code);
}

static void hccl_leave(void *state)
{
    struct hccl *h = state;

    if (h->comm != NULL)
        h->api.leave(h->comm);
    h->comm = NULL;
}

static void *hccl_buffer(void *state, size_t bytes)
{
    struct hccl *h = state;
    void *at = NULL;

    if (h->api.memory(&at, bytes, 0) != 0)
        return NULL;
    h->api.zero(at, bytes, 0, bytes);
    return at;
}

static void hccl_buffer_free(void *state, void *at)
{
    ((struct hccl *)state)->api.memory_free(at);
}

static int all_to_all(struct hccl *h, const struct coll_call *c, int type,
                      const struct coll_buffers *b)
{
    for (int i = 0; i < h->size; i++) {
        h->counts[i] = c->n;
        h->places[i] = (uint64_t)i * c->n;
    }
    return h->api.all_to_all(b->from, h->counts, h->places, type, b->into, h->counts, h->places,
                             type, h->comm, h->stream);
}

static int make_call(struct hccl *h, const struct coll_call *c, const struct coll_buffers *b)
{
    enum { SUM = 0 };
    static const int types[MPI_ELEMS] = {0, 3, 11, 4, 10, 5}; /* HCCL_DATA_TYPE_INT8, FP16, ... */
    int type = types[c->elem], code = 0;
    uint32_t other = h->rank == 0;

    switch (c->op) {
    case COLL_ALL_REDUCE:
        return h->api.all_reduce(b->from, b->into, c->n, type, SUM, h->comm, h->stream);
    case COLL_ALL_GATHER:
        return h->api.all_gather(b->from, b->into, c->n, type, h->comm, h->stream);
    case COLL_REDUCE_SCATTER:
        return h->api.reduce_scatter(b->from, b->into, c->n, type, SUM, h->comm, h->stream);
    case COLL_BROADCAST:
        return h->api.broadcast(b->from, c->n, type, 0, h->comm, h->stream);
    case COLL_ALL_TO_ALL:
        return all_to_all(h, c, type, b);
    default: /* there and back */
        for (int turn = 0; turn < 2 && h->rank < 2 && code == 0; turn++)
            code = turn == h->rank ? h->api.send(b->from, c->n, type, other, h->comm, h->stream)
                                   : h->api.receive(b->into, c->n, type, other, h->comm, h->stream);
        return code;
    }
}

static const char *hccl_run(void *state, const struct coll_call *call, const struct coll_buffers *b,
                            double *seconds)
{
    struct hccl *h = state;
    float ms = 0;
    int code = h->api.record(h->begin, h->stream);

    if (code == 0)
        code = make_call(h, call, b);
    if (code == 0)
        code = h->api.record(h->end, h->stream);
    if (code == 0)
        code = h->api.sync(h->stream);
    if (code == 0)
        code = h->api.elapsed(&ms, h->begin, h->end);
    *seconds = (double)ms / 1e3;
    return code == 0 ? NULL : failed(h, "HCCL", code);
}

const struct device_links device_links_hccl = {
    .name = "hccl",
    .open = hccl_open,
    .close = hccl_close,
    .memory = hccl_memory,
    .id = hccl_id,
    .join = hccl_join,
    .leave = hccl_leave,
    .buffer = hccl_buffer,
    .buffer_free = hccl_buffer_free,
    .run = hccl_run,
};
