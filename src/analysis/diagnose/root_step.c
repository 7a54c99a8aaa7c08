/*
 * One step that is slower than the others: whether it does more, and what grew.
 */
#include <stdlib.h>

#include "analysis/diagnose/root_find.h"
#include "analysis/diagnose/root_limits.h"
#include "analysis/study.h"

static nanos window_of(const struct root_finder *f, size_t step)
{
    return account_step_time(&f->a->steps[step]);
}

/* A value of a step. */
typedef nanos step_measure(const struct root_finder *f, size_t step, const void *user);

/* The middle of a value over all steps with work but `but`. */
static nanos median_of(const struct root_finder *f, size_t but, step_measure *value,
                       const void *user)
{
    nanos *values = mem_grow(NULL, sizeof(*values), f->a->n + 1);
    size_t n = 0;

    for (size_t i = f->first; i < f->a->n; i++)
        if (i != but && f->a->steps[i].tasks > 0)
            values[n++] = value(f, i, user);
    nanos median = host_timeline_median(values, n);
    mem_free(values);
    return median;
}

/* First calls are a cause of their own. */
static nanos time_value(const struct root_finder *f, size_t step, const void *user)
{
    (void)user;
    return nanos_sub(window_of(f, step), f->a->steps[step].by[ACCOUNT_IDLE + CAUSE_START_UP]);
}

/* What a host that ran ahead leaves of a step: the windows behind a long step are short. */
static nanos compute_value(const struct root_finder *f, size_t step, const void *user)
{
    (void)user;
    return f->a->steps[step].compute;
}

struct deviation {
    step_measure *measure;
    nanos median;
};

static nanos deviation_value(const struct root_finder *f, size_t step, const void *user)
{
    const struct deviation *d = user;

    return llabs(d->measure(f, step, NULL) - d->median);
}

static nanos kernel_value(const struct root_finder *f, size_t step, const void *user)
{
    (void)f;
    return (nanos)((const size_t *)user)[step];
}

static nanos class_value(const struct root_finder *f, size_t step, const void *user)
{
    return f->a->steps[step].by[*(const int *)user];
}

/* ---- shapes ---- */

