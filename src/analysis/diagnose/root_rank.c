/*
 * Largest first, but for causes that are easier to act on than a general one.
 */
#include "analysis/diagnose/root_find.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/diagnose/limits.h"
#include "analysis/diagnose/root_limits.h"
#include "base/tables/ranked.h"

ORDER_BY(by_saving, struct found_cause,
         ORDER(y->saving, x->saving) ?: strcmp(root_causes[x->cause].id, root_causes[y->cause].id));

bool root_may_be_profiler(const struct found_cause *c)
{
    if (c->is_recorded)
        return true;
    double least = 1 - (1 - c->saving) * ROOT_HOST_ERROR / 100.0;

    return root_has(c, ROOT_OF_LAUNCHES) && least < ROOT_NAMED / 100.0;
}

static void lead(struct root_finder *f, size_t i)
{
    struct found_cause c = f->found[i];

    memmove(&f->found[1], &f->found[0], i * sizeof(*f->found));
    f->found[0] = c;
}

/* Small elementwise kernels save by their launches; then the launches are the matter. */
static bool is_rather_launch(const struct root_finder *f)
{
    nanos chain = f->by[ACCOUNT_COMPUTE + FAMILY_ELEMENTWISE] +
                  f->by[ACCOUNT_COMPUTE + FAMILY_LAYOUT] + f->by[ACCOUNT_COMPUTE + FAMILY_RANDOM];

    return f->by[ACCOUNT_IDLE + CAUSE_LAUNCH] > chain;
}

/* Whether a specific cause is to be named before a generic one. */
static bool is_specific(const struct found_cause *c, const struct found_cause *generic)
{
    bool is_chain = generic->cause == ROOT_ELEMENTWISE_UNFUSED;

    if (is_chain && c->cause == ROOT_LAYOUT_COPIES) /* casts and joins are part of a chain */
        return false;
    if (c->is_share) /* nothing shows that it can be saved; ranks that launch late are awaited */
        return false;
    if (c->cause == ROOT_HOST_UNTRACED) /* nothing that could be acted on has a name */
        return false;
    if (c->cause == ROOT_START_UP && !generic->is_share) /* is no part of any of the others */
        return false;
    if (is_chain && c->cause == ROOT_FP64_USED) /* wrong in every kernel of it */
        return c->share >= ROOT_SPECIFIC / 100.0 * generic->share;
    /* Beside launches in general, tasks count by their own time alone; an optimizer is its
     * launches. */
    bool is_of_tasks = root_has(c, ROOT_OF_TASKS) && c->cause != ROOT_OPTIMIZER_UNFUSED;
    return (generic->cause == ROOT_LAUNCH_BOUND && is_of_tasks && c->share < c->saving
                ? c->share
                : c->saving) >= ROOT_SPECIFIC / 100.0 * generic->saving;
}

static bool gives_way(const struct found_cause *c)
{
    return root_has(c, ROOT_GENERIC) || root_may_be_profiler(c);
}

/* Whether a cause saves more on top of another one than that one does: then they are two things,
 * and the larger one limits the run. */
static bool is_larger_still(struct root_finder *f, const struct found_cause *c,
                            const struct found_cause *other)
{
    bool is_part = root_has(c, ROOT_OF_TASKS) && root_has(other, ROOT_OF_TASKS); /* same kernels */
    if (f->w == NULL || is_part || c->is_share || other->is_share ||
        root_causes[c->cause].whatif == NULL || root_causes[other->cause].whatif == NULL)
        return false;
    double alone = root_run(f, other->cause, ROOT_HEALTHY);
    double more = root_run(f, other->cause, c->cause) - alone;
    return (more < c->saving ? more : c->saving) > other->saving;
}

/* A specific cause with half of a generic or doubtful one's saving is easier to act on, and so is
 * one with half of what no change hides. */
static void prefer_specific(struct root_finder *f)
{
    const struct found_cause *first = &f->found[0];

    if (!gives_way(first) && !first->is_share)
        return;
    for (size_t i = 1; i < f->n; i++)
        if (!gives_way(&f->found[i]) && is_specific(&f->found[i], first) &&
            !is_larger_still(f, first, &f->found[i])) {
            lead(f, i);
            return;
        }
}

