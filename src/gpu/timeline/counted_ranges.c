/*
 * Counters that a profiler left in its trace. See timeline_out.h.
 */
#include "gpu/timeline/timeline_out.h"

#include <math.h>

static double ranges_number_of(const struct attr *a)
{
    return a->type == ATTR_INT ? (double)a->number : a->type == ATTR_REAL ? a->real : NAN;
}

static void ranges_read(const struct capture *cap, attr_run attributes, struct gpu_run *run,
                        struct gpu_kernel *k)
{
    struct attr_walk walk = attrs_walk(&cap->attrs, attributes);
    struct attr attr;

    while (attrs_next(&walk, &attr)) {
        struct gpu_value value = {.name = arena_str(&run->arena, capture_text(cap, attr.key)),
                                  .number = ranges_number_of(&attr)};
        struct str stall;
        int rank, metric = gpu_metric_of_counter(value.name, &rank);
        if (isnan(value.number) || !str_contains(value.name, S("__")))
            continue; /* no counter */
        vec_push(&k->values, value);
        if (metric >= 0)
            k->m[metric] = value.number;
        if (gpu_stall_of_counter(value.name, &stall))
            gpu_kernel_stall(k, stall, value.number);
    }
}

size_t gpu_ranges_read(const struct capture *cap, struct gpu_run *run)
{
    size_t n = run->kernels.n;

    for (size_t i = 0; i < cap->slices.n; i++) {
        struct attr cat = capture_slice_attr(cap, i, KEY_CAT);
        if (cat.type != ATTR_TEXT ||
            !str_equal(capture_text(cap, (strid)cat.bits), S("cuda_profiler_range")))
            continue;
        struct gpu_kernel k = gpu_kernel_none();
        k.id = run->kernels.n;
        k.name = arena_str(&run->arena, capture_text(cap, cap->slices.name[i]));
        ranges_read(cap, cap->slices.set[i], run, &k);
        ranges_read(cap, cap->slices.own[i], run, &k);
        vec_push(&run->kernels, k);
    }
    return run->kernels.n - n;
}
