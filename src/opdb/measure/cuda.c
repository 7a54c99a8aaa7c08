/*
 * Operators on a GPU of NVIDIA: memory, steps, timing by events. See cuda_inside.h.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "opdb/measure/cuda_inside.h"

enum { WORKSPACE = 64 << 20 };

static const char *call_failed(struct cuda_state *c, const char *what, int code)
{
    const char *name = NULL;

    c->api.error_name(code, &name);
    return cuda_fail(c, "%s: %s", what, name != NULL ? name : "unknown error");
}

const char *cuda_memory(struct cuda_state *c, int64_t bytes, const void *from, cuda_pointer *out)
{
    int code = c->api.mem_alloc(out, (size_t)(bytes > 0 ? bytes : 1) + 256);

    if (code != 0)
        return call_failed(c, "no memory on the device", code);
    vec_push(&c->blocks, *out);
    if (from != NULL && bytes > 0)
        code = c->api.to_device(*out, from, (size_t)bytes);
    return code == 0 ? NULL : call_failed(c, "copy to the device", code);
}

void cuda_put(struct cuda_step *s, const void *value, size_t size, size_t align)
{
    s->n = (s->n + align - 1) / align * align;
    memcpy(s->parameters + s->n, value, size);
    s->n += size;
}

void cuda_put_maps(struct cuda_step *s, const struct cuda_tile_map *maps, size_t n)
{
    memcpy(s->parameters + s->n, maps, n * sizeof(*maps));
    s->maps = n;
}

void cuda_put_pointer(struct cuda_step *s, cuda_pointer p)
{
    cuda_put(s, &p, sizeof(p), sizeof(p));
}

void cuda_put_i64(struct cuda_step *s, int64_t v)
{
    cuda_put(s, &v, sizeof(v), sizeof(v));
}

void cuda_put_i32(struct cuda_step *s, int32_t v)
{
    cuda_put(s, &v, sizeof(v), sizeof(v));
}

void cuda_put_f32(struct cuda_step *s, double v)
{
    float f = (float)v;

    cuda_put(s, &f, sizeof(f), sizeof(f));
}

struct cuda_step *cuda_launch(struct cuda_state *c, void *function, int64_t grid, unsigned block,
                              unsigned shared)
{
    enum { SHARED_PLAIN = 48 << 10, ATTRIBUTE_SHARED = 8 };
    struct cuda_step step = {.kind = STEP_KERNEL,
                             .function = function,
                             .grid = {(unsigned)(grid > 0 ? grid : 1), 1, 1},
                             .block = block,
                             .shared = shared};

    if (shared > SHARED_PLAIN)
        c->api.function_set(function, ATTRIBUTE_SHARED, (int)shared);
    vec_push(&c->steps, step);
    return &c->steps.at[c->steps.n - 1];
}

static const char *launch_kernel(struct cuda_state *c, struct cuda_step *s)
{
    enum { MAPS_MOST = 3 };
    size_t n = s->n;
    void *extra[] = {(void *)1, s->parameters, (void *)2, &n, NULL};
    void *each[1 + MAPS_MOST] = {s->parameters};
    for (size_t i = 0; i < s->maps && i < MAPS_MOST; i++)
        each[1 + i] = s->parameters + s->n + i * sizeof(struct cuda_tile_map);
    int code =
        c->api.launch(s->function, s->grid[0], s->grid[1], s->grid[2], s->block, 1, 1, s->shared,
                      c->stream, s->maps > 0 ? each : NULL, s->maps > 0 ? NULL : extra);

    return code == 0 ? NULL : call_failed(c, "launch", code);
}

static const char *launch_product(struct cuda_state *c, struct cuda_step *s)
{
    float one = 1, zero = 0;
    int32_t i_one = 1, i_zero = 0;
    const struct cuda_product *p = &s->product;
    const void *alpha = p->is_integer ? (const void *)&i_one : &one;
    const void *beta = p->is_integer ? (const void *)&i_zero : &zero;
    /* Columns first: the second operand of ours is the first of theirs. */
    int code =
        c->api.lt_matmul(c->lt, p->description, alpha, (const void *)s->b, p->b, (const void *)s->a,
                         p->a, beta, (const void *)s->d, p->d, (void *)s->d, p->d, p->algorithm,
                         (void *)c->workspace, WORKSPACE, c->stream);

    return code == 0 ? NULL : cuda_fail(c, "cuBLASLt: status %d", code);
}

