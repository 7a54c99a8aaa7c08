/*
 * cupti - libcupti and libcuda, found while the program runs and called through tables.
 *
 * Nothing is linked. A process must not have two copies of libcupti, so one that is mapped already
 * (frameworks bring their own) is used before any other; then STRATA_CUPTI_PATH, the loader's own
 * path and the usual folders of an installed toolkit.
 */
#ifndef STRATA_GPU_INJECT_CUPTI_H
#define STRATA_GPU_INJECT_CUPTI_H

#include <stdbool.h>

#include "base/str.h"

#include "gpu/inject/cupti_abi.h"

typedef void cupti_request(uint8_t **buffer, size_t *bytes, size_t *most_records);
typedef void cupti_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                            size_t valid);

struct cupti {
    void *handle;
    uint32_t version;
#define NEED(name, args) int(*name) args;
#define WANT(name, args) int(*name) args;
#define COUNT            WANT
#include "gpu/inject/cupti_calls.def"
#undef NEED
#undef WANT
};

/* Functions of the driver; those that are missing are NULL. */
struct cuda {
    int (*ctx_synchronize)(void);
    int (*event_create)(void **event, unsigned flags);
    int (*event_elapsed)(float *ms, void *begin, void *end);
    int (*event_query)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*event_synchronize)(void *event);
    int (*stream_is_capturing)(void *stream, int *status);
    int (*driver_version)(int *version);
    int (*mem_alloc)(uint64_t *address, size_t bytes);
    int (*mem_range)(uint64_t *base, size_t *bytes, uint64_t address);
    int (*func_param)(void *function, size_t at, size_t *offset, size_t *bytes);
    int (*kernel_param)(void *kernel, size_t at, size_t *offset, size_t *bytes);
    int (*graph_nodes)(void *graph, void **nodes, size_t *n);
    int (*graph_node_type)(void *node, uint32_t *type);
    int (*graph_kernel)(void *node, struct cuda_graph_kernel *params);
    int (*graph_child)(void *node, void **graph);
    int (*graph_edges)(void *graph, void **from, void **to, size_t *n);
    int (*graph_enable)(void *exec, void *node, unsigned is_enabled);
    int (*graph_launch)(void *exec, void *stream);
    int (*func_name)(const char **name, void *function);
    int (*kernel_name)(const char **name, void *kernel);
    int (*mem_fill)(uint64_t address, unsigned char value, size_t bytes, void *stream);
};

/* True when libcupti is there with all it needs; else `missing` (of `size` bytes) says what is. */
bool cupti_open(struct cupti *c, char *missing, size_t size);

/* The driver that loaded us. */
bool cuda_open(struct cuda *c);

/* A word for a result of CUPTI: the code of a note in gpu/inject/inject.h. */
const char *cupti_result_code(int result);

#endif
