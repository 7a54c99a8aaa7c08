/*
 * Operators on an NPU: memory, tensors, calls in two phases, timing by events. See
 * ascend_inside.h.
 */
#include "opdb/measure/ascend_inside.h"

#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { COPY_IN = 1, COPY_OUT = 2, FORMAT_ND = 2, FORMAT_NZ = 29, MEMORY_HBM = 1 };

const char *ascend_fail(struct ascend *a, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(a->problem, sizeof(a->problem), format, args);
    va_end(args);
    return a->problem;
}

enum ascend_type ascend_type(enum dtype type)
{
    static const struct {
        enum dtype type;
        enum ascend_type code;
    } types[] = {
        {DTYPE_F32, ACL_F32}, {DTYPE_F16, ACL_F16},   {DTYPE_BF16, ACL_BF16}, {DTYPE_F64, ACL_F64},
        {DTYPE_I8, ACL_I8},   {DTYPE_U8, ACL_U8},     {DTYPE_I16, ACL_I16},   {DTYPE_I32, ACL_I32},
        {DTYPE_I64, ACL_I64}, {DTYPE_BOOL, ACL_BOOL},
    };

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (types[i].type == type)
            return types[i].code;
    return ACL_NO_TYPE;
}

/* ---- what a call owns ---- */

static void *own(struct ascend *a, enum ascend_kind kind, void *at)
{
    if (at != NULL)
        vec_push(&a->owned, ((struct ascend_owned){kind, at}));
    else if (a->problem[0] == 0)
        ascend_fail(a, "the runtime gave no %s",
                    kind == ASCEND_MEMORY ? "memory on the device" : "operand");
    return at;
}

static void *device_memory(struct ascend *a, const void *from, int64_t bytes)
{
    size_t n = (size_t)bytes + 32; /* kernels read whole blocks of 32 bytes */
    void *at = NULL;

    if (a->api.memory(&at, n, 0) != 0 || own(a, ASCEND_MEMORY, at) == NULL)
        return NULL;
    if (from != NULL && bytes > 0 && a->api.copy(at, n, from, (size_t)bytes, COPY_IN) != 0) {
        ascend_fail(a, "copy to the device failed");
        return NULL;
    }
    return at;
}

/* How far apart neighbours of each dimension are. */
static void strides_of(const int64_t *dim, size_t rank, int64_t *out)
{
    int64_t step = 1;

    for (size_t i = rank; i-- > 0; step *= dim[i])
        out[i] = step;
}

void *ascend_tensor(struct ascend *a, const struct tensor *t, void **memory)
{
    if (ascend_type(t->dtype) == ACL_NO_TYPE) {
        ascend_fail(a, "%s is not run on ascend", dtype_name(t->dtype));
        return NULL;
    }
    void *at = device_memory(a, t->data, tensor_bytes(t));
    if (memory != NULL)
        *memory = at;
    if (at == NULL)
        return NULL;
    int64_t step[TENSOR_RANK];
    strides_of(t->dim, t->rank, step);
    return own(a, ASCEND_TENSOR,
               a->api.tensor(t->dim, t->rank, ascend_type(t->dtype), step, 0, FORMAT_ND, t->dim,
                             t->rank, at));
}

void *ascend_turned(struct ascend *a, const struct tensor *t)
{
    int64_t dim[TENSOR_RANK], step[TENSOR_RANK];
    size_t last = t->rank - 1;
    void *at = device_memory(a, t->data, tensor_bytes(t));

    if (at == NULL)
        return NULL;
    memcpy(dim, t->dim, sizeof(dim));
    strides_of(t->dim, t->rank, step);
    dim[last - 1] = t->dim[last];
    dim[last] = t->dim[last - 1];
    step[last] = step[last - 1];
    step[last - 1] = 1;
    return own(a, ASCEND_TENSOR,
               a->api.tensor(dim, t->rank, ascend_type(t->dtype), step, 0, FORMAT_ND, t->dim,
                             t->rank, at));
}

/* Element (r,c) of a matrix goes to [c / wide][r / 16][r % 16][c % wide]. */
static void block_matrix(const char *from, char *to, int64_t rows, int64_t columns, int64_t wide,
                         size_t size)
{
    enum { TALL = 16 };

    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c += wide) {
            int64_t at = ((c / wide * (rows / TALL) + r / TALL) * TALL + r % TALL) * wide;
            memcpy(to + (size_t)at * size, from + (size_t)(r * columns + c) * size,
                   (size_t)wide * size);
        }
}