/* Puts a cause in front if it saves so much. */
static void prefer(struct root_finder *f, enum root_cause cause, double least)
{
    for (size_t i = 1; i < f->n; i++)
        if (f->found[i].cause == cause && f->found[i].saving >= least)
            lead(f, i);
}

/* Whether of the copies that run alone most use memory that is not pinned. */
static bool are_mostly_pageable(const struct root_finder *f)
{
    nanos pageable =
        nanos_add(f->by[ACCOUNT_COPY + COPY_H2D_PAGEABLE], f->by[ACCOUNT_COPY + COPY_D2H_PAGEABLE]);

    return root_share(f, pageable) >= root_copies_alone(f) / 2;
}

/* One step tells more than what it is full of; compilers name themselves. */
static void prefer_step(struct root_finder *f)
{
    if (f->found[0].cause == ROOT_COMPILATION || f->found[0].cause == ROOT_START_UP ||
        f->found[0].in_slow_step < ROOT_IN_STEP / 100.0)
        return;
    for (size_t i = 1; i < f->n; i++)
        if (root_has(&f->found[i], ROOT_OF_STEP) && f->found[i].saving >= ROOT_NAMED / 100.0)
            lead(f, i);
}

/* Where nothing saves enough without the profiler, long host work that the recording shows may
 * still be real: what recording costs is an estimate. Short times are not told from it. */
static void take_recorded(struct root_finder *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->found[i].saving >= ROOT_NAMED / 100.0 && !root_may_be_profiler(&f->found[i]))
            return;
    for (size_t i = 0; i < f->n; i++) {
        struct found_cause *c = &f->found[i];
        c->is_recorded = root_has(c, ROOT_OF_STRETCHES | ROOT_OF_CALLS) &&
                         c->profiled_saving >= ROOT_PROFILER / 100.0;
        if (c->is_recorded)
            c->saving = c->profiled_saving;
    }
}

/* What nobody would believe gives way to what is seen and saves half of it. */
static void prefer_trusted(struct root_finder *f)
{
    if (f->w == NULL || root_confidence(f, &f->found[0]) >= ROOT_POSSIBLE / 100.0)
        return;
    for (size_t i = 1; i < f->n; i++)
        if (f->found[i].saving >= root_least(f, f->found[i].cause, ROOT_NAMED) &&
            f->found[i].saving >= ROOT_SPECIFIC / 100.0 * f->found[0].saving &&
            root_confidence(f, &f->found[i]) >= ROOT_POSSIBLE / 100.0) {
            lead(f, i);
            return;
        }
}

bool root_rank(struct root_finder *f)
{
    const struct found_cause *first = &f->found[0];
    double named = ROOT_NAMED / 100.0, specific = ROOT_SPECIFIC / 100.0;
    size_t n = 0;

    take_recorded(f);
    for (size_t i = 0; i < f->n; i++)
        if (f->found[i].saving >= root_least(f, f->found[i].cause, ROOT_LISTED))
            f->found[n++] = f->found[i];
    f->n = n;
    if (n == 0)
        return false;
    qsort(f->found, n, sizeof(*f->found), by_saving);
    if (first->cause == ROOT_ELEMENTWISE_UNFUSED && is_rather_launch(f))
        prefer(f, ROOT_LAUNCH_BOUND, specific * first->saving);
    prefer_specific(f);
    /* Whether data that is read back is needed cannot be seen; that its memory is not pinned can.
     */
    if (first->cause == ROOT_COPY_UNNEEDED)
        prefer(f, ROOT_PAGEABLE_COPY, named);
    if (first->cause == ROOT_COPY_EXPOSED)
        prefer(f, ROOT_PAGEABLE_COPY,
               are_mostly_pageable(f) ? named : fmax(named, specific * first->saving));
    if (first->cause == ROOT_ALLOCATOR) /* why memory is made again tells more than that it is */
        prefer(f, ROOT_VARIABLE_SHAPES, 0);
    prefer_step(f);
    if (root_has(first,
                 ROOT_OF_TASKS)) /* kernels slow in some steps alone are no matter of kernels */
        prefer(f, ROOT_CLOCK_DROP, named);
    prefer_trusted(f);
    bool is_hidden = first->is_share && !root_has(first, ROOT_WHILE_IDLE) &&
                     num_share((double)f->by[ACCOUNT_IDLE + CAUSE_UNKNOWN], (double)f->window) >
                         first->saving; /* most of the time cannot be explained */
    return first->saving >= root_least(f, first->cause, ROOT_NAMED) && !is_hidden;
}

