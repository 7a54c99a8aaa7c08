/*
 * The gap before each kernel.
 */
#include "analysis/idle/waits.h"

#include "analysis/study.h"

/* From the table; false when no row has a wait. */
static bool from_table(struct study *st, nanos *waits)
{
    struct kernel_order kernels = study_kernels(st);
    bool any = false;

    for (size_t i = 0; i < kernels.n; i++) {
        struct attr wait = capture_slice_attr(st->cap, kernels.at[i], KEY_WAIT);
        waits[i] = wait.type == ATTR_TIME ? wait.time : -1;
        any |= waits[i] >= 0;
    }
    return any;
}

/* wait = max(0, begin - end of the previous row of the device); the first row waits for nobody. */
static void derive(struct study *st, nanos *waits)
{
    struct kernel_order kernels = study_kernels(st);
    const struct capture *cap = st->cap;
    struct hash last = {0}; /* device -> the kernel before, plus one */

    for (size_t i = 0; i < kernels.n; i++) {
        size_t slice = kernels.at[i];
        uint32_t device = (uint32_t)cap->lanes.at[cap->slices.lane[slice]].key.device;
        uint32_t before = 0;
        waits[i] = 0;
        if (hash_get(&last, device, &before)) {
            nanos gap = nanos_sub(cap->slices.begin[slice],
                                  slices_end(&cap->slices, kernels.at[before - 1]));
            waits[i] = gap > 0 ? gap : 0;
        }
        hash_put(&last, device, (uint32_t)i + 1);
    }
    hash_free(&last);
}

/* Length of the part of [begin, end) that a merged set covers. */
static nanos covered(struct interval_set set, nanos begin, nanos end)
{
    nanos sum = 0;
    size_t first;

    vec_bisect(first, set.n, i, set.at[i].end <= begin);
    for (size_t i = first; i < set.n && set.at[i].begin < end; i++) {
        nanos from = set.at[i].begin > begin ? set.at[i].begin : begin;
        nanos to = set.at[i].end < end ? set.at[i].end : end;
        sum = nanos_add(sum, nanos_sub(to, from));
    }
    return sum;
}

const struct waits *waits_find(struct study *st)
{
    struct kernel_order kernels = study_kernels(st);
    struct waits *w = ARENA_NEW(&st->scratch, struct waits);
    nanos *at = ARENA_ARRAY(&st->scratch, nanos, kernels.n);
    struct interval_set comm = study_gather(st, study_is_comm);

    if (!from_table(st, at)) {
        derive(st, at);
        w->is_derived = true;
    }
    w->at = at;
    w->polluted = ARENA_ARRAY(&st->scratch, nanos, kernels.n);
    for (size_t i = 0; i < kernels.n; i++) {
        nanos begin = st->cap->slices.begin[kernels.at[i]];
        if (at[i] > 0)
            w->polluted[i] = covered(comm, nanos_sub(begin, at[i]), begin);
    }
    return w;
}
