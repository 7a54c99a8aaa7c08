/*
 * Operators on the processors of this machine: the references over all threads, and a BLAS for
 * matrix products when one is installed.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "base/run/now.h"
#include "base/text/memory_size.h"
#include "opdb/measure/backend.h"

/* cblas_sgemm and the values of its enums. */
typedef void blas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
                        int lda, const float *b, int ldb, float beta, float *c, int ldc);
enum { BLAS_ROWS = 101, BLAS_PLAIN = 111, BLAS_TRANSPOSED = 112 };

struct cpu {
    struct pool *pool;
    blas_sgemm *sgemm;   /* NULL: none */
    const char *library; /* its file; "" none */
    const struct op_call *call;
    struct op_call own; /* the call with outputs of our own */
    void *outputs;
    float *a, *b, *c; /* of a product */
};

static const char *cpu_open(void **out, const struct backend_libraries *libraries)
{
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so", "libblas.so.3"};
    struct cpu *cpu = calloc(1, sizeof(*cpu));

    (void)libraries;
    if (cpu == NULL)
        return "no memory";
    cpu->pool = pool_new(0);
    cpu->library = "";
    for (size_t i = 0; i < ARRAY_LEN(names) && cpu->sgemm == NULL; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        void *symbol = library != NULL ? dlsym(library, "cblas_sgemm") : NULL;
        memcpy(&cpu->sgemm, &symbol, sizeof(symbol));
        cpu->library = symbol != NULL ? names[i] : "";
    }
    *out = cpu;
    return NULL;
}

static void cpu_close(void *state)
{
    struct cpu *cpu = state;

    pool_free(cpu->pool);
    free(cpu);
}

static bool is_product(const struct op_call *c)
{
    static const struct str names[] = {S_INIT("MatMulV2"), S_INIT("MatMulV3"),
                                       S_INIT("MatMulCommon"), S_INIT("BatchMatMulV2")};
    enum dtype type = c->in[0].t.dtype;

    return str_is_one_of(str_of(c->op->name), names, ARRAY_LEN(names)) &&
           (type == DTYPE_F32 || type == DTYPE_F16 || type == DTYPE_BF16) && c->m > 0 && c->n > 0 &&
           c->k > 0 && c->m < INT32_MAX && c->n < INT32_MAX && c->k < INT32_MAX;
}

static float *floats(const struct tensor *t, bool is_filled)
{
    int64_t n = tensor_count(t);
    float *x = malloc(sizeof(*x) * (size_t)(n > 0 ? n : 1));

    if (x != NULL && is_filled)
        tensor_load_f32(t, 0, n, x);
    return x;
}

static void cpu_unload(void *state)
{
    struct cpu *cpu = state;

    free(cpu->a);
    free(cpu->b);
    free(cpu->c);
    free(cpu->outputs);
    cpu->a = cpu->b = cpu->c = NULL;
    cpu->outputs = NULL;
}

/* Outputs are copies, each from a cache line of its own on: those of the call stay as they are. */
static const char *cpu_load(void *state, const struct op_call *call)
{
    struct cpu *cpu = state;
    int64_t bytes = 0;
    char *at;

    cpu->call = call;
    cpu->own = *call;
    for (size_t i = 0; i < call->n_out; i++)
        bytes += (tensor_bytes(&call->out[i].t) + 63) / 64 * 64;
    at = cpu->outputs = calloc(1, (size_t)bytes + 64);
    if (at == NULL)
        return "no memory for the outputs";
    for (size_t i = 0; i < call->n_out; i++) {
        memcpy(at, call->out[i].t.data, (size_t)tensor_bytes(&call->out[i].t));
        cpu->own.out[i].t.data = at;
        at += (tensor_bytes(&call->out[i].t) + 63) / 64 * 64;
    }
    if (cpu->sgemm == NULL || !is_product(call))
        return NULL;
    cpu->a = floats(&call->in[0].t, true);
    cpu->b = floats(&call->in[1].t, true);
    cpu->c = floats(&call->out[0].t, false);
    if (cpu->a != NULL && cpu->b != NULL && cpu->c != NULL)
        return NULL;
    cpu_unload(state);
    return "no memory for the operands in fp32";
}

static void multiply(const struct cpu *cpu)
{
    const struct op_call *c = cpu->call;
    bool ta = c->is_a_transposed, tb = c->is_b_transposed;

    for (int64_t i = 0; i < c->batch; i++)
        cpu->sgemm(BLAS_ROWS, ta ? BLAS_TRANSPOSED : BLAS_PLAIN, tb ? BLAS_TRANSPOSED : BLAS_PLAIN,
                   (int)c->m, (int)c->n, (int)c->k, 1, cpu->a + i * c->m * c->k,
                   (int)(ta ? c->m : c->k), cpu->b + i * c->n * c->k, (int)(tb ? c->k : c->n), 0,
                   cpu->c + i * c->m * c->n, (int)c->n);
}

