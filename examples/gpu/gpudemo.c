/*
 * gpudemo - workloads for `strata gpu profile`.
 *
 *     gpudemo WORKLOAD [--check] [--runs N] [--NAME VALUE]…
 *
 * Each workload runs its kernels `runs` times inside an NVTX range of its name. --check compares
 * the result with one computed on the host (or by a simpler kernel) and exits 1 when they differ;
 * it is quiet otherwise. The spec files beside this program tell FLOP and bytes of each.
 */
#define _GNU_SOURCE /* the processor of a thread */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "driver.h"

struct options {
    long b, h, s, t, m, n, k, rows, cols, bytes, runs, launches, version, cpu;
    int check;
};

enum { DYNAMIC_SHARED = 8 }; /* attribute of a kernel: bytes of dynamic shared memory it may have */

struct option_name {
    const char *name;
    size_t at;
};

static const struct option_name names[] = {
    {"--b", offsetof(struct options, b)},
    {"--h", offsetof(struct options, h)},
    {"--s", offsetof(struct options, s)},
    {"--t", offsetof(struct options, t)},
    {"--m", offsetof(struct options, m)},
    {"--n", offsetof(struct options, n)},
    {"--k", offsetof(struct options, k)},
    {"--rows", offsetof(struct options, rows)},
    {"--cols", offsetof(struct options, cols)},
    {"--bytes", offsetof(struct options, bytes)},
    {"--runs", offsetof(struct options, runs)},
    {"--launches", offsetof(struct options, launches)},
    {"--version", offsetof(struct options, version)},
    {"--cpu", offsetof(struct options, cpu)},
};

static float from_bf16(uint16_t x)
{
    uint32_t u = (uint32_t)x << 16;
    float f;

    memcpy(&f, &u, sizeof(f));
    return f;
}

static int differs(const char *what, size_t at, double got, double want, double allowed)
{
    if (fabs(got - want) <= allowed)
        return 0;
    fprintf(stderr, "gpudemo: %s: element %zu is %g, not %g\n", what, at, got, want);
    return 1;
}

static void launch(CUfunction f, unsigned x, unsigned y, unsigned z, unsigned threads,
                   unsigned shared, CUstream stream, void **args)
{
    CU(cu.LaunchKernel(f, x, y, z, threads, 1, 1, shared, stream, args, NULL));
}

static CUfunction function(CUmodule module, const char *name)
{
    CUfunction f = NULL;

    CU(cu.ModuleGetFunction(&f, module, name));
    return f;
}

/* Begins one run of a workload. Every run finds the caches as another kernel left them, full of its
 * results, and not as the run before did: so all runs are alike, also under a profiler that cleans
 * up between launches. */
static void begin_run(const char *range)
{
    enum { BYTES = 256 << 20 }; /* several times the second-level cache */
    static CUfunction scrub;
    static CUdeviceptr memory;
    size_t n = BYTES / 16;
    void *args[] = {&memory, &n};

    if (scrub == NULL) {
        scrub = function(driver_module("scrub"), "scrub");
        memory = driver_alloc(BYTES);
    }
    launch(scrub, 132 * 16, 1, 1, 512, 0, NULL, args);
    range_push(range);
}

static int run_stream(const struct options *o)
{
    size_t n = (size_t)o->bytes / 16;
    float *host = NULL;
    CUdeviceptr from = driver_random_f32(n * 4, 1, &host), to = driver_alloc(n * 16);
    CUfunction f = function(driver_module("stream"), "stream_copy");
    void *args[] = {&to, &from, &n};
    int bad = 0;

    for (long i = 0; i < o->runs; i++) {
        begin_run("stream_copy");
        launch(f, 132 * 16, 1, 1, 512, 0, NULL, args);
        range_pop();
    }
    CU(cu.CtxSynchronize());
    if (o->check) {
        float *back = malloc(n * 16);
        CU(cu.MemcpyDtoH_v2(back, to, n * 16));
        bad = memcmp(back, host, n * 16) != 0;
        if (bad)
            fprintf(stderr, "gpudemo: stream: the copy differs\n");
        free(back);
    }
    free(host);
    return bad;
}

