/*
 * The profiler's own sums against those of the timeline.
 */
#include "analysis/idle/selfcheck.h"

#include <math.h>

#include "analysis/idle/bubbles.h"
#include "analysis/idle/waits.h"
#include "analysis/steps/steps.h"
#include "analysis/study.h"
#include "text/anomaly.h"

struct checker {
    struct study *st;
    VEC_OF(struct selfcheck) list;
};

/* Equal within `share` of the expected value and `slack` besides. */
static void selfcheck_compare(struct checker *c, struct phrase what, double expected, double actual,
                              double share, double slack)
{
    bool is_ok = fabs(expected - actual) <= fabs(expected) * share + slack;
    struct str name = phrase_text(LANG_EN, &c->st->scratch, what);

    vec_push(&c->list, ((struct selfcheck){name, what, expected, actual, is_ok}));
}

static struct phrase of_step(struct checker *c, const struct message *m, struct str step)
{
    return PHRASE(&c->st->scratch, m, PLACE("step", step));
}

static const struct step_trace *trace_of(const struct capture *cap, const struct step *step)
{
    for (size_t i = 0; i < cap->step_traces.n; i++) {
        const struct step_trace *t = &cap->step_traces.at[i];
        int64_t number;
        if (num_i64(capture_text(cap, t->step), &number) ? number == step->number
                                                         : cap->step_traces.n == 1)
            return t;
    }
    return NULL;
}

/* step_trace_time prints microseconds with three decimals computed in doubles. */
static void check_steps(struct checker *c)
{
    const struct steps *steps = study_steps(c->st);
    const struct bubbles *b = study_bubbles(c->st);

    for (size_t i = 0; i < steps->n; i++) {
        const struct step *step = &steps->at[i];
        const struct step_trace *t = trace_of(c->st->cap, step);
        if (t == NULL)
            continue;
        selfcheck_compare(c, of_step(c, &anomaly_text.check_busy, step->id),
                          (double)(t->computing + t->comm_exposed) / 1e3,
                          (double)b->metrics[i].busy / 1e3, 0.0005, 0.1);
        selfcheck_compare(c, of_step(c, &anomaly_text.check_free, step->id),
                          (double)t->free_time / 1e3, (double)b->metrics[i].internal / 1e3, 0.0005,
                          0.1);
        if (t->preparing >= 0 && steps->source == STEPS_PROFILER)
            selfcheck_compare(c, of_step(c, &anomaly_text.check_preparing, step->id),
                              (double)t->preparing / 1e3, (double)b->metrics[i].prelaunch / 1e3, 0,
                              0.5);
    }
}

/* The wait column against the gap to the previous row, on 99 of 100 rows. */
static void check_waits(struct checker *c)
{
    const struct waits *waits = study_waits(c->st);
    struct kernel_order kernels = study_kernels(c->st);
    const struct slices *s = &c->st->cap->slices;
    size_t compared = 0, near = 0;

    if (waits->is_derived)
        return;
    for (size_t i = 1; i < kernels.n; i++) {
        nanos gap = nanos_sub(s->begin[kernels.at[i]], slices_end(s, kernels.at[i - 1]));
        if (waits->at[i] < 0)
            continue;
        compared++;
        nanos apart = nanos_sub(waits->at[i], gap > 0 ? gap : 0);
        near += apart <= 300 && apart >= -300;
    }
    if (compared > 0)
        selfcheck_compare(c, phrase_plain(&anomaly_text.check_waits), (double)compared,
                          (double)near, 0.01, 0);
}

static void check_comm(struct checker *c)
{
    const struct capture *cap = c->st->cap;
    struct kernel_order kernels = study_kernels(c->st);
    double told = 0, seen = 0;

    for (size_t i = 0; i < cap->comm_ops.n; i++)
        told += (double)cap->comm_ops.at[i].elapse;
    for (size_t i = 0; i < kernels.n; i++)
        if (cap->slices.kind[kernels.at[i]] == SLICE_COMM)
            seen += (double)cap->slices.dur[kernels.at[i]];
    if (cap->comm_ops.n > 0)
        selfcheck_compare(c, phrase_plain(&anomaly_text.check_collectives), told / 1e6, seen / 1e6,
                          0.05, 0);
}

/* Files that tell of the same kernels tell of as many, before or after doubles were joined. */
static void check_counts(struct checker *c)
{
    const struct capture *cap = c->st->cap;
    size_t here = study_kernels(c->st).n;

    for (size_t i = 0; i < cap->told.n; i++) {
        uint64_t told = cap->told.at[i].count;
        struct phrase what = PHRASE(&c->st->scratch, &anomaly_text.check_kernels,
                                    PLACE("file", str_basename(str_of(cap->told.at[i].path))));
        selfcheck_compare(c, what, (double)told,
                          (double)(told == cap->kernels_read ? cap->kernels_read : here), 0, 0);
    }
}

const struct selfchecks *selfcheck_find(struct study *st)
{
    struct selfchecks *out = ARENA_NEW(&st->scratch, struct selfchecks);
    struct checker c = {.st = st};

    check_steps(&c);
    check_waits(&c);
    check_comm(&c);
    check_counts(&c);
    out->n = c.list.n;
    out->at = STUDY_KEEP(&st->scratch, c.list);
    vec_free(&c.list);
    return out;
}