const char *cuda_run(struct cuda_state *c)
{
    const char *problem = NULL;

    if (c->graph != NULL) {
        int code = c->api.graph_launch(c->graph, c->stream);
        return code == 0 ? NULL : call_failed(c, "graph", code);
    }
    for (size_t i = 0; i < c->steps.n && problem == NULL; i++) {
        struct cuda_step *s = &c->steps.at[i];
        if (s->kind == STEP_KERNEL)
            problem = launch_kernel(c, s);
        else if (s->kind == STEP_PRODUCT)
            problem = launch_product(c, s);
        else if (c->api.copy(s->d, s->a, s->n, c->stream) != 0)
            problem = "copy failed";
    }
    return problem;
}

const char *cuda_wait(struct cuda_state *c)
{
    int code = c->api.stream_sync(c->stream);

    return code == 0 ? NULL : call_failed(c, "the device", code);
}

static void drop_graph(struct cuda_state *c)
{
    if (c->graph != NULL)
        c->api.graph_exec_destroy(c->graph);
    c->graph = NULL;
}

/* The call, some times, as a graph: the time between kernels is the device's and not ours. A
 * library that cannot be captured is run step by step. */
static void make_graph(struct cuda_state *c, size_t copies)
{
    enum { CAPTURE_RELAXED = 2 };
    void *graph = NULL;
    const char *problem = NULL;

    drop_graph(c);
    c->copies = 1;
    if (c->api.capture_begin(c->stream, CAPTURE_RELAXED) != 0)
        return;
    for (size_t i = 0; i < copies && problem == NULL; i++)
        problem = cuda_run(c);
    int code = c->api.capture_end(c->stream, &graph);
    if (problem == NULL && code == 0 && c->api.graph_make(&c->graph, graph, 0) != 0)
        c->graph = NULL;
    if (graph != NULL)
        c->api.graph_destroy(graph);
    c->copies = c->graph != NULL ? copies : 1;
}

/* The numbers are those of CUdevice_attribute. */
static const char *open_device(struct cuda_state *c)
{
    enum { PROCESSORS = 16, MAJOR = 75, MINOR = 76 };
    int device = 0, major = 0, minor = 0;
    int code = c->api.init(0);

    if (code == 0)
        code = c->api.device_get(&device, 0);
    if (code == 0)
        code = c->api.context_retain(&c->context, device);
    if (code == 0)
        code = c->api.context_set(c->context);
    if (code != 0)
        return call_failed(c, "no GPU", code);
    c->api.device_name(c->name, sizeof(c->name), device);
    if (c->api.device_bus == NULL || c->api.device_bus(c->bus, sizeof(c->bus), device) != 0)
        c->bus[0] = 0;
    c->api.device_attribute(&major, MAJOR, device);
    c->api.device_attribute(&minor, MINOR, device);
    c->api.device_attribute(&c->processors, PROCESSORS, device);
    c->cc = major * 10 + minor;
    if (c->api.stream_create(&c->stream, 1) != 0 || c->api.event_create(&c->begin, 0) != 0 ||
        c->api.event_create(&c->end, 0) != 0 || c->api.lt_create(&c->lt) != 0 ||
        c->api.mem_alloc(&c->workspace, WORKSPACE) != 0)
        return cuda_fail(c, "the GPU has no room for a stream");
    return NULL;
}

static const char *cuda_open(void **out, const struct backend_libraries *libraries)
{
    static char text[256];
    struct cuda_state *c = calloc(1, sizeof(*c));

    if (c == NULL)
        return "no memory";
    if (libraries->cache != NULL)
        snprintf(c->cache, sizeof(c->cache), "%s", libraries->cache);
    const char *problem = cuda_api_open(&c->api, libraries);
    if (problem == NULL)
        problem = open_device(c);
    if (problem == NULL) {
        *out = c;
        return NULL;
    }
    snprintf(text, sizeof(text), "%s", problem);
    free(c);
    return text;
}