static const char *cpu_time(void *state, size_t n, double *us)
{
    struct cpu *cpu = state;

    for (size_t i = 0; i < n; i++) {
        nanos begin = now_ns();
        if (cpu->a != NULL)
            multiply(cpu);
        else
            op_reference(&cpu->own, cpu->pool);
        us[i] = (double)(now_ns() - begin) / 1e3;
    }
    return NULL;
}

static const char *cpu_fetch(void *state, const struct op_call *into)
{
    struct cpu *cpu = state;

    for (size_t i = 0; i < into->n_out; i++) {
        const struct tensor *t = &into->out[i].t;
        if (cpu->c == NULL) {
            memcpy(t->data, cpu->own.out[i].t.data, (size_t)tensor_bytes(t));
            continue;
        }
        for (int64_t k = 0; k < tensor_count(t); k++)
            tensor_put(t, k, (double)cpu->c[k]);
    }
    return NULL;
}

/* Bytes that a copy reads and writes in a nanosecond, the best of a few. */
static double copy_rate(void)
{
    enum { BYTES = 32 << 20, TIMES = 4 };
    char *from = malloc(BYTES), *to = malloc(BYTES);
    double best = 0;

    for (int i = 0; from != NULL && to != NULL && i < TIMES; i++) {
        memset(from, i, BYTES);
        nanos begin = now_ns();
        memcpy(to, from, BYTES);
        best = fmax(best, 2.0 * BYTES / (double)(now_ns() - begin));
        from[0] = to[BYTES - 1];
    }
    free(from);
    free(to);
    return best;
}

static double matrix_rate(const struct cpu *cpu)
{
    enum { SIZE = 256, TIMES = 3 };
    float *x = calloc(3 * SIZE * SIZE, sizeof(*x));
    double best = 0;

    for (int i = 0; x != NULL && cpu->sgemm != NULL && i < TIMES; i++) {
        nanos begin = now_ns();
        cpu->sgemm(BLAS_ROWS, BLAS_PLAIN, BLAS_TRANSPOSED, SIZE, SIZE, SIZE, 1, x, SIZE,
                   x + SIZE * SIZE, SIZE, 0, x + 2 * SIZE * SIZE, SIZE);
        best = fmax(best, 2.0 * SIZE * SIZE * SIZE / (double)(now_ns() - begin) / 1e3);
    }
    free(x);
    return best;
}

/* "AMD EPYC 9654 96-Core Processor, 2 processors": times of another model, or of more of them, are
 * those of another device. */
static void processor_name(char *out, size_t size, size_t width)
{
    FILE *f = fopen("/proc/cpuinfo", "re");
    char line[256], name[80] = "";
    struct utsname system;

    while (f != NULL && name[0] == 0 && fgets(line, sizeof(line), f) != NULL)
        if (strncmp(line, "model name", 10) == 0) {
            struct str text = str_of(line), key;
            str_split(&text, ':', &key);
            text = str_trim(text);
            snprintf(name, sizeof(name), "%.*s", (int)(text.n < 70 ? text.n : 70), text.at);
        }
    if (f != NULL)
        fclose(f);
    if (name[0] == 0 && uname(&system) == 0)
        snprintf(name, sizeof(name), "%.40s", system.machine);
    snprintf(out, size, "%s, %zu %s", name, width, width == 1 ? "processor" : "processors");
}

static const char *cpu_facts(void *state, struct backend_facts *out)
{
    struct cpu *cpu = state;
    bool is_short = out->copy_gbps < 0;

    processor_name(out->device, sizeof(out->device), pool_width(cpu->pool));
    snprintf(out->products, sizeof(out->products), "%s", cpu->library);
    /* Half of what is free: a check has its own outputs, a product its operands in fp32. */
    out->memory = memory_left() / 2;
    out->copy_gbps = is_short ? 0 : copy_rate();
    out->matrix_tflops = is_short ? 0 : matrix_rate(cpu);
    return NULL;
}

const struct backend_entry backend_cpu = {
    .name = "cpu",
    .open = cpu_open,
    .close = cpu_close,
    .facts = cpu_facts,
    .load = cpu_load,
    .time = cpu_time,
    .fetch = cpu_fetch,
    .unload = cpu_unload,
};
