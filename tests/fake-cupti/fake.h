/*
 * fake - how the stand-in for the CUDA driver tells the stand-in for CUPTI what happens.
 *
 * The driver runs nothing: a function's handle is its name, a kernel takes 1 µs for each block of
 * the grid's first dimension (twice that behind a write of 1 MiB or more, which leaves the caches
 * cold), and streams are small numbers. CUPTI attaches itself when it is
 * loaded.
 */
#ifndef STRATA_TESTS_FAKE_CUPTI_FAKE_H
#define STRATA_TESTS_FAKE_CUPTI_FAKE_H

#include <stddef.h>
#include <stdint.h>

#define FAKE_PUBLIC __attribute__((visibility("default")))

struct fake_kernel {
    const char *name;
    uint32_t grid[3], block[3], shared, stream, correlation;
    uint64_t start, end;
    uint64_t graph_node; /* 0: launched by itself */
};

struct fake_hook {
    /* A driver call, before (site 0) and after (1) it does its work. */
    void (*call)(uint32_t id, unsigned site, const char *symbol, const void *params,
                 uint32_t correlation, uint64_t start);
    void (*kernel)(const struct fake_kernel *k);
    void (*copy)(uint64_t bytes, uint32_t correlation, uint64_t start, uint64_t end);
    void (*graph)(uint32_t correlation, uint64_t start, uint64_t end);
    void (*nvtx)(uint32_t id, const void *params);
    void (*context_ends)(void);
    void (*module)(const void *cubin, uint64_t bytes);
};

/* Exported by the driver. */
FAKE_PUBLIC void fake_attach(const struct fake_hook *hook);
FAKE_PUBLIC void fake_capture(int is_on);
FAKE_PUBLIC void fake_push(const char *name);
FAKE_PUBLIC void fake_pop(void);
FAKE_PUBLIC void fake_module(const char *path);
FAKE_PUBLIC int cuInit(unsigned flags);
FAKE_PUBLIC int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                               unsigned block_x, unsigned block_y, unsigned block_z,
                               unsigned shared, void *stream, void **params, void **extra);
FAKE_PUBLIC int cuMemcpyAsync(uint64_t bytes);
struct cuda_graph_kernel;
FAKE_PUBLIC int cuGraphLaunch(void *nodes, void *stream);
FAKE_PUBLIC int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags);
FAKE_PUBLIC int cuGraphExecDestroy(void *exec);
FAKE_PUBLIC int cuGraphGetNodes(void *graph, void **nodes, size_t *n);
FAKE_PUBLIC int cuGraphGetEdges(void *graph, void **from, void **to, size_t *n);
FAKE_PUBLIC int cuGraphNodeSetEnabled(void *exec, void *node, unsigned is_enabled);
FAKE_PUBLIC int cuGraphDestroy(void *graph);
FAKE_PUBLIC int cuGraphNodeGetType(void *node, uint32_t *type);
FAKE_PUBLIC int cuGraphChildGraphNodeGetGraph(void *node, void **graph);
FAKE_PUBLIC int cuGraphKernelNodeGetParams_v2(void *node, struct cuda_graph_kernel *params);
FAKE_PUBLIC int cuFuncGetName(const char **name, void *function);
FAKE_PUBLIC int cuCtxDestroy(void *context);
FAKE_PUBLIC int cuCtxSynchronize(void);
FAKE_PUBLIC int cuDriverGetVersion(int *version);
FAKE_PUBLIC int cuEventCreate(void **event, unsigned flags);
FAKE_PUBLIC int cuEventElapsedTime(float *ms, void *begin, void *end);
FAKE_PUBLIC int cuEventQuery(void *event);
FAKE_PUBLIC int cuEventRecord(void *event, void *stream);
FAKE_PUBLIC int cuEventSynchronize(void *event);
FAKE_PUBLIC int cuMemAlloc_v2(uint64_t *address, size_t bytes);
FAKE_PUBLIC int cuMemsetD8Async(uint64_t address, unsigned char value, size_t bytes, void *stream);
FAKE_PUBLIC int cuStreamIsCapturing(void *stream, int *status);

#endif
