/*
 * Operators around launches looked up by shape, and their work given to kernels.
 */
#include "analysis/ops/kernel_work.h"

#include "analysis/diagnose/limits.h"
#include "analysis/diagnose/roof.h"
#include "analysis/ops/op_tree.h"
#include "analysis/ops/slice_work.h"

/* An operator whose work is known: its kernels together. */
struct worked {
    uint32_t work;    /* in `works` */
    uint32_t longest; /* place of that kernel, the first of equal ones */
    nanos time;
    double roof;   /* of all together */
    bool is_wrong; /* its shapes do not fit its time */
};

struct finder {
    struct study *st;
    const struct capture *cap;
    const struct op_tree *tree;
    struct kernel_works *out;
    struct kernel_work *at;
    struct slice_works works;
    struct hash of_slice; /* place in `worked` */
    VEC_OF(struct worked) worked;
    uint32_t *worked_of; /* by kernel; OP_TREE_NONE: none */
};

/* ---- looked up ---- */

/* The work of a slice if it is known; SLICE_WORKS_NONE if not. */
static uint32_t work_of(struct finder *f, size_t slice, bool is_kernel, enum work_state *state)
{
    uint32_t work = slice_works_find(&f->works, slice, is_kernel);

    if (work == SLICE_WORKS_NONE)
        return SLICE_WORKS_NONE;
    *state = WORK_NO_RULE;
    return f->works.at.at[work].kind != RECORDED_WORK_UNKNOWN ? work : SLICE_WORKS_NONE;
}

/* The slice that tells a kernel's work: itself, or an operator around its launch. */
static uint32_t teller_of(struct finder *f, size_t kernel, uint32_t *work, enum work_state *state)
{
    const struct slices *s = &f->cap->slices;
    uint32_t slice = study_kernels(f->st).at[kernel], at = f->tree->launch[kernel];

    *state = WORK_NO_OPERATOR;
    *work = work_of(f, slice, true, state);
    if (*work != SLICE_WORKS_NONE)
        return slice;
    for (; at != OP_TREE_NONE; at = f->tree->parent[at]) {
        if (s->kind[at] != SLICE_HOST_OP)
            continue;
        if (*state == WORK_NO_OPERATOR)
            *state = WORK_NO_SHAPES;
        *work = work_of(f, at, false, state);
        if (*work != SLICE_WORKS_NONE)
            return at;
    }
    return OP_TREE_NONE;
}

static void work_add_kernel(struct finder *f, size_t kernel)
{
    uint32_t slice = study_kernels(f->st).at[kernel], work;
    nanos time = f->cap->slices.dur[slice];
    enum work_state state = WORK_OTHER;

    f->worked_of[kernel] = OP_TREE_NONE;
    if (f->cap->slices.kind[slice] == SLICE_COMPUTE || f->cap->slices.kind[slice] == SLICE_AICPU) {
        uint32_t teller = teller_of(f, kernel, &work, &state);
        if (teller != OP_TREE_NONE) {
            uint32_t fresh = (uint32_t)f->worked.n, place = hash_add(&f->of_slice, teller, fresh);
            if (place == fresh)
                vec_push(&f->worked, ((struct worked){.work = work, .longest = (uint32_t)kernel}));
            struct worked *worked = &f->worked.at[place];
            worked->time = nanos_add(worked->time, time);
            if (time > f->cap->slices.dur[study_kernels(f->st).at[worked->longest]])
                worked->longest = (uint32_t)kernel;
            f->worked_of[kernel] = place;
        }
    }
    f->at[kernel].state = (uint8_t)state;
}

/* ---- at the roof ---- */

static const enum roof_kind roof_kinds[] = {
    [RECORDED_WORK_PRODUCT] = ROOF_PRODUCT,
    [RECORDED_WORK_CONVOLUTION] = ROOF_CONVOLUTION,
    [RECORDED_WORK_ATTENTION] = ROOF_ATTENTION,
};

/* Nanoseconds of an operator that took `now`; 0: not known. */
static double roof_of(const struct device *d, const struct recorded_work *w, nanos now)
{
    double memory = roof_bytes_time(d, w->bytes, LIMIT_MEMORY_ROOF), time = memory;

    if (w->kind != RECORDED_WORK_MEMORY) {
        enum peak peak = device_product_peak(d, w->type);
        double flops = w->is_causal ? w->flops / 2 : w->flops;
        double compute =
            roof_flops_time(d, flops, peak, roof_percent(d, roof_kinds[w->kind], peak, w->head));
        if (compute <= 0)
            return 0;
        time = compute > memory ? compute : memory;
    }
    if (time <= 0)
        return 0;
    time = time > LIMIT_LEAST_KERNEL ? time : LIMIT_LEAST_KERNEL;
    return time < (double)now ? time : (double)now;
}

/* Caches are some times faster than memory, but not so many times. */
enum { FIT_BYTES = 10, FIT_FLOPS = 2 };

static void rate_kernels(struct finder *f, struct kernel_order kernels)
{
    for (size_t i = 0; i < f->worked.n; i++) {
        struct worked *worked = &f->worked.at[i];
        const struct recorded_work *w = &f->works.at.at[worked->work];
        struct kernel_work *k = &f->at[worked->longest];
        bool is_matrix = w->kind != RECORDED_WORK_MEMORY;
        enum peak peak = device_product_peak(f->out->device, w->type);
        double least = is_matrix ? roof_flops_time(f->out->device, w->flops, peak, 100) : 0;
        worked->is_wrong =
            !(least <= FIT_FLOPS * (double)worked->time) ||
            !(roof_bytes_time(f->out->device, w->bytes, 100) <= FIT_BYTES * (double)worked->time);
        if (worked->is_wrong)
            continue;
        k->flops = w->flops;
        k->bytes = w->bytes;
        k->matrix = is_matrix ? w->flops : 0;
        k->peak = least;
        worked->roof = roof_of(f->out->device, w, worked->time);
    }
    for (size_t i = 0; i < kernels.n; i++) {
        if (f->worked_of[i] == OP_TREE_NONE)
            continue;
        const struct worked *worked = &f->worked.at[f->worked_of[i]];
        if (worked->time > 0)
            f->at[i].roof =
                worked->roof * (double)f->cap->slices.dur[kernels.at[i]] / (double)worked->time;
        f->at[i].state = worked->is_wrong ? WORK_NO_FIT : WORK_KNOWN;
    }
    for (size_t i = 0; i < kernels.n; i++) {
        nanos *sum = &f->out->by[f->at[i].state];
        *sum = nanos_add(*sum, f->cap->slices.dur[kernels.at[i]]);
    }
}

const struct kernel_works *kernel_works_find(struct study *st, const struct device *device)
{
    struct kernel_order kernels = study_kernels(st);
    struct kernel_works *out = ARENA_NEW(&st->scratch, struct kernel_works);
    struct finder f = {
        .st = st,
        .cap = st->cap,
        .tree = study_op_tree(st),
        .out = out,
        .at = ARENA_ARRAY(&st->scratch, struct kernel_work, kernels.n),
        .works = slice_works_of(st->cap),
        .worked_of = mem_grow(NULL, sizeof(uint32_t), kernels.n + 1),
    };

    *out = (struct kernel_works){.device = device, .at = f.at};
    if (device == NULL)
        out->device = roof_device(st, &out->is_assumed);
    for (size_t i = 0; i < kernels.n; i++)
        work_add_kernel(&f, i);
    rate_kernels(&f, kernels);
    mem_free(f.worked_of);
    slice_works_free(&f.works);
    vec_free(&f.worked);
    hash_free(&f.of_slice);
    return out;
}