/* Some elements of the product, computed on the host. */
static int check_gemm(const struct options *o, const char *what, CUdeviceptr c, const uint16_t *a,
                      const uint16_t *b)
{
    size_t m = (size_t)o->m, n = (size_t)o->n, k = (size_t)o->k;
    uint16_t *got = malloc(m * n * 2);
    int bad = 0;

    CU(cu.MemcpyDtoH_v2(got, c, m * n * 2));
    for (size_t i = 0; i < 512 && !bad; i++) {
        size_t row = (i * 7919) % m, col = (i * 104729) % n;
        double want = 0;
        for (size_t x = 0; x < k; x++)
            want += (double)from_bf16(a[row * k + x]) * from_bf16(b[x * n + col]);
        bad = differs(what, row * n + col, from_bf16(got[row * n + col]), want,
                      0.01 * fabs(want) + 0.02 * sqrt((double)k));
    }
    free(got);
    return bad;
}

static int run_gemm(const struct options *o, int is_naive)
{
    int m = (int)o->m, n = (int)o->n, k = (int)o->k;
    uint16_t *ha = NULL, *hb = NULL;
    CUdeviceptr a = driver_random_bf16((size_t)m * k, 1, &ha);
    CUdeviceptr b = driver_random_bf16((size_t)k * n, 2, &hb);
    CUdeviceptr c = driver_alloc((size_t)m * n * 2);
    const char *name = is_naive ? "gemm_naive" : "gemm_tiled";
    CUfunction f = function(driver_module("gemm"), name);
    void *args[] = {&c, &a, &b, &m, &n, &k};

    if (m % 128 != 0 || n % 128 != 0 || k % 32 != 0) {
        fprintf(stderr, "gpudemo: %s: m and n are multiples of 128, k of 32\n", name);
        return 2;
    }
    for (long i = 0; i < o->runs; i++) {
        begin_run(name);
        if (is_naive)
            CU(cu.LaunchKernel(f, (unsigned)n / 32, (unsigned)m / 8, 1, 32, 8, 1, 0, NULL, args,
                               NULL));
        else
            launch(f, (unsigned)n / 128, (unsigned)m / 128, 1, 256, 0, NULL, args);
        range_pop();
    }
    CU(cu.CtxSynchronize());
    int bad = o->check ? check_gemm(o, name, c, ha, hb) : 0;
    free(ha);
    free(hb);
    return bad;
}

static int run_naive(const struct options *o)
{
    return run_gemm(o, 1);
}

static int run_tiled(const struct options *o)
{
    return run_gemm(o, 0);
}

static int run_softmax(const struct options *o)
{
    size_t rows = (size_t)o->rows, n = (size_t)o->cols;
    float *host = NULL;
    CUdeviceptr from = driver_random_f32(rows * n, 3, &host), to = driver_alloc(rows * n * 4);
    CUfunction f = function(driver_module("softmax"), "softmax_rows");
    int cols = (int)n, bad = 0;
    void *args[] = {&to, &from, &cols};

    for (long i = 0; i < o->runs; i++) {
        begin_run("softmax");
        launch(f, (unsigned)rows, 1, 1, 256, 0, NULL, args);
        range_pop();
    }
    CU(cu.CtxSynchronize());
    if (o->check) {
        float *got = malloc(n * 4);
        for (size_t r = 0; r < rows && !bad; r += rows / 16 + 1) {
            double sum = 0, most = -1e300;
            CU(cu.MemcpyDtoH_v2(got, to + r * n * 4, n * 4));
            for (size_t i = 0; i < n; i++)
                most = fmax(most, host[r * n + i]);
            for (size_t i = 0; i < n; i++)
                sum += exp(host[r * n + i] - most);
            for (size_t i = 0; i < n && !bad; i++)
                bad =
                    differs("softmax", r * n + i, got[i], exp(host[r * n + i] - most) / sum, 1e-6);
        }
        free(got);
    }
    free(host);
    return bad;
}

