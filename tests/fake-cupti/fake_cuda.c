/*
 * libcuda.so.1, a stand-in: loads the injection libraries as the driver and NVTX do, and keeps a
 * clock for each stream.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake.h"
#include "gpu/inject/cupti_abi.h"

enum { STREAMS = 64, EVENTS = 4096, NS_PER_BLOCK = 1000 };

static struct fake_hook hook;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t busy_until[STREAMS], event_times[EVENTS];
static unsigned n_events;
static uint32_t correlations;
static int is_cold[STREAMS];
static int is_capturing, is_nvtx_loaded;

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int load(const char *variable, const char *entry, void *argument)
{
    const char *path = getenv(variable);
    void *library = path != NULL ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*start)(void *) = NULL;

    if (library != NULL)
        *(void **)&start = dlsym(library, entry);
    return start != NULL ? start(argument) : 0;
}

void fake_attach(const struct fake_hook *h)
{
    hook = *h;
}

int cuInit(unsigned flags)
{
    static int is_done;

    (void)flags;
    if (!is_done)
        load("CUDA_INJECTION64_PATH", "InitializeInjection", NULL);
    is_done = 1;
    return 0;
}

void fake_capture(int is_on)
{
    is_capturing = is_on;
}

/* ---- NVTX ---- */

static void mark(uint32_t id, const void *params)
{
    if (!is_nvtx_loaded)
        is_nvtx_loaded = load("NVTX_INJECTION64_PATH", "InitializeInjectionNvtx2", NULL) ? 1 : -1;
    if (is_nvtx_loaded > 0 && hook.nvtx != NULL)
        hook.nvtx(id, params);
}

void fake_push(const char *name)
{
    struct nvtx_push_a params = {name};

    mark(NVTX_PUSH_A, &params);
}

void fake_pop(void)
{
    mark(NVTX_POP, NULL);
}

/* ---- work ---- */

static void run_kernel(struct fake_kernel *k)
{
    pthread_mutex_lock(&lock);
    k->start = now();
    if (k->start < busy_until[k->stream])
        k->start = busy_until[k->stream];
    uint64_t takes = (uint64_t)k->grid[0] * NS_PER_BLOCK * (is_cold[k->stream] ? 2 : 1);
    is_cold[k->stream] = 0;
    k->end = busy_until[k->stream] = k->start + takes;
    pthread_mutex_unlock(&lock);
    if (hook.kernel != NULL)
        hook.kernel(k);
}

static uint32_t begin_call(uint32_t id, const char *symbol, const void *params, uint64_t *start)
{
    uint32_t correlation;

    pthread_mutex_lock(&lock);
    correlation = ++correlations;
    pthread_mutex_unlock(&lock);
    *start = now();
    if (hook.call != NULL)
        hook.call(id, 0, symbol, params, correlation, *start);
    return correlation;
}

static void end_call(uint32_t id, const char *symbol, const void *params, uint32_t correlation,
                     uint64_t start)
{
    if (hook.call != NULL)
        hook.call(id, 1, symbol, params, correlation, start);
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                   void *stream, void **params, void **extra)
{
    struct cuda_launch launch = {.function = function,
                                 .grid = {grid_x, grid_y, grid_z},
                                 .block = {block_x, block_y, block_z},
                                 .shared = shared,
                                 .stream = stream};
    struct fake_kernel k = {.name = function,
                            .grid = {grid_x, grid_y, grid_z},
                            .block = {block_x, block_y, block_z},
                            .shared = shared,
                            .stream = (uint32_t)(uintptr_t)stream % STREAMS};
    uint64_t start;

    (void)params;
    (void)extra;
    k.correlation = begin_call(DRIVER_LAUNCH, function, &launch, &start);
    if (!is_capturing)
        run_kernel(&k);
    end_call(DRIVER_LAUNCH, function, &launch, k.correlation, start);
    return 0;
}

enum { GRAPHS = 256 };
static unsigned char is_off[GRAPHS][GRAPHS]; /* nodes of graphs */

int cuGraphLaunch(void *nodes, void *stream)
{
    struct cuda_graph_launch launch = {nodes, stream};
    struct fake_kernel k = {.name = "in_graph", .grid = {2, 1, 1}, .block = {32, 1, 1}};
    uint64_t start, first = 0;

    k.correlation = begin_call(DRIVER_GRAPH_LAUNCH, NULL, &launch, &start);
    k.stream = (uint32_t)(uintptr_t)stream % STREAMS;
    for (uintptr_t i = 0; i < (uintptr_t)nodes; i++) {
        if ((uintptr_t)nodes < GRAPHS && is_off[(uintptr_t)nodes][i])
            continue;
        k.graph_node = i + 1;
        k.grid[0] = (uint32_t)(i + 1);
        run_kernel(&k);
        first = first != 0 ? first : k.start;
    }
    if (hook.graph != NULL)
        hook.graph(k.correlation, first, k.end);
    end_call(DRIVER_GRAPH_LAUNCH, NULL, &launch, k.correlation, start);
    return 0;
}

/* The handle of a graph is the number of its nodes, which are numbered from 1. */
int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags)
{
    struct cuda_graph_made made = {exec, graph};
    uint64_t start;
    uint32_t correlation = begin_call(DRIVER_GRAPH_READY_FLAGS, NULL, &made, &start);

    (void)flags;
    *exec = graph;
    end_call(DRIVER_GRAPH_READY_FLAGS, NULL, &made, correlation, start);
    return 0;
}

