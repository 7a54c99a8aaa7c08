/*
 * Times as analyses may take them: no difference of two and no sum of durations leaves 64 bits.
 */
#include "capture/clip_times.h"

/* 36 years of work in all lanes together. Files with more are made up. */
#define MOST_WORK ((nanos)1 << 60)

static bool clip(nanos *t)
{
    nanos was = *t;

    *t = was < NANOS_EARLIEST ? NANOS_EARLIEST : was > NANOS_LATEST ? NANOS_LATEST : was;
    return *t != was;
}

/* Of lengths whose sum must fit, `sum` so far. Unknown ones are -1. */
static bool clip_length(nanos *length, nanos *sum)
{
    if (*length < -1 || *length > MOST_WORK - *sum) {
        *length = 0;
        return true;
    }
    *sum += *length > 0 ? *length : 0;
    return false;
}

/* A slice that is out of range becomes an instant. */
static uint64_t clip_slices(struct slices *s)
{
    nanos work = 0;
    uint64_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        bool is_outside = clip(&s->begin[i]) || s->dur[i] < 0 || s->dur[i] > MOST_WORK - work;
        s->dur[i] = is_outside ? 0 : s->dur[i];
        work += s->dur[i];
        n += is_outside;
    }
    return n;
}

/* What tables beside the timeline say. */
static uint64_t clip_tables(struct capture *cap)
{
    nanos sum = 0;
    uint64_t n = 0;

    for (size_t i = 0; i < cap->comm_ops.n; i++) {
        struct comm_op *c = &cap->comm_ops.at[i];
        nanos *const lengths[] = {&c->elapse, &c->transit, &c->wait, &c->sync, &c->idle};
        n += clip(&c->begin);
        for (size_t k = 0; k < ARRAY_LEN(lengths); k++)
            n += clip_length(lengths[k], &sum);
    }
    for (size_t i = 0; i < cap->step_traces.n; i++) {
        struct step_trace *t = &cap->step_traces.at[i];
        nanos *const lengths[] = {&t->computing,     &t->comm_exposed, &t->overlapped,
                                  &t->communication, &t->free_time,    &t->stage,
                                  &t->bubble,        &t->preparing};
        for (size_t k = 0; k < ARRAY_LEN(lengths); k++)
            n += clip_length(lengths[k], &sum);
    }
    return n;
}

uint64_t capture_clip_times(struct capture *cap)
{
    uint64_t n = clip_slices(&cap->slices) + clip_tables(cap);

    for (size_t i = 0; i < cap->series.n; i++)
        for (size_t k = 0; k < cap->series.at[i].samples.n; k++)
            n += clip(&cap->series.at[i].samples.at[k].at);
    for (size_t i = 0; i < cap->marks.n; i++)
        n += (uint64_t)clip(&cap->marks.at[i].begin) + clip(&cap->marks.at[i].end);
    for (size_t i = 0; i < cap->allocations.n; i++) {
        struct allocation *a = &cap->allocations.at[i];
        n += (uint64_t)clip(&a->begin) + (a->end > a->begin && clip(&a->end));
    }
    return n;
}