static int run_spill(const struct options *o)
{
    /* one block on a multiprocessor: the arrays stay in L2 and do not fill its pipes, so that
     * nothing but the detour through memory costs time */
    enum { BLOCKS = 132 * 4, THREADS = 128, WORDS = 192, SHARED = 200 << 10 };
    int order[WORDS], rounds = 400, bad = 0;
    CUdeviceptr table = driver_alloc(sizeof(order)), to = driver_alloc(BLOCKS * THREADS * 4);
    CUfunction f = function(driver_module("spill"), "spill");
    void *args[] = {&to, &table, &rounds};

    for (int i = 0; i < WORDS; i++)
        order[i] = (i * 37 + 11) % WORDS;
    CU(cu.MemcpyHtoD_v2(table, order, sizeof(order)));
    CU(cu.FuncSetAttribute(f, DYNAMIC_SHARED, SHARED));
    for (long i = 0; i < o->runs; i++) {
        range_push("spill");
        launch(f, BLOCKS, 1, 1, THREADS, SHARED, NULL, args);
        range_pop();
    }
    CU(cu.CtxSynchronize());
    if (o->check) {
        float got[THREADS];
        CU(cu.MemcpyDtoH_v2(got, to, sizeof(got)));
        for (int t = 0; t < THREADS && !bad; t++) {
            float own[WORDS], sum = 0;
            int at = t / 32;
            for (int i = 0; i < WORDS; i++)
                own[i] = (float)(i ^ t);
            for (int i = 0; i < rounds; i++) {
                at = order[(at + i) % WORDS];
                sum += own[at];
                own[at] = sum * 0.5f;
            }
            bad = differs("spill", (size_t)t, got[t], sum, fabs(sum) * 1e-5);
        }
    }
    return bad;
}

/* ---- latent attention ---- */

enum { WIDTH = 576, VALUES = 512 };

static int check_mla(const struct options *o, const uint16_t *q, const uint16_t *kv,
                     CUdeviceptr out)
{
    size_t h = (size_t)o->h, t = (size_t)o->t;
    double *score = malloc(t * sizeof(double));
    int bad = 0;

    for (size_t i = 0; i < 6 && !bad; i++) {
        size_t batch = i * 13 % (size_t)o->b, head = i * 29 % h;
        const uint16_t *rows = kv + batch * t * WIDTH, *one = q + (batch * h + head) * WIDTH;
        uint16_t got[VALUES];
        double most = -1e300, sum = 0;
        for (size_t r = 0; r < t; r++) {
            score[r] = 0;
            for (size_t x = 0; x < WIDTH; x++)
                score[r] += (double)from_bf16(one[x]) * from_bf16(rows[r * WIDTH + x]);
            score[r] /= sqrt(192.0);
            most = fmax(most, score[r]);
        }
        for (size_t r = 0; r < t; r++)
            sum += score[r] = exp(score[r] - most);
        CU(cu.MemcpyDtoH_v2(got, out + (batch * h + head) * VALUES * 2, sizeof(got)));
        for (size_t v = 0; v < VALUES && !bad; v++) {
            double want = 0;
            for (size_t r = 0; r < t; r++)
                want += score[r] * from_bf16(rows[r * WIDTH + v]);
            bad = differs("mla", (batch * h + head) * VALUES + v, from_bf16(got[v]), want / sum,
                          0.01);
        }
    }
    free(score);
    return bad;
}

static int run_mla(const struct options *o)
{
    int heads = (int)o->h, t = (int)o->t, is_fast = o->version != 1;
    int splits = is_fast ? (o->b >= 32 ? 2 : 4) : 4, per_block = is_fast ? 64 : 16;
    unsigned shared = is_fast ? (64 * 3) * WIDTH * 2 + 64 * 64 * 2 + 1024
                              : (16 + 128) * WIDTH * 2 + 16 * 128 * 2 + 1024;
    size_t rows = (size_t)o->b * (size_t)heads;
    float scale = 1.0f / sqrtf(192.0f);
    uint16_t *hq = NULL, *hkv = NULL;
    CUmodule module = driver_module("mla");
    CUfunction decode = function(module, is_fast ? "mla_decode_v2" : "mla_decode_v1");
    CUfunction combine = function(module, "mla_combine");
    CUdeviceptr q = driver_random_bf16(rows * WIDTH, 4, &hq);
    CUdeviceptr kv = driver_random_bf16((size_t)o->b * (size_t)t * WIDTH, 5, &hkv);
    CUdeviceptr parts = driver_alloc(rows * (size_t)splits * VALUES * 4);
    CUdeviceptr sums = driver_alloc(rows * (size_t)splits * 8),
                out = driver_alloc(rows * VALUES * 2);
    void *args[] = {&parts, &sums, &q, &kv, &heads, &t, &splits, &scale};
    void *join[] = {&out, &parts, &sums, &splits};

    if (heads % 64 != 0 || t % (splits * 128) != 0) {
        fprintf(stderr, "gpudemo: mla: heads are a multiple of 64, t of 512\n");
        return 2;
    }
    CU(cu.FuncSetAttribute(decode, DYNAMIC_SHARED, (int)shared));
    for (long i = 0; i < o->runs; i++) {
        begin_run("mla");
        launch(decode, (unsigned)(heads / per_block), (unsigned)splits, (unsigned)o->b, 256, shared,
               NULL, args);
        launch(combine, (unsigned)rows, 1, 1, 256, 0, NULL, join);
        range_pop();
    }
    CU(cu.CtxSynchronize());
    int bad = o->check ? check_mla(o, hq, hkv, out) : 0;
    free(hq);
    free(hkv);
    return bad;
}