/* ---- confidence ---- */

static double evidence_of(const struct root_finder *f, const struct found_cause *c)
{
    double linked = num_share((double)f->a->host.links, (double)(f->a->tasks.n - f->a->orphans));
    double score = linked < LIMIT_LINKED / 100.0 ? 0.6 : 1;

    if (c->cause == ROOT_START_UP) /* once: steps have no part in it */
        return score;

    bool has_shapes = (f->cap->has & HAS_SHAPES) != 0 && c->graph_share < 0.5;
    /* Without shapes most that is wrong with kernels cannot be seen. */
    if ((root_has(c, ROOT_NEEDS_SHAPES) || c->cause == ROOT_HEALTHY) && !has_shapes)
        score *= 0.5;
    /* Work that nobody is seen to launch belongs to the step in whose time it runs, which may be
     * another. */
    if (root_has(c, ROOT_OF_STEP) && score < 1)
        score *= 0.5;
    if (f->steps < 3)
        score *= 0.4;
    bool uses_device = root_has(c, ROOT_OF_TASKS) || c->cause == ROOT_HEALTHY;
    return uses_device && (f->w->is_device_assumed || f->w->device == NULL) ? score * 0.7 : score;
}

double root_confidence(const struct root_finder *f, const struct found_cause *c)
{
    /* Distance of the quartiles of the steps' times, as a share of the median. */
    nanos *values = mem_grow(NULL, sizeof(*values), f->a->n + 1);
    size_t n = 0;

    for (size_t i = f->first; i < f->a->n; i++)
        if (f->a->steps[i].tasks > 0)
            values[n++] = account_step_time(&f->a->steps[i]);
    if (n > 0)
        qsort(values, n, sizeof(*values), ranked_order);
    nanos low = n > 0 ? values[n / 4] : 0, middle = n > 0 ? values[n / 2] : 0,
          high = n > 0 ? values[n * 3 / 4] : 0;
    mem_free(values);
    double spread = num_share((double)high - (double)low, (double)middle),
           apart = c->saving - c->profiled_saving;
    double error = f->w->replay->identity_error;
    double score = evidence_of(f, c) * (error <= 0.02                       ? 1
                                        : error <= 0.05                     ? 0.8
                                        : error <= ROOT_POOR_REPLAY / 100.0 ? 0.5
                                                                            : 0.2);
    if (!root_has(c, ROOT_OF_STEP) && c->cause != ROOT_START_UP)
        score *= spread <= 0.1 ? 1 : spread <= 0.5 ? 0.8 : 0.6;
    if (apart > 0.15 || apart < -0.15)
        score *= 0.7;
    if (c->is_share) /* a fact, but not what would be saved */
        return ROOT_OF_SHARE / 100.0;
    if (root_may_be_profiler(c) && score >= ROOT_LIKELY / 100.0)
        score = ROOT_DOUBTED / 100.0;
    return root_has(c, ROOT_WEAK) ? score * 0.7 : score;
}

struct root_shares root_shares_of(const struct root_finder *f)
{
    double copies = root_copies_alone(f) * (double)f->window;
    nanos idle = 0;
    nanos latency = f->by[ACCOUNT_IDLE + CAUSE_DEVICE_LATENCY] - f->waits;

    for (int cause = 0; cause < IDLE_CAUSES; cause++)
        idle += f->by[ACCOUNT_IDLE + cause];
    double busy = (double)(f->window - idle), bare = (double)f->window;
    if (profiler_cost_is_known(f->w->cost) && f->w->profiled > 0)
        bare *= (double)f->w->bare / (double)f->w->profiled;
    double least = busy + (double)latency;
    return (struct root_shares){
        .comm = num_share((double)f->by[ACCOUNT_COMM], bare),
        .copies = num_share(copies, bare),
        .idle = bare > least ? num_share(bare - least, bare) : 0,
    };
}
