/*
 * bench_trace - how fast a trace gets into a sealed capture.
 *
 *     bench_trace FILE [THREADS [ROUNDS]]
 *
 * Prints the best round in wall and in processor time, from the first byte to the sealed capture,
 * and what was read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "base/run/pool.h"
#include "capture/capture.h"
#include "input/input.h"

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double cpu(void)
{
    struct rusage use;

    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6;
}

static void show(const struct capture *cap, const struct diag *d)
{
    size_t kinds[SLICE_OTHER + 1] = {0}, samples = 0;

    for (size_t i = 0; i < cap->slices.n; i++)
        kinds[cap->slices.kind[i]]++;
    for (size_t i = 0; i < cap->series.n; i++)
        samples += cap->series.at[i].samples.n;
    printf(
        "slices %zu lanes %zu flows %zu samples %zu marks %zu strings %zu attr-bytes %zu has %u\n",
        cap->slices.n, cap->lanes.n, cap->flows.n, samples, cap->marks.n, cap->strings.strings.n,
        cap->attrs.bytes.n, cap->has);
    printf("kinds");
    for (size_t i = 0; i <= SLICE_OTHER; i++)
        printf(" %zu", kinds[i]);
    printf("\n");
    for (size_t i = 0; i < cap->sources.n; i++)
        printf("source %s rows %llu lost %llu\n", cap->sources.at[i].format,
               (unsigned long long)cap->sources.at[i].rows,
               (unsigned long long)cap->sources.at[i].lost);
    for (size_t i = 0; i < d->entries.n; i++)
        printf("%s %s %llu: %s\n", severity_name(d->entries.at[i].severity), d->entries.at[i].code,
               (unsigned long long)d->entries.at[i].count, d->entries.at[i].first[0].text);
}

int main(int argc, char **argv)
{
    struct input_options options = input_defaults();
    struct stat st;
    double best = 1e9, best_cpu = 1e9;

    if (argc < 2 || stat(argv[1], &st) != 0)
        return 2;
    size_t threads = argc > 2 ? (size_t)atoi(argv[2]) : 1;
    int rounds = argc > 3 ? atoi(argv[3]) : 3;
    options.pool = threads > 1 ? pool_new(threads) : NULL;
    for (int i = 0; i < rounds; i++) {
        struct capture *cap;
        struct diag d;
        diag_init(&d);
        double begin = now(), cpu_begin = cpu();
        if (input_load(argv[1], &options, &d, &cap) != ST_OK) {
            fprintf(stderr, "%s\n", d.entries.at[0].first[0].text);
            return 3;
        }
        double took = now() - begin, cpu_took = cpu() - cpu_begin;
        best = took < best ? took : best;
        best_cpu = cpu_took < best_cpu ? cpu_took : best_cpu;
        if (i == rounds - 1)
            show(cap, &d);
        capture_free(cap);
        diag_fini(&d);
    }
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    printf("import  %.0f MB/s  %.3f s wall  %.3f s processor  peak %.1f MB\n",
           (double)st.st_size / 1e6 / best, best, best_cpu, (double)use.ru_maxrss / 1024);
    pool_free(options.pool);
    return 0;
}