void *ascend_nz(struct ascend *a, const struct tensor *t)
{
    size_t size = tensor_element(t->dtype), rank = t->rank;
    int64_t rows = t->dim[rank - 2], columns = t->dim[rank - 1], wide = 32 / (int64_t)size;
    int64_t stored[TENSOR_RANK], step[TENSOR_RANK], bytes = tensor_bytes(t);
    int64_t each = rows * columns * (int64_t)size;

    if (rank + 2 > TENSOR_RANK || rows % 16 != 0 || columns % wide != 0) {
        ascend_fail(a, "a matrix of %lld by %lld has no blocked layout", (long long)rows,
                    (long long)columns);
        return NULL;
    }
    char *blocked = malloc((size_t)bytes + 1);
    for (int64_t done = 0; blocked != NULL && done < bytes; done += each)
        block_matrix((const char *)t->data + done, blocked + done, rows, columns, wide, size);
    void *at = device_memory(a, blocked, bytes);
    free(blocked);
    if (at == NULL)
        return NULL;
    memcpy(stored, t->dim, sizeof(stored));
    memcpy(stored + rank - 2, (const int64_t[]){columns / wide, rows / 16, 16, wide},
           4 * sizeof(int64_t));
    strides_of(t->dim, rank, step);
    return own(a, ASCEND_TENSOR,
               a->api.tensor(t->dim, rank, ascend_type(t->dtype), step, 0, FORMAT_NZ, stored,
                             rank + 2, at));
}

void *ascend_list(struct ascend *a, void *tensor)
{
    const void *one[] = {tensor};

    return tensor == NULL ? NULL : own(a, ASCEND_LIST, a->api.list(one, 1));
}

void *ascend_integers(struct ascend *a, const int64_t *at, size_t n)
{
    return own(a, ASCEND_INTEGERS, a->api.integers(at, n));
}

void *ascend_scalar(struct ascend *a, double value, enum dtype type)
{
    float real = (float)value;
    int64_t whole = (int64_t)value;
    bool is_real = dtype_is_float(type);

    return own(a, ASCEND_SCALAR,
               a->api.scalar(is_real ? (void *)&real : &whole, is_real ? ACL_F32 : ACL_I64));
}

struct ascend_step *ascend_add(struct ascend *a, const char *symbol, ascend_plan *give)
{
    char plan[128];
    struct ascend_step step = {.give = give};

    snprintf(plan, sizeof(plan), "%sGetWorkspaceSize", symbol);
    for (size_t i = 0; i < ARRAY_LEN(a->libraries) && step.run == NULL; i++) {
        void *first = a->libraries[i] != NULL ? dlsym(a->libraries[i], plan) : NULL;
        void *second = first != NULL ? dlsym(a->libraries[i], symbol) : NULL;
        if (second == NULL)
            continue;
        memcpy(&step.plan, &first, sizeof(first));
        memcpy(&step.run, &second, sizeof(second));
    }
    if (step.run == NULL) {
        ascend_fail(a, "the installed CANN has no %s", symbol);
        return NULL;
    }
    vec_push(&a->steps, step);
    return &a->steps.at[a->steps.n - 1];
}

/* ---- the two phases ---- */

/* The first phase of all steps, then room for the second. */
/* What the first phase answers to operands that are missing or of sizes it does not take. */
enum { ACLNN_NO_OPERAND = 161001, ACLNN_BAD_OPERAND = 161002 };

/* The first phase of every step, and a workspace for the largest. */
static const char *plan_steps(struct ascend *a)
{
    uint64_t most = 0;

    for (size_t i = 0; i < a->steps.n; i++) {
        struct ascend_step *s = &a->steps.at[i];
        int code = s->give(a, s, &s->bytes, &s->executor);
        a->is_refused = code == ACLNN_NO_OPERAND || code == ACLNN_BAD_OPERAND;
        if (code != 0)
            return ascend_fail(a, "the first phase of step %zu: error %d", i + 1, code);
        most = s->bytes > most ? s->bytes : most;
    }
    if (most <= a->workspace_bytes)
        return NULL;
    if (a->workspace != NULL)
        a->api.memory_free(a->workspace);
    a->workspace = NULL;
    a->workspace_bytes = 0;
    if (a->api.memory(&a->workspace, most, 0) != 0)
        return ascend_fail(a, "no memory on the device: a workspace of %llu bytes",
                           (unsigned long long)most);
    a->workspace_bytes = most;
    return NULL;
}

