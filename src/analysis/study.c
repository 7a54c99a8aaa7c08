/*
 * Facts that analyses share, each found once.
 */
#include "analysis/study.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/diagnose/accounting.h"
#include "analysis/diagnose/diagnosis.h"
#include "analysis/diagnose/kernel_families.h"
#include "analysis/idle/aicpu.h"
#include "analysis/idle/bubbles.h"
#include "analysis/idle/evidence.h"
#include "analysis/idle/judgement.h"
#include "analysis/idle/waits.h"
#include "analysis/ops/module_tree.h"
#include "analysis/steps/boundary.h"
#include "analysis/steps/groups.h"
#include "analysis/steps/step_units.h"
#include "analysis/steps/steps.h"

struct study_options study_defaults(void)
{
    return (struct study_options){.min_bubble = 100000, .max_bubbles = 200};
}

struct study_options study_with_passes(void)
{
    struct study_options options = study_defaults();

    options.step_choice = STEP_CHOICE_FOUND;
    return options;
}

struct study_options study_contract(void)
{
    struct study_options options = study_defaults();

    options.is_contract = true;
    return options;
}

void study_begin(struct study *st, const struct capture *cap, struct study_options options)
{
    *st = (struct study){.cap = cap, .options = options};
    arena_init(&st->scratch);
}

void study_end(struct study *st)
{
    if (st->judged != NULL)
        study_end(st->judged);
    arena_free(&st->scratch);
}

void *study_keep(struct arena *arena, const void *at, size_t size, size_t n)
{
    void *kept = arena_array(arena, size, n);

    return n > 0 ? memcpy(kept, at, size * n) : kept;
}

struct study_account {
    int32_t device;
    const struct accounting *is;
    struct study_account *next;
};

const struct accounting *study_account(struct study *st, int32_t device)
{
    struct study_account *a = st->accounts;

    while (a != NULL && a->device != device)
        a = a->next;
    if (a == NULL) {
        a = ARENA_NEW(&st->scratch, struct study_account);
        *a = (struct study_account){device, accounting_of_device(st, device, &st->scratch),
                                    st->accounts};
        st->accounts = a;
    }
    return a->is;
}

struct attr study_attr(const struct capture *cap, size_t slice, strid key)
{
    struct attr a = {.type = ATTR_NONE};

    if (key != 0)
        a = attrs_get(&cap->attrs, cap->slices.own[slice], key);
    if (key != 0 && a.type == ATTR_NONE)
        a = attrs_get(&cap->attrs, cap->slices.set[slice], key);
    return a;
}

int study_by_begin(const void *a, const void *b, void *slices)
{
    const struct slices *s = slices;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return ORDER(s->begin[x], s->begin[y]) ?: ORDER(x, y);
}

bool study_is_kernel(const struct study *st, size_t slice)
{
    enum slice_kind kind = (enum slice_kind)st->cap->slices.kind[slice];
    bool is_idle = kind == SLICE_COPY && st->options.is_contract && !st->options.busy_copies &&
                   capture_is_ascend(st->cap);

    return slice_is_kernel(kind) && !is_idle;
}

struct kernel_order study_kernels(struct study *st)
{
    const struct slices *s = &st->cap->slices;

    if (st->has_kernels)
        return st->kernels;
    uint32_t *order = ARENA_ARRAY(&st->scratch, uint32_t, s->n);
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (study_is_kernel(st, i))
            order[n++] = (uint32_t)i;
    if (n > 0)
        qsort_r(order, n, sizeof(*order), study_by_begin, (void *)s);
    st->kernels = (struct kernel_order){order, n};
    st->has_kernels = true;
    return st->kernels;
}

size_t study_first_kernel(struct study *st, nanos t)
{
    struct kernel_order kernels = study_kernels(st);
    size_t place;

    vec_bisect(place, kernels.n, i, st->cap->slices.begin[kernels.at[i]] < t);
    return place;
}

struct kernel_range study_step_kernels(struct study *st, size_t step)
{
    const struct steps *steps = study_steps(st);
    struct interval window = steps->at[step].window;
    bool is_last = step + 1 == steps->n;

    return (struct kernel_range){
        study_first_kernel(st, window.begin),
        is_last ? study_kernels(st).n : study_first_kernel(st, window.end),
    };
}

bool study_is_comm(const struct capture *cap, size_t slice)
{
    return slice_is_comm((enum slice_kind)cap->slices.kind[slice]);
}

bool study_is_compute(const struct capture *cap, size_t slice)
{
    return cap->slices.kind[slice] == SLICE_COMPUTE || cap->slices.kind[slice] == SLICE_AICPU;
}

/* Kernels come by begin, so that merging needs no sorting. */
struct interval_set study_gather(struct study *st, study_wants *wanted)
{
    struct kernel_order kernels = study_kernels(st);
    const struct slices *s = &st->cap->slices;
    struct interval_set set = {ARENA_ARRAY(&st->scratch, struct interval, kernels.n), 0};

    for (size_t i = 0; i < kernels.n; i++) {
        size_t k = kernels.at[i];
        if (wanted == NULL || wanted(st->cap, k))
            set.at[set.n++] = (struct interval){s->begin[k], slices_end(s, k)};
    }
    interval_merge(&set);
    return set;
}

struct interval_set study_busy(struct study *st)
{
    if (!st->has_busy)
        st->busy = study_gather(st, NULL);
    st->has_busy = true;
    return st->busy;
}

#define STUDY_DEFINE(name)                                                                         \
    const struct name *study_##name(struct study *st)                                              \
    {                                                                                              \
        if (st->name == NULL)                                                                      \
            st->name = name##_find(st);                                                            \
        return st->name;                                                                           \
    }
STUDY_FACTS(STUDY_DEFINE)
