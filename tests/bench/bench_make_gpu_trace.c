/*
 * bench_make_gpu_trace FILE MB [RECORDS] - writes a trace as libstrata-inject.so would.
 *
 * CUPTI's records of launches and their kernels on four streams, now and then a copy, a wait and a
 * range, go through the library's own encoder: until the file has MB megabytes, or RECORDS records.
 * The bytes are the same on every machine but for the process id in the head.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gpu/inject/cupti.h"
#include "gpu/inject/writer.h"

enum { KERNELS = 64, STREAMS = 4, SHAPES = 8 };

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static int callback_name(uint32_t domain, uint32_t id, const char **name)
{
    (void)domain;
    *name = id == 211 ? "cudaLaunchKernel_v7000" : "cudaMemcpyAsync_v3020";
    return 0;
}

static struct cupti cupti = {.version = CUPTI_13, .GetCallbackName = callback_name};

/* One launch: the call, and the kernel that runs after what is on its stream already. */
static void put_launch(struct writer *w, uint64_t number, uint64_t *random, uint64_t *host,
                       uint64_t *busy)
{
    static char names[KERNELS][96];
    unsigned which = (unsigned)(next_random(random) % KERNELS);
    unsigned stream = (unsigned)(number % STREAMS), shape = which % SHAPES;
    uint64_t took = 2000 + next_random(random) % 3000;

    if (names[which][0] == '\0')
        snprintf(names[which], sizeof(names[which]),
                 "_ZN5model%u16fused_attention_%02uIN3nv13bf16ELi%uEEEvPT_PKS2_ii", 5 + which % 9,
                 which, which);
    struct cupti_call call = {.kind = KIND_RUNTIME,
                              .id = 211,
                              .start = *host,
                              .end = *host + took,
                              .process = 1,
                              .thread = 100 + (uint32_t)(number / 1000 % 2),
                              .correlation = (uint32_t)number + 1};
    uint64_t begin = *host + took + next_random(random) % 4000;
    if (begin < busy[stream])
        begin = busy[stream] + 800;
    struct cupti_kernel kernel = {.kind = KIND_KERNEL,
                                  .registers = 32 + (uint16_t)which,
                                  .start = begin,
                                  .end = begin + 1500 + next_random(random) % 20000,
                                  .context = 1,
                                  .stream = 7 + stream,
                                  .grid = {(int32_t)(128 << shape), 1, 1},
                                  .block = {256, 1, 1},
                                  .dynamic_shared = 1024 * (int32_t)shape,
                                  .correlation = (uint32_t)number + 1,
                                  .name = names[which]};
    writer_encode(w, &cupti, &call);
    writer_encode(w, &cupti, &kernel);
    busy[stream] = kernel.end;
    *host += took + next_random(random) % 3000;
}

static void put_range(struct writer *w, uint64_t number, uint64_t begin, uint64_t end)
{
    struct cupti_marker marker = {.kind = KIND_MARKER,
                                  .flags = 2,
                                  .time = begin,
                                  .id = (uint32_t)number,
                                  .object_kind = 2,
                                  .object = {{1, 100, 0}},
                                  .name = "layer"};

    writer_encode(w, &cupti, &marker);
    marker.flags = 4;
    marker.time = end;
    marker.name = NULL;
    writer_encode(w, &cupti, &marker);
}

int main(int argc, char **argv)
{
    struct writer w;
    uint64_t random = 1, host = UINT64_C(1794704811145886194), busy[STREAMS] = {0}, range = host;
    uint64_t bytes = argc > 2 ? strtoull(argv[2], NULL, 10) * 1000000 : 0;
    uint64_t records = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;

    if (argc < 3 || (unlink(argv[1]) != 0 && access(argv[1], F_OK) == 0) ||
        !writer_open(&w, argv[1])) {
        fprintf(stderr, "usage: bench_make_gpu_trace FILE MB [RECORDS]\n");
        return 2;
    }
    for (uint64_t i = 0; records > 0 ? w.total < records : w.bytes < bytes; i++) {
        put_launch(&w, i, &random, &host, busy);
        if (i % 100 == 99) {
            put_range(&w, i, range, host);
            range = host;
        }
    }
    printf("%llu records\n", (unsigned long long)w.total);
    writer_close(&w, 0);
    return 0;
}