/* ---- streams, many launches, graphs, copies ---- */

static int run_streams(const struct options *o)
{
    enum { BYTES = 64 << 20 };
    CUmodule module = driver_module("streams");
    CUfunction busy = function(module, "busy"), tiny = function(module, "tiny");
    CUstream a = NULL, b = NULL;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUdeviceptr x = driver_alloc(66 * 256 * 4), y = driver_alloc(66 * 256 * 4);
    CUdeviceptr count = driver_alloc(4), big = driver_alloc(BYTES);
    int rounds = 100000, counted = 0;
    void *first[] = {&x, &rounds}, *second[] = {&y, &rounds}, *one[] = {&count}, *host = NULL;

    CU(cu.MemHostAlloc(&host, BYTES, 0));
    memset(host, 1, BYTES);
    CU(cu.MemsetD8_v2(count, 0, 4));
    CU(cu.StreamCreate(&a, 1));
    CU(cu.StreamCreate(&b, 1));
    range_push("pair");
    launch(busy, 66, 1, 1, 256, 0, a, first);
    launch(busy, 66, 1, 1, 256, 0, b, second);
    CU(cu.StreamSynchronize(a));
    CU(cu.StreamSynchronize(b));
    range_pop();
    range_push("tiny");
    for (long i = 0; i < o->launches; i++)
        launch(tiny, 1, 1, 1, 32, 0, a, one);
    CU(cu.StreamSynchronize(a));
    range_pop();
    range_push("graph");
    CU(cu.StreamBeginCapture_v2(a, 0));
    for (int i = 0; i < 100; i++)
        launch(tiny, 1, 1, 1, 32, 0, a, one);
    CU(cu.StreamEndCapture(a, &graph));
    CU(cu.GraphInstantiateWithFlags(&exec, graph, 0));
    for (long i = 0; i < o->launches / 100; i++)
        CU(cu.GraphLaunch(exec, a));
    CU(cu.StreamSynchronize(a));
    range_pop();
    range_push("copies");
    CU(cu.MemcpyHtoDAsync_v2(big, host, BYTES, a));
    CU(cu.MemcpyDtoHAsync_v2(host, big, BYTES, a));
    CU(cu.StreamSynchronize(a));
    range_pop();
    CU(cu.MemcpyDtoH_v2(&counted, count, 4));
    CU(cu.GraphExecDestroy(exec));
    CU(cu.GraphDestroy(graph));
    if (!o->check)
        return 0;
    long want = o->launches + o->launches / 100 * 100;
    if (counted != want)
        fprintf(stderr, "gpudemo: streams: %d launches counted, not %ld\n", counted, want);
    return counted != want;
}

