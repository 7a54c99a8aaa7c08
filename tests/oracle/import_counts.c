/*
 * import_counts FILE [THREADS] - what an importer made of a file, as one JSON object.
 *
 * For tests/oracle/traces.py, which compares the numbers with those counted apart from strata.
 * Exit 3 when the file was refused.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/run/pool.h"
#include "capture/capture.h"
#include "input/input.h"

static void print_capture(const struct capture *cap)
{
    size_t kinds[SLICE_OTHER + 1] = {0}, samples = 0;
    nanos sum = 0;

    for (size_t i = 0; i < cap->slices.n; i++) {
        kinds[cap->slices.kind[i]]++;
        if (slice_is_kernel((enum slice_kind)cap->slices.kind[i]))
            sum = nanos_add(sum, cap->slices.dur[i]);
    }
    for (size_t i = 0; i < cap->series.n; i++)
        samples += cap->series.at[i].samples.n;
    printf("{\"slices\": %zu, \"lanes\": %zu, \"flows\": %zu, \"samples\": %zu, \"steps\": %zu, "
           "\"kernel_ns\": %lld, \"kinds\": [",
           cap->slices.n, cap->lanes.n, cap->flows.n, samples, cap->marks.n, (long long)sum);
    for (size_t i = 0; i <= SLICE_OTHER; i++)
        printf("%s%zu", i > 0 ? ", " : "", kinds[i]);
    printf("], \"rank\": %lld, \"to_unix\": %lld, \"sources\": [", (long long)cap->facts.rank,
           (long long)cap->clock.to_unix);
    for (size_t i = 0; i < cap->sources.n; i++)
        printf("%s{\"format\": \"%s\", \"rows\": %llu, \"lost\": %llu}", i > 0 ? ", " : "",
               cap->sources.at[i].format, (unsigned long long)cap->sources.at[i].rows,
               (unsigned long long)cap->sources.at[i].lost);
}

int main(int argc, char **argv)
{
    struct input_options options = input_defaults();
    struct capture *cap;
    struct diag d;

    if (argc < 2)
        return 2;
    options.pool = pool_new(argc > 2 ? (size_t)atoi(argv[2]) : 1);
    diag_init(&d);
    enum status st = input_load(argv[1], &options, &d, &cap);
    if (st == ST_OK) {
        print_capture(cap);
        printf("], \"diagnostics\": {");
        for (size_t i = 0; i < d.entries.n; i++)
            printf("%s\"%s\": %llu", i > 0 ? ", " : "", d.entries.at[i].code,
                   (unsigned long long)d.entries.at[i].count);
        printf("}}\n");
        capture_free(cap);
    }
    diag_fini(&d);
    pool_free(options.pool);
    return st == ST_OK ? 0 : 3;
}
