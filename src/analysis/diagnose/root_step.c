/*
 * One step that is slower than the others: whether it does more, and what grew.
 */
#include "analysis/diagnose/root_find.h"
#include "analysis/diagnose/root_limits.h"
#include "analysis/study.h"

static nanos window_of(const struct root_finder *f, size_t step)
{
    return account_step_time(&f->a->steps[step]);
}

static nanos distance(nanos a, nanos b)
{
    return a > b ? a - b : b - a;
}

/* Compute kernels of each step. */
static size_t *count_kernels(const struct root_finder *f)
{
    size_t *counts = ARENA_ARRAY(&f->st->scratch, size_t, f->a->n);

    for (size_t i = 0; i < f->a->n; i++)
        counts[i] = 0;
    for (size_t i = 0; i < f->a->tasks.n; i++) {
        const struct device_task *t = &f->a->tasks.at[i];
        if (t->class == TASK_COMPUTE && t->step != TASK_NO_STEP)
            counts[t->step]++;
    }
    return counts;
}

/* The middle of a value over all steps with work but `but`. */
static nanos median_of(const struct root_finder *f, size_t but,
                       nanos (*value)(const struct root_finder *, size_t, const void *),
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

static nanos time_value(const struct root_finder *f, size_t step, const void *user)
{
    (void)user;
    return window_of(f, step);
}

static nanos deviation_value(const struct root_finder *f, size_t step, const void *user)
{
    return distance(window_of(f, step), *(const nanos *)user);
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

/* The class that has most in this step above its median. */
static void find_grown(const struct root_finder *f, struct slow_step *s)
{
    s->grown = ACCOUNT_IDLE;
    for (int class = 0; class < ACCOUNT_CLASSES; class ++) {
        nanos more = f->a->steps[s->step].by[class] - median_of(f, s->step, class_value, &class);
        if (more > s->grown_by) {
            s->grown_by = more;
            s->grown = class;
        }
    }
}

/* Sums of kernels of one name, inside a step and outside of it. */
struct kernel_sums {
    nanos in, out;
    size_t n_in, n_out;
};

/* Whether most kernel time of the step is of kernels that last longer there. */
static bool is_slowed(const struct root_finder *f, size_t step)
{
    struct hash names = {0};
    VEC_OF(struct kernel_sums) sums = {0};
    double slowed = 0, all = 0;

    for (size_t i = 0; i < f->a->tasks.n; i++) {
        const struct device_task *t = &f->a->tasks.at[i];
        if (t->class != TASK_COMPUTE || t->step == TASK_NO_STEP)
            continue;
        uint32_t at = hash_add(&names, f->cap->slices.name[t->slice], (uint32_t)sums.n);
        if (at == sums.n)
            vec_push(&sums, ((struct kernel_sums){0}));
        struct kernel_sums *s = &sums.at[at];
        nanos *sum = t->step == step ? &s->in : &s->out;
        *sum = nanos_add(*sum, nanos_sub(t->end, t->begin));
        *(t->step == step ? &s->n_in : &s->n_out) += 1;
    }
    for (size_t i = 0; i < sums.n; i++) {
        const struct kernel_sums *s = &sums.at[i];
        double in = num_share((double)s->in, (double)s->n_in);
        double out = num_share((double)s->out, (double)s->n_out);
        all += (double)s->in;
        slowed += s->n_out > 0 && in >= out * ROOT_SLOWED_BY / 100 ? (double)s->in : 0;
    }
    vec_free(&sums);
    hash_free(&names);
    return all > 0 && slowed >= all * ROOT_SLOWED / 100;
}

static enum root_cause cause_of(const struct root_finder *f, const struct slow_step *s,
                                const size_t *kernels)
{
    size_t most = 0;

    for (size_t i = 0; i < f->a->n; i++)
        if (i != s->step && kernels[i] > most)
            most = kernels[i];
    nanos usual = median_of(f, s->step, kernel_value, kernels);
    if ((nanos)kernels[s->step] * 100 >= usual * ROOT_MORE_WORK &&
        kernels[s->step] >= most + ROOT_MORE_KERNELS)
        return ROOT_SLOW_STEP_MORE_WORK;
    return is_slowed(f, s->step) ? ROOT_CLOCK_DROP : ROOT_SLOW_STEP_SAME_WORK;
}

/* The run is all windows, the first one too: a slow first step is a matter of the whole. */
static bool is_slow(const struct root_finder *f, const struct slow_step *s)
{
    nanos deviation = median_of(f, s->step, deviation_value, &s->median);
    nanos all = 0;

    for (size_t i = 0; i < f->a->n; i++)
        all += window_of(f, i) > s->median && f->a->steps[i].tasks > 0 ? window_of(f, i) - s->median
                                                                       : 0;
    double least = (s->step == 0 ? ROOT_SLOW_FIRST : ROOT_SLOW_RUN) / 100.0;
    double excess = (double)s->excess;
    return (double)s->time >= (double)s->median * ROOT_SLOW_TIMES / 100 &&
           excess >= (double)all * ROOT_SLOW_EXCESS / 100 && s->share >= least &&
           excess >= ROOT_SLOW_DEVIATIONS * (double)deviation;
}

void root_find_slow_step(struct root_finder *f)
{
    struct slow_step s = {.step = SIZE_MAX};
    nanos run = 0;
    size_t whole = 0;

    f->slow = s;
    for (size_t i = 0; i < f->a->n; i++) {
        if (f->a->steps[i].tasks == 0)
            continue;
        run += window_of(f, i);
        whole += i >= f->first;
        if (s.step == SIZE_MAX || window_of(f, i) > s.time) {
            s.step = i;
            s.time = window_of(f, i);
        }
    }
    if (whole < 3)
        return;
    s.median = median_of(f, s.step, time_value, NULL);
    s.excess = s.time - s.median;
    s.share = num_share((double)s.excess, (double)run);
    if (!is_slow(f, &s))
        return;
    const size_t *kernels = count_kernels(f);
    find_grown(f, &s);
    s.cause = cause_of(f, &s, kernels);
    s.kernels = (long long)kernels[s.step] - (long long)median_of(f, s.step, kernel_value, kernels);
    f->slow = s;
}