/* Launches that do nothing, for the cost of tracing. */
static int run_empty(const struct options *o)
{
    CUfunction tiny = function(driver_module("streams"), "tiny");
    CUdeviceptr count = driver_alloc(4);
    void *args[] = {&count};
    CUevent begin = NULL, end = NULL;
    float ms = 0;

    CU(cu.EventCreate(&begin, 0));
    CU(cu.EventCreate(&end, 0));
    launch(tiny, 1, 1, 1, 32, 0, NULL, args);
    CU(cu.EventRecord(begin, NULL));
    for (long i = 0; i < o->launches; i++)
        launch(tiny, 1, 1, 1, 32, 0, NULL, args);
    CU(cu.EventRecord(end, NULL));
    CU(cu.EventSynchronize(end));
    CU(cu.EventElapsedTime(&ms, begin, end));
    printf("%ld launches, %.3f us each\n", o->launches, (double)ms * 1000 / (double)o->launches);
    return 0;
}

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* Only the thread that launches: those of a recorder stay where they are. */
static void stay_on(long cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    if (cpu > 0 && sched_setaffinity(0, sizeof(one), &one) != 0)
        fprintf(stderr, "gpudemo: turns: processor %ld is not ours\n", cpu);
}

/* As many launches as asked for, for every line that is read; prints the time of one to the host,
 * and with the device's. Several such processes take turns. */
static int run_turns(const struct options *o)
{
    enum { WARM = 200 };
    CUfunction tiny = function(driver_module("streams"), "tiny");
    CUdeviceptr count = driver_alloc(4);
    void *args[] = {&count};
    char line[16];

    launch(tiny, 1, 1, 1, 32, 0, NULL, args);
    CU(cu.StreamSynchronize(NULL));
    stay_on(o->cpu);
    printf("ready\n");
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin) != NULL) {
        for (int i = 0; i < WARM; i++)
            launch(tiny, 1, 1, 1, 32, 0, NULL, args);
        CU(cu.StreamSynchronize(NULL));
        double begin = now_us();
        for (long i = 0; i < o->launches; i++)
            launch(tiny, 1, 1, 1, 32, 0, NULL, args);
        double launched = now_us();
        CU(cu.StreamSynchronize(NULL));
        printf("%.4f %.4f\n", (launched - begin) / (double)o->launches,
               (now_us() - begin) / (double)o->launches);
        fflush(stdout);
    }
    return 0;
}

static const struct workload {
    const char *name;
    int (*run)(const struct options *);
    const char *what;
} workloads[] = {
    {"stream_copy", run_stream, "a copy as fast as the memory (--bytes)"},
    {"gemm_naive", run_naive, "bf16 product, one thread an element (--m --n --k)"},
    {"gemm_tiled", run_tiled, "bf16 product with tensor cores (--m --n --k)"},
    {"softmax", run_softmax, "softmax of fp32 rows (--rows --cols)"},
    {"mla", run_mla, "latent attention, decoding (--version 1|2 --b --h --t)"},
    {"spill", run_spill, "an array that does not fit into registers"},
    {"streams", run_streams, "two streams, many small launches, a graph, copies (--launches)"},
    {"empty", run_empty, "launches that do nothing (--launches)"},
    {"turns", run_turns, "the same for every line read (--launches --cpu)"},
};

static int usage(void)
{
    fprintf(stderr, "usage: gpudemo WORKLOAD [--check] [--runs N] [--NAME VALUE]...\n");
    for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++)
        fprintf(stderr, "  %-12s %s\n", workloads[i].name, workloads[i].what);
    return 2;
}

static int parse(int argc, char **argv, struct options *o)
{
    for (int i = 2; i < argc; i++) {
        size_t k = 0, n = sizeof(names) / sizeof(names[0]);
        if (strcmp(argv[i], "--check") == 0) {
            o->check = 1;
            continue;
        }
        while (k < n && strcmp(names[k].name, argv[i]) != 0)
            k++;
        char *end = NULL;
        if (k == n || i + 1 == argc)
            return 0;
        long value = strtol(argv[++i], &end, 10);
        if (*end != '\0' || value <= 0)
            return 0;
        memcpy((char *)o + names[k].at, &value, sizeof(value));
    }
    return 1;
}

int main(int argc, char **argv)
{
    struct options o = {.b = 32,
                        .h = 128,
                        .s = 1,
                        .t = 4096,
                        .m = 4096,
                        .n = 4096,
                        .k = 4096,
                        .rows = 32768,
                        .cols = 4096,
                        .bytes = 1 << 30,
                        .runs = 10,
                        .launches = 1000,
                        .version = 2};

    if (argc < 2 || !parse(argc, argv, &o))
        return usage();
    for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++) {
        if (strcmp(workloads[i].name, argv[1]) != 0)
            continue;
        driver_open();
        return workloads[i].run(&o);
    }
    return usage();
}