int cuGraphExecDestroy(void *exec)
{
    struct cuda_graph_made made = {exec, NULL};
    uint64_t start;
    uint32_t correlation = begin_call(DRIVER_GRAPH_ENDS, NULL, &made, &start);

    end_call(DRIVER_GRAPH_ENDS, NULL, &made, correlation, start);
    return 0;
}

int cuGraphGetNodes(void *graph, void **nodes, size_t *n)
{
    *n = (uintptr_t)graph;
    for (size_t i = 0; i < *n && nodes != NULL; i++)
        nodes[i] = (void *)(i + 1);
    return 0;
}

/* A chain. */
int cuGraphGetEdges(void *graph, void **from, void **to, size_t *n)
{
    *n = (uintptr_t)graph - 1;
    for (size_t i = 0; i < *n && from != NULL; i++) {
        from[i] = (void *)(i + 1);
        to[i] = (void *)(i + 2);
    }
    return 0;
}

int cuGraphNodeSetEnabled(void *exec, void *node, unsigned is_enabled)
{
    uintptr_t graph = (uintptr_t)exec, at = (uintptr_t)node - 1;

    if (graph >= GRAPHS || at >= graph || getenv("FAKE_NODES_STAY_ON") != NULL)
        return 1;
    is_off[graph][at] = !is_enabled;
    return 0;
}

int cuGraphDestroy(void *graph)
{
    struct cuda_graph_made made = {graph, NULL};
    uint64_t start;
    uint32_t correlation = begin_call(DRIVER_GRAPH_SOURCE_ENDS, NULL, &made, &start);

    end_call(DRIVER_GRAPH_SOURCE_ENDS, NULL, &made, correlation, start);
    return 0;
}

int cuGraphNodeGetType(void *node, uint32_t *type)
{
    (void)node;
    *type = NODE_KERNEL;
    return 0;
}

int cuGraphChildGraphNodeGetGraph(void *node, void **graph)
{
    (void)node;
    (void)graph;
    return 1;
}

int cuGraphKernelNodeGetParams_v2(void *node, struct cuda_graph_kernel *params)
{
    static char names[][10] = {"even_node", "odd_node"};

    *params = (struct cuda_graph_kernel){.function = names[(uintptr_t)node % 2],
                                         .grid = {(uint32_t)(uintptr_t)node, 1, 1},
                                         .block = {32, 1, 1}};
    return 0;
}

int cuFuncGetName(const char **name, void *function)
{
    *name = function;
    return 0;
}

int cuMemcpyAsync(uint64_t bytes)
{
    enum { CALL_MEMCPY = 276 };
    uint64_t start;
    uint32_t correlation = begin_call(CALL_MEMCPY, NULL, NULL, &start);

    if (hook.copy != NULL)
        hook.copy(bytes, correlation, start, start + bytes);
    end_call(CALL_MEMCPY, NULL, NULL, correlation, start);
    return 0;
}

int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    *address = 4096;
    return bytes > 0 && getenv("FAKE_CUDA_NO_MEMORY") == NULL ? 0 : 2;
}

int cuMemsetD8Async(uint64_t address, unsigned char value, size_t bytes, void *stream)
{
    (void)value;
    pthread_mutex_lock(&lock);
    is_cold[(uintptr_t)stream % STREAMS] = address != 0 && bytes >= 1 << 20;
    pthread_mutex_unlock(&lock);
    return 0;
}

/* The bytes are there during the call only, as with the real driver. */
void fake_module(const char *path)
{
    FILE *f = fopen(path, "rb");
    long n = 0;

    if (f == NULL || fseek(f, 0, SEEK_END) != 0 || (n = ftell(f)) <= 0)
        exit(98);
    char *bytes = malloc((size_t)n);
    rewind(f);
    if (bytes == NULL || fread(bytes, 1, (size_t)n, f) != (size_t)n)
        exit(98);
    fclose(f);
    if (hook.module != NULL)
        hook.module(bytes, (uint64_t)n);
    memset(bytes, 0xee, (size_t)n);
    free(bytes);
}

int cuCtxDestroy(void *context)
{
    (void)context;
    if (hook.context_ends != NULL)
        hook.context_ends();
    return 0;
}

int cuCtxSynchronize(void)
{
    return 0;
}

int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return 0;
}

/* ---- events ---- */

int cuEventCreate(void **event, unsigned flags)
{
    (void)flags;
    if (n_events == EVENTS)
        return 2;
    *event = &event_times[n_events++];
    return 0;
}

int cuEventRecord(void *event, void *stream)
{
    pthread_mutex_lock(&lock);
    uint64_t at = now(), busy = busy_until[(uintptr_t)stream % STREAMS];
    *(uint64_t *)event = at > busy ? at : busy;
    pthread_mutex_unlock(&lock);
    return 0;
}

int cuEventQuery(void *event)
{
    return *(uint64_t *)event == 0;
}

int cuEventSynchronize(void *event)
{
    (void)event;
    return 0;
}

int cuEventElapsedTime(float *ms, void *begin, void *end)
{
    *ms = (float)((double)(*(uint64_t *)end - *(uint64_t *)begin) / 1e6);
    return 0;
}

int cuStreamIsCapturing(void *stream, int *status)
{
    (void)stream;
    *status = is_capturing;
    return 0;
}
