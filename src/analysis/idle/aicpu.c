/*
 * Kernels of the control processor, and how much of their time other work hides.
 */
#include "analysis/idle/aicpu.h"

#include <stdlib.h>

#include "analysis/ops/ops.h"
#include "analysis/steps/steps.h"
#include "analysis/study.h"

__extension__ typedef __int128 wide; /* products of two times */

ENUM_NAMES(aicpu_class_name, enum aicpu_class, "AICPU_MASKED_BUT_UNDESIRABLE",
           "AICPU_PARTIALLY_EXPOSED", "AICPU_EXPOSED_NOT_ALLOWED")

enum aicpu_class aicpu_classify(nanos masked, nanos duration)
{
    if ((wide)masked * 10 >= (wide)duration * 9)
        return AICPU_MASKED;
    return (wide)masked * 10 >= (wide)duration * 2 ? AICPU_PARTIAL : AICPU_EXPOSED;
}

static bool is_core_work(const struct capture *cap, size_t slice)
{
    static const struct str cores[] = {S_INIT("AI_CORE"), S_INIT("AI_VECTOR_CORE"),
                                       S_INIT("MIX_AIC"), S_INIT("MIX_AIV"), S_INIT("FFTS_PLUS")};

    return cap->slices.kind[slice] == SLICE_COMPUTE &&
           str_is_one_of(capture_slice_text(cap, slice, KEY_CORE), cores, ARRAY_LEN(cores));
}

static bool is_other_work(const struct capture *cap, size_t slice)
{
    return cap->slices.kind[slice] != SLICE_AICPU;
}

static int most_exposed_first(const void *a, const void *b)
{
    const struct aicpu_op *x = a, *y = b;
    nanos exposed_x = x->duration - x->masked, exposed_y = y->duration - y->masked;

    return ORDER(exposed_y, exposed_x) ?: str_compare(x->key, y->key);
}

static void set_classes(struct aicpu *a)
{
    for (size_t i = 0; i < a->n; i++) {
        struct aicpu_op *op = &a->ops[i];
        op->masked_ratio = num_share(op->masked, op->duration);
        op->class = aicpu_classify(op->masked, op->duration);
    }
    if (a->n > 0)
        qsort(a->ops, a->n, sizeof(*a->ops), most_exposed_first);
}

/* The calls of one operator in one step: what the step's risk is judged by. */
struct share {
    size_t step;
    nanos duration, masked;
};

static void aicpu_add(nanos *duration, nanos *masked, nanos more_duration, nanos more_masked)
{
    *duration = nanos_add(*duration, more_duration);
    *masked = nanos_add(*masked, more_masked);
}

/* An exposed operator, or a partially exposed one that costs 1 % of the step. */
static bool is_risk(const struct share *share, nanos service)
{
    enum aicpu_class class = aicpu_classify(share->masked, share->duration);
    nanos exposed = nanos_sub(share->duration, share->masked);

    return share->duration > 0 &&
           (class == AICPU_EXPOSED || (class == AICPU_PARTIAL && (wide)exposed * 100 >= service));
}

/* Time in which AICPU kernels ran and nothing else did. */
static void measure_steps(struct study *st, struct aicpu *a)
{
    const struct steps *steps = study_steps(st);
    struct interval_set all = study_busy(st), others = study_gather(st, is_other_work);
    struct interval *room = ARENA_ARRAY(&st->scratch, struct interval, all.n + others.n);

    for (size_t i = 0; i < steps->n; i++) {
        struct interval window = steps->at[i].window;
        nanos busy = interval_length(interval_clip(all, window, room));
        nanos rest = interval_length(interval_clip(others, window, room));
        a->steps[i].filled_idle = nanos_sub(busy, rest);
    }
}

struct tally {
    struct study *st;
    struct aicpu *out;
    struct hash ops, shares; /* key, and (step, key), to their places */
    VEC_OF(struct share) share;
};

static void aicpu_count(struct tally *t, size_t kernel, size_t step, nanos masked)
{
    const struct op_names *names = ops_names(t->st);
    uint32_t key = names->of_kernel[kernel];
    nanos duration = t->st->cap->slices.dur[study_kernels(t->st).at[kernel]];
    uint32_t place = hash_add(&t->ops, key, (uint32_t)t->out->n);

    if (place == t->out->n)
        t->out->ops[t->out->n++].key = names->text[key];
    t->out->ops[place].calls++;
    aicpu_add(&t->out->ops[place].duration, &t->out->ops[place].masked, duration, masked);
    if (step == SIZE_MAX)
        return;
    t->out->steps[step].calls++;
    aicpu_add(&t->out->steps[step].duration, &t->out->steps[step].masked, duration, masked);
    place = hash_add(&t->shares, (uint64_t)step << 32 | key, (uint32_t)t->share.n);
    if (place == t->share.n)
        vec_push(&t->share, ((struct share){.step = step}));
    aicpu_add(&t->share.at[place].duration, &t->share.at[place].masked, duration, masked);
}

static void aicpu_judge(struct tally *t)
{
    const struct steps *steps = study_steps(t->st);

    for (size_t i = 0; i < t->share.n; i++) {
        const struct share *share = &t->share.at[i];
        struct interval window = steps->at[share->step].window;
        if (is_risk(share, nanos_sub(window.end, window.begin)))
            t->out->steps[share->step].is_risk = true;
    }
}

const struct aicpu *aicpu_find(struct study *st)
{
    struct kernel_order kernels = study_kernels(st);
    const struct steps *steps = study_steps(st);
    const struct slices *s = &st->cap->slices;
    struct interval_set work = study_gather(st, is_core_work);
    struct interval *room = ARENA_ARRAY(&st->scratch, struct interval, work.n);
    struct tally tally = {.st = st, .out = ARENA_NEW(&st->scratch, struct aicpu)};
    size_t step = SIZE_MAX; /* before the first one */

    tally.out->steps = ARENA_ARRAY(&st->scratch, struct aicpu_step, steps->n);
    tally.out->ops = ARENA_ARRAY(&st->scratch, struct aicpu_op, ops_names(st)->n);
    for (size_t i = 0; i < kernels.n; i++) {
        size_t slice = kernels.at[i];
        while (step + 1 < steps->n && steps->at[step + 1].window.begin <= s->begin[slice])
            step++;
        if (s->kind[slice] == SLICE_AICPU) {
            struct interval at = {s->begin[slice], slices_end(s, slice)};
            aicpu_count(&tally, i, step, interval_length(interval_clip(work, at, room)));
        }
    }
    aicpu_judge(&tally);
    set_classes(tally.out);
    measure_steps(st, tally.out);
    hash_free(&tally.ops);
    hash_free(&tally.shares);
    vec_free(&tally.share);
    return tally.out;
}
