/*
 * Rounds of measurements. See comm_jobs.h.
 */
#include "opdb/measure/comm_jobs.h"

#include "opdb/measure/comm_bench.h"

static const char *const rounds[] = {"all_reduce", "all_gather,reduce_scatter", "all_to_all"};

enum { PORT = 29700, PROCESSES = 16 };

/* Powers of two from 32 on, and two sizes between them, in order. */
static size_t group_sizes(int64_t most, int64_t *out)
{
    static const int64_t between[] = {384, 768};
    size_t n = 0;

    for (int64_t size = 32; size <= most && n + 2 < COMM_ROUND_DEVICES; size *= 2) {
        out[n++] = size;
        for (size_t i = 0; i < ARRAY_LEN(between); i++)
            if (between[i] > size && between[i] < 2 * size && between[i] <= most)
                out[n++] = between[i];
    }
    return n;
}

/* A round has a port of its own: that of the round before may not be free yet. */
static bool plan_nodes(const struct comm_nodes *nodes, int64_t port, struct comm_rounds *out)
{
    static const int64_t quick[] = {1024, 65536, 1048576, 16777216, 268435456};
    struct comm_launch launch = {0};

    out->is_multi = true;
    if (__builtin_mul_overflow(nodes->nodes, nodes->processes > 0 ? nodes->processes : PROCESSES,
                               &launch.processes))
        return false;
    launch.n_devices = group_sizes(launch.processes, launch.devices);
    if (nodes->is_quick)
        for (size_t i = 0; i < ARRAY_LEN(quick); i++)
            out->sizes[out->n_sizes++] = quick[i];
    else
        out->n_sizes = comm_bench_sizes(128, 536870912, out->sizes, COMM_ROUND_SIZES);
    for (size_t r = 0; r < ARRAY_LEN(rounds); r++) {
        launch.ops = rounds[r];
        launch.port = port + 1 + (int64_t)r;
        out->at[out->n++] = launch;
    }
    return launch.n_devices > 0;
}

bool comm_rounds_plan(const struct comm_nodes *nodes, struct comm_rounds *out)
{
    static const int64_t devices[] = {16, 8, 4, 2};
    int64_t port = nodes->port > 0 ? nodes->port : PORT;

    *out = (struct comm_rounds){0};
    if (nodes->nodes >= 2)
        return plan_nodes(nodes, port, out);
    out->n_sizes = comm_bench_sizes(128, 536870912, out->sizes, COMM_ROUND_SIZES);
    for (size_t r = 0; r < ARRAY_LEN(rounds); r++)
        for (size_t i = 0; i < ARRAY_LEN(devices); i++, out->n++)
            out->at[out->n] = (struct comm_launch){
                .ops = rounds[r],
                .processes = devices[i],
                .devices = {devices[i]},
                .n_devices = 1,
                .port = port + (int64_t)out->n,
            };
    return true;
}