static void cuda_close(void *state)
{
    struct cuda_state *c = state;

    vec_free(&c->modules);
    free(c); /* the context goes with the process */
}

static void cuda_unload(void *state)
{
    struct cuda_state *c = state;

    c->api.stream_sync(c->stream);
    drop_graph(c);
    c->copies = 0;
    for (size_t i = 0; i < c->steps.n; i++)
        if (c->steps.at[i].kind == STEP_PRODUCT)
            cuda_product_free(c, &c->steps.at[i].product);
    for (size_t i = 0; i < c->blocks.n; i++)
        c->api.mem_free(c->blocks.at[i]);
    vec_free(&c->steps);
    vec_free(&c->blocks);
}

static const char *cuda_load(void *state, const struct op_call *call)
{
    struct cuda_state *c = state;
    const char *problem = NULL;

    c->call = call;
    for (size_t i = 0; i < call->n_in && problem == NULL; i++)
        if (call->in[i].alias > 0)
            c->in[i] = c->in[call->in[i].alias - 1];
        else
            problem = cuda_memory(c, tensor_bytes(&call->in[i].t), call->in[i].t.data, &c->in[i]);
    for (size_t i = 0; i < call->n_out && problem == NULL; i++)
        problem = cuda_memory(c, tensor_bytes(&call->out[i].t), call->out[i].t.data, &c->out[i]);
    if (problem == NULL)
        problem = cuda_build(c);
    if (problem == NULL)
        problem = cuda_run(c); /* what was compiled is loaded, and errors show */
    if (problem == NULL)
        problem = cuda_wait(c);
    if (problem != NULL)
        cuda_unload(c);
    return problem;
}

/* All runs are given to the device at once, with an event between them: it never waits for us. */
static const char *time_runs(struct cuda_state *c, size_t n, double *us)
{
    enum { AT_ONCE = 64 };
    void *events[AT_ONCE + 1] = {0};
    const char *problem = NULL;

    for (size_t done = 0; done < n && problem == NULL; done += AT_ONCE) {
        size_t part = n - done < AT_ONCE ? n - done : AT_ONCE;
        for (size_t i = 0; i <= part && problem == NULL; i++) {
            if ((events[i] == NULL && c->api.event_create(&events[i], 0) != 0) ||
                c->api.event_record(events[i], c->stream) != 0)
                problem = "no event";
            else if (i < part)
                problem = cuda_run(c);
        }
        if (problem == NULL)
            problem = cuda_wait(c);
        for (size_t i = 0; i < part && problem == NULL; i++) {
            float ms = 0;
            if (c->api.event_elapsed(&ms, events[i], events[i + 1]) != 0)
                problem = "no time between events";
            us[done + i] = (double)ms * 1e3;
        }
    }
    for (size_t i = 0; i <= AT_ONCE && events[i] != NULL; i++)
        c->api.event_destroy(events[i]);
    return problem;
}

/* An event takes a microsecond or two of the device: short calls are run some times between two
 * of them, in a graph, as servers run their steps. */
static const char *choose_graph(struct cuda_state *c)
{
    enum { TRIES = 3, STEPS_FEW = 2, LONG_US = 200, COPIES_MOST = 10 };
    double us[TRIES], least = INFINITY;
    const char *problem = time_runs(c, TRIES, us);

    for (size_t i = 0; i < TRIES && problem == NULL; i++)
        least = fmin(least, us[i]);
    c->copies = 1;
    if (problem != NULL)
        return problem;
    double copies = fmin(fmax(LONG_US / fmax(least, 1), 1), COPIES_MOST);
    if (copies >= 2 || c->steps.n > STEPS_FEW)
        make_graph(c, (size_t)copies);
    return NULL;
}