static const char *run_steps(struct ascend *a)
{
    typedef int second_phase(void *workspace, uint64_t bytes, void *executor, void *stream);

    for (size_t i = 0; i < a->steps.n; i++) {
        struct ascend_step *s = &a->steps.at[i];
        int code = ((second_phase *)s->run)(s->bytes > 0 ? a->workspace : NULL, s->bytes,
                                            s->executor, a->stream);
        s->executor = NULL; /* it went with the call */
        if (code != 0)
            return ascend_fail(a, "step %zu: error %d", i + 1, code);
    }
    return NULL;
}

/* An executor serves one call, so every run has both phases; the second alone is timed. */
static const char *timed_run(struct ascend *a, double *us)
{
    float ms = 0;
    int code = 0;
    const char *problem = plan_steps(a);

    if (problem == NULL && a->api.event_record(a->begin, a->stream) != 0)
        problem = "no event";
    if (problem == NULL)
        problem = run_steps(a);
    if (problem == NULL && a->api.event_record(a->end, a->stream) != 0)
        problem = "no event";
    if (problem == NULL && (code = a->api.stream_sync(a->stream)) != 0)
        problem = ascend_fail(a, "the device: error %d", code);
    if (problem == NULL && a->api.event_elapsed(&ms, a->begin, a->end) != 0)
        problem = "no time between events";
    *us = (double)ms * 1e3;
    return problem;
}

/* ---- the back end ---- */

/* The custom operators lie where a variable says. */
static void *open_custom(void)
{
    const char *folder = getenv("ASCEND_CUSTOM_OPP_PATH");
    char path[512];

    if (folder == NULL || folder[0] != '/')
        return NULL;
    snprintf(path, sizeof(path), "%.*s/op_api/lib/libcust_opapi.so", (int)strcspn(folder, ":"),
             folder);
    return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

static const char *open_libraries(struct ascend *a, const char *given)
{
    static const struct {
        const char *symbol;
        size_t offset;
    } calls[] = {
#define ACL_CALL(result, name, symbol, ...) {symbol, offsetof(struct ascend_functions, name)},
#include "opdb/measure/ascend_calls.def"
#undef ACL_CALL
    };

    a->libraries[0] = dlopen(given != NULL ? given : "libascendcl.so", RTLD_NOW | RTLD_GLOBAL);
    if (a->libraries[0] == NULL)
        return "libascendcl.so not found";
    if (given == NULL) {
        a->libraries[1] = dlopen("libnnopbase.so", RTLD_NOW | RTLD_GLOBAL);
        a->libraries[2] = dlopen("libopapi.so", RTLD_NOW | RTLD_GLOBAL);
        a->libraries[3] = open_custom();
    }
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        void *symbol = NULL;
        for (size_t k = 0; k < ARRAY_LEN(a->libraries) && symbol == NULL; k++)
            symbol = a->libraries[k] != NULL ? dlsym(a->libraries[k], calls[i].symbol) : NULL;
        if (symbol == NULL)
            return ascend_fail(a, "CANN has no %s", calls[i].symbol);
        memcpy((char *)&a->api + calls[i].offset, &symbol, sizeof(symbol));
    }
    return NULL;
}

static const char *open_device(struct ascend *a)
{
    int code = a->api.init(NULL);

    if (code == 0)
        code = a->api.device_set(0);
    if (code != 0)
        return ascend_fail(a, "no NPU: error %d", code);
    if (a->api.stream_create(&a->stream) != 0 || a->api.event_create(&a->begin) != 0 ||
        a->api.event_create(&a->end) != 0)
        return "the NPU has no room for a stream";
    return NULL;
}

static const char *ascend_open(void **out, const struct backend_libraries *libraries)
{
    static char text[256];
    struct ascend *a = calloc(1, sizeof(*a));

    if (a == NULL)
        return "no memory";
    const char *problem = open_libraries(a, libraries->ascend);
    if (problem == NULL)
        problem = open_device(a);
    if (problem == NULL) {
        *out = a;
        return NULL;
    }
    snprintf(text, sizeof(text), "%s", problem);
    free(a);
    return text;
}