/* What sums up to the same over operators and their shapes in any order; 0: none is recorded. */
static uint64_t shapes_of_call(const struct root_finder *f, const struct host_call *call)
{
    struct attr shapes = capture_slice_attr(f->cap, call->op, KEY_INPUT_SHAPES);

    if (shapes.type != ATTR_TEXT) /* Ascend has them beside the kernel */
        shapes =
            capture_slice_attr(f->cap, f->a->tasks.at[call->first_task].slice, KEY_INPUT_SHAPES);
    if (shapes.type != ATTR_TEXT)
        return 0;
    uint64_t x = (shapes.text + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
    return (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

/* The sums of all steps, in the scratch memory. */
static const uint64_t *shapes_of_steps(const struct root_finder *f)
{
    uint64_t *sums = ARENA_ARRAY(&f->st->scratch, uint64_t, f->a->n);

    memset(sums, 0, f->a->n * sizeof(*sums));
    for (size_t i = 0; i < f->a->host.n; i++) {
        const struct host_call *call = &f->a->host.calls[i];
        uint32_t step = root_step_of_call(f, call);
        if (call->op != NO_SLICE && call->tasks > 0 && step < f->a->n)
            sums[step] += shapes_of_call(f, call);
    }
    return sums;
}

/* ---- clocks ---- */

/* Kernels of one name in one step. */
struct kernel_sum {
    nanos time;
    size_t n;
};

/* Sums by name and step: name * steps + step. */
struct kernel_sums {
    struct hash names;
    struct kernel_sum *at;
    size_t n;
};

/* Kernels of one name in a step, among the steps that do the same. */
struct name_step {
    uint64_t shapes;
    size_t group, n, step;
    nanos time;
};

ORDER_BY(by_work_and_time, struct name_step,
         ORDER(x->group, y->group) ?: ORDER(x->shapes, y->shapes)
                                         ?: ORDER(x->n, y->n)
                                         ?: ORDER(x->time, y->time)
                                         ?: ORDER(x->step, y->step));

/* Time of compute kernels in a step: all, of names that are slow here, and by how much. */
struct step_clock {
    double all, slowed, more;
};

/* Adds the kernels of a name to each step of a run of steps that do the same, by time: a quarter of
 * them are quicker than the quick one. */
static void compare_with_quick(const struct name_step *at, size_t n, struct step_clock *clocks)
{
    double quick = (double)at[n / 4].time;

    if (at->shapes == 0) /* equal names alone are no equal work */
        quick = 0;

    for (size_t i = 0; i < n; i++) {
        struct step_clock *c = &clocks[at[i].step];
        double now = (double)at[i].time;
        c->all += now;
        if (quick > 0 && now >= quick * ROOT_SLOWED_BY / 100) {
            c->slowed += now;
            c->more += now - quick;
        }
    }
}

static void add_name(const struct root_finder *f, const struct kernel_sum *of_name,
                     const uint64_t *shapes, struct name_step *room, struct step_clock *clocks)
{
    size_t n = 0;

    for (size_t i = f->first; i < f->a->n; i++)
        room[n++] =
            (struct name_step){shapes[i], f->a->steps[i].group, of_name[i].n, i, of_name[i].time};
    qsort(room, n, sizeof(*room), by_work_and_time);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && room[to].group == room[from].group &&
                            room[to].shapes == room[from].shapes && room[to].n == room[from].n;)
            to++;
        compare_with_quick(room + from, to - from, clocks);
    }
}

static struct step_clock *find_clocks(const struct root_finder *f)
{
    struct kernel_sums sums = {0};

    for (size_t i = 0; i < f->a->tasks.n; i++) {
        const struct device_task *t = &f->a->tasks.at[i];
        if (t->class == TASK_COMPUTE && t->step != TASK_NO_STEP &&
            hash_add(&sums.names, f->cap->slices.name[t->slice], (uint32_t)sums.n) == sums.n)
            sums.n++;
    }
    sums.at = ARENA_ARRAY(&f->st->scratch, struct kernel_sum, sums.n * f->a->n);
    memset(sums.at, 0, sums.n * f->a->n * sizeof(*sums.at));
    for (size_t i = 0; i < f->a->tasks.n; i++) {
        const struct device_task *t = &f->a->tasks.at[i];
        uint32_t name;
        if (t->class != TASK_COMPUTE || t->step == TASK_NO_STEP ||
            !hash_get(&sums.names, f->cap->slices.name[t->slice], &name))
            continue;
        struct kernel_sum *s = &sums.at[name * f->a->n + t->step];
        s->time = nanos_add(s->time, nanos_sub(t->end, t->begin));
        s->n++;
    }
    const uint64_t *shapes = shapes_of_steps(f);
    struct step_clock *clocks = ARENA_ARRAY(&f->st->scratch, struct step_clock, f->a->n + 1);
    struct name_step *room = mem_grow(NULL, sizeof(*room), f->a->n + 1);
    for (size_t name = 0; name < sums.n; name++)
        add_name(f, &sums.at[name * f->a->n], shapes, room, clocks);
    mem_free(room);
    hash_free(&sums.names);
    return clocks;
}

void root_find_slow_clock(struct root_finder *f)
{
    nanos worst = 0, run = 0;

    f->clock = (struct slow_step){.step = SIZE_MAX, .cause = ROOT_CLOCK_DROP};
    if (f->steps < ROOT_STEPS_FOR_CLOCK)
        return;
    const struct step_clock *clocks = find_clocks(f);
    for (size_t i = f->first; i < f->a->n; i++) {
        /* What nearly all kernels of a step take more than in quick steps; 0 when only some do. */
        const struct step_clock *c = &clocks[i];
        bool is_slowed =
            f->a->steps[i].tasks > 0 && c->all > 0 && c->slowed >= c->all * ROOT_SLOWED / 100;
        nanos more = is_slowed ? nanos_of(c->more) : 0;
        run += window_of(f, i);
        f->clock.excess += more;
        if (more <= worst)
            continue;
        worst = more;
        f->clock.step = i;
        f->clock.time = window_of(f, i);
    }
    f->clock.run = run;
    f->clock.share = num_share((double)f->clock.excess, (double)run);
    if (f->clock.step != SIZE_MAX)
        f->clock.median = f->clock.time - worst;
}

/* ---- the slow step ---- */

/* Whether a step works on other shapes than all other steps. */
static bool has_own_shapes(const struct root_finder *f, size_t step)
{
    const uint64_t *sums = shapes_of_steps(f);

    for (size_t i = f->first; i < f->a->n; i++)
        if (i != step && f->a->steps[i].tasks > 0 && sums[i] == sums[step])
            return false;
    return sums[step] != 0;
}

static enum root_cause step_cause_of(const struct root_finder *f, const struct slow_step *s,
                                     const size_t *kernels)
{
    size_t most = 0;

    for (size_t i = 0; i < f->a->n; i++)
        if (i != s->step && kernels[i] > most)
            most = kernels[i];
    nanos usual = median_of(f, s->step, kernel_value, kernels);
    bool has_more = (nanos)kernels[s->step] * 100 >= usual * ROOT_MORE_WORK &&
                    kernels[s->step] >= most + ROOT_MORE_KERNELS;
    bool is_larger = s->grown < ACCOUNT_COMM && has_own_shapes(f, s->step);
    return has_more || is_larger ? ROOT_SLOW_STEP_MORE_WORK : ROOT_SLOW_STEP_SAME_WORK;
}

/* The run is all windows, the first one too: a slow first step is a matter of the whole. */
static bool is_slow(const struct root_finder *f, const struct slow_step *s, step_measure *measure)
{
    struct deviation from = {measure, s->median};
    nanos deviation = median_of(f, s->step, deviation_value, &from);
    nanos all = 0;

    for (size_t i = 0; i < f->a->n; i++) {
        nanos time = f->a->steps[i].tasks > 0 ? measure(f, i, NULL) : 0;
        all += time > s->median ? time - s->median : 0;
    }
    double least = (s->step == 0 ? ROOT_SLOW_FIRST : ROOT_SLOW_RUN) / 100.0;
    double excess = (double)s->excess;
    return (double)s->time >= (double)s->median * ROOT_SLOW_TIMES / 100 &&
           excess >= (double)all * ROOT_SLOW_EXCESS / 100 && s->share >= least &&
           excess >= ROOT_SLOW_DEVIATIONS * (double)deviation;
}

/* The slowest step by a measure; step SIZE_MAX when it does not stand out. */
static struct slow_step find_slowest(const struct root_finder *f, step_measure *measure)
{
    struct slow_step s = {.step = SIZE_MAX};
    nanos run = 0;

    for (size_t i = 0; i < f->a->n; i++) {
        if (f->a->steps[i].tasks == 0)
            continue;
        run += window_of(f, i);
        if (s.step == SIZE_MAX || measure(f, i, NULL) > s.time) {
            s.step = i;
            s.time = measure(f, i, NULL);
        }
    }
    s.median = median_of(f, s.step, measure, NULL);
    s.excess = s.time - s.median;
    s.run = run;
    s.share = num_share((double)s.excess, (double)run);
    if (s.step != SIZE_MAX && !is_slow(f, &s, measure))
        s.step = SIZE_MAX;
    return s;
}

void root_find_slow_step(struct root_finder *f)
{
    f->slow = (struct slow_step){.step = SIZE_MAX};
    if (f->steps < 3)
        return;
    struct slow_step s = find_slowest(f, time_value);
    if (s.step == SIZE_MAX)
        s = find_slowest(f, compute_value);
    if (s.step == SIZE_MAX)
        return;
    /* Compute kernels of each step. */
    size_t *kernels = ARENA_ARRAY(&f->st->scratch, size_t, f->a->n);
    for (size_t i = 0; i < f->a->n; i++)
        kernels[i] = 0;
    for (size_t i = 0; i < f->a->tasks.n; i++) {
        const struct device_task *t = &f->a->tasks.at[i];
        if (t->class == TASK_COMPUTE && t->step != TASK_NO_STEP)
            kernels[t->step]++;
    }
    /* The class that has most in this step above its median. */
    s.grown = ACCOUNT_IDLE;
    for (int class = 0; class < ACCOUNT_CLASSES; class ++) {
        nanos more = f->a->steps[s.step].by[class] - median_of(f, s.step, class_value, &class);
        if (more > s.grown_by) {
            s.grown_by = more;
            s.grown = class;
        }
    }
    if (s.step == 0 && s.grown < ACCOUNT_COMM)
        return; /* a first step that computes more is another kind of step: a prefill, a warm-up */
    s.cause = step_cause_of(f, &s, kernels);
    s.kernels = (long long)kernels[s.step] - (long long)median_of(f, s.step, kernel_value, kernels);
    f->slow = s;
}

size_t root_shape_sets(const struct root_finder *f)
{
    const uint64_t *sums = shapes_of_steps(f);
    size_t last = f->first + ROOT_SHAPE_STEPS < f->a->n ? f->first + ROOT_SHAPE_STEPS : f->a->n;
    size_t sets = 0;

    for (size_t i = f->first; i < last; i++) {
        bool is_new = sums[i] != 0;
        for (size_t k = f->first; k < i; k++)
            is_new &= sums[k] != sums[i];
        sets += is_new;
    }
    return sets;
}