static const char *cuda_time(void *state, size_t n, double *us)
{
    struct cuda_state *c = state;
    const char *problem = c->copies == 0 ? choose_graph(c) : NULL;

    if (problem == NULL)
        problem = time_runs(c, n, us);
    for (size_t i = 0; i < n && problem == NULL; i++)
        us[i] /= (double)c->copies;
    return problem;
}

static const char *cuda_fetch(void *state, const struct op_call *into)
{
    struct cuda_state *c = state;

    for (size_t i = 0; i < into->n_out; i++) {
        int code =
            c->api.to_host(into->out[i].t.data, c->out[i], (size_t)tensor_bytes(&into->out[i].t));
        if (code != 0)
            return call_failed(c, "copy to the host", code);
    }
    return NULL;
}

/* The shortest of some runs of the steps that are there, in microseconds; 0: failed. */
static double shortest(struct cuda_state *c)
{
    enum { TIMES = 20 };
    double us[TIMES], best = INFINITY;

    if (cuda_time(c, 3, us) != NULL || cuda_time(c, TIMES, us) != NULL)
        return 0;
    for (size_t i = 0; i < TIMES; i++)
        best = fmin(best, us[i]);
    return best;
}

static double copy_rate(struct cuda_state *c)
{
    const int64_t bytes = INT64_C(512) << 20;
    struct cuda_step step = {.kind = STEP_COPY, .n = (size_t)bytes};
    double us = 0;

    if (cuda_memory(c, bytes, NULL, &step.a) == NULL &&
        cuda_memory(c, bytes, NULL, &step.d) == NULL) {
        vec_push(&c->steps, step);
        us = shortest(c);
    }
    cuda_unload(c);
    return us > 0 ? 2 * (double)bytes / us / 1e3 : 0;
}

/* A product of this size in bf16 with numbers as operators get them: zeros would run faster. */
static double matrix_rate(struct cuda_state *c)
{
    enum { SIZE = 8192, PART = 1 << 20 };
    struct tensor t = {DTYPE_BF16, 2, {SIZE, SIZE}, NULL};
    struct cuda_matmul m = {.type = DTYPE_BF16,
                            .out = DTYPE_BF16,
                            .batch = 1,
                            .m = SIZE,
                            .n = SIZE,
                            .k = SIZE,
                            .lda = SIZE,
                            .ldb = SIZE,
                            .ldd = SIZE,
                            .is_b_transposed = true};
    double us = 0;

    t.data = malloc((size_t)tensor_bytes(&t));
    if (t.data == NULL)
        return 0;
    tensor_fill(&t, 1, 0, 0, PART);
    for (int64_t i = PART; i < tensor_count(&t); i += PART)
        memcpy((uint16_t *)t.data + i, t.data, PART * sizeof(uint16_t));
    if (cuda_memory(c, tensor_bytes(&t), t.data, &m.a) == NULL &&
        cuda_memory(c, tensor_bytes(&t), t.data, &m.b) == NULL &&
        cuda_memory(c, tensor_bytes(&t), NULL, &m.d) == NULL && cuda_matmul(c, &m) == NULL)
        us = shortest(c);
    cuda_unload(c);
    free(t.data);
    return us > 0 ? 2.0 * SIZE * SIZE * SIZE / us / 1e6 : 0;
}

static const char *cuda_facts(void *state, struct backend_facts *out)
{
    struct cuda_state *c = state;
    size_t left = 0, all = 0;
    bool is_short = out->copy_gbps < 0;

    snprintf(out->device, sizeof(out->device), "%s", c->name);
    snprintf(out->bus, sizeof(out->bus), "%s", c->bus);
    c->api.mem_info(&left, &all);
    out->memory = (int64_t)left / 10 * 9;
    out->copy_gbps = is_short ? 0 : copy_rate(c);
    out->matrix_tflops = is_short ? 0 : matrix_rate(c);
    return NULL;
}

const struct backend_entry backend_cuda = {
    .name = "cuda",
    .open = cuda_open,
    .close = cuda_close,
    .facts = cuda_facts,
    .load = cuda_load,
    .time = cuda_time,
    .fetch = cuda_fetch,
    .unload = cuda_unload,
};