static void ascend_unload(void *state)
{
    struct ascend *a = state;

    a->api.stream_sync(a->stream);
    while (a->owned.n > 0) { /* the last ones hold the first */
        struct ascend_owned o = a->owned.at[--a->owned.n];
        if (o.kind == ASCEND_TENSOR)
            a->api.tensor_free(o.at);
        else if (o.kind == ASCEND_LIST)
            a->api.list_free(o.at);
        else if (o.kind == ASCEND_INTEGERS)
            a->api.integers_free(o.at);
        else if (o.kind == ASCEND_SCALAR)
            a->api.scalar_free(o.at);
        else
            a->api.memory_free(o.at);
    }
    vec_free(&a->owned);
    vec_free(&a->steps);
    memset(a->in, 0, sizeof(a->in));
    memset(a->out, 0, sizeof(a->out));
}

static void ascend_close(void *state)
{
    struct ascend *a = state;

    if (a->workspace != NULL)
        a->api.memory_free(a->workspace);
    a->api.event_destroy(a->begin);
    a->api.event_destroy(a->end);
    a->api.stream_destroy(a->stream);
    a->api.device_reset(0);
    free(a);
}

static const char *load_operands(struct ascend *a)
{
    const struct op_call *c = a->call;

    for (size_t i = 0; i < c->n_in; i++) {
        const struct op_arg *arg = &c->in[i];
        if (arg->alias > 0)
            a->in[i] = a->in[arg->alias - 1];
        else if (tensor_count(&arg->t) > 0) /* else there is none */
            a->in[i] = arg->is_nz ? ascend_nz(a, &arg->t) : ascend_tensor(a, &arg->t, NULL);
    }
    for (size_t i = 0; i < c->n_out; i++)
        a->out[i] = ascend_tensor(a, &c->out[i].t, &a->out_memory[i]);
    return a->problem[0] != 0 ? a->problem : NULL;
}

static const char *ascend_load(void *state, const struct op_call *call)
{
    struct ascend *a = state;
    double us;

    a->call = call;
    a->problem[0] = 0;
    const char *problem = load_operands(a);
    if (problem == NULL)
        problem = ascend_build(a);
    if (problem == NULL && a->problem[0] != 0)
        problem = a->problem;
    if (problem == NULL)
        problem = timed_run(a, &us);
    if (problem != NULL) {
        ascend_unload(a);
        return problem;
    }
    size_t n = 0; /* what is done once is left out from now on */
    for (size_t i = 0; i < a->steps.n; i++)
        if (!a->steps.at[i].is_once)
            a->steps.at[n++] = a->steps.at[i];
    a->steps.n = n;
    return NULL;
}

static const char *ascend_time(void *state, size_t n, double *us)
{
    const char *problem = NULL;

    for (size_t i = 0; i < n && problem == NULL; i++)
        problem = timed_run(state, &us[i]);
    return problem;
}

static const char *ascend_fetch(void *state, const struct op_call *into)
{
    struct ascend *a = state;

    for (size_t i = 0; i < into->n_out; i++) {
        size_t bytes = (size_t)tensor_bytes(&into->out[i].t);
        int code = a->api.copy(into->out[i].t.data, bytes, a->out_memory[i], bytes, COPY_OUT);
        if (code != 0)
            return ascend_fail(a, "copy to the host: error %d", code);
    }
    return NULL;
}

static const char *ascend_facts(void *state, struct backend_facts *out)
{
    struct ascend *a = state;
    size_t left = 0, all = 0;
    const char *name = a->api.device_name();

    snprintf(out->device, sizeof(out->device), "%s", name != NULL ? name : "NPU");
    a->api.memory_info(MEMORY_HBM, &left, &all);
    out->memory = (int64_t)left / 10 * 9;
    out->copy_gbps = 0; /* not measured: the roof of a row stays unknown */
    out->matrix_tflops = 0;
    return NULL;
}

static bool ascend_was_refusal(const void *state)
{
    return ((const struct ascend *)state)->is_refused;
}

const struct backend_entry backend_ascend = {
    .name = "ascend",
    .open = ascend_open,
    .close = ascend_close,
    .facts = ascend_facts,
    .load = ascend_load,
    .time = ascend_time,
    .fetch = ascend_fetch,
    .unload = ascend_unload,
    .was_refusal = ascend_was_refusal,
};
