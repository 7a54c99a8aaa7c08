/*
 * Which threads launch, the main one first, and when each of them is busy.
 */
#include "analysis/diagnose/host_threads.h"

#include <stdlib.h>

struct interval_set host_threads_busy(const struct capture *cap, const struct lane *lane)
{
    const struct slices *s = &cap->slices;
    struct interval_set set = {mem_grow(NULL, sizeof(*set.at), lane->n + 1), 0};

    for (size_t i = lane->first; i < lane->first + lane->n; i++) {
        struct interval *last = set.n > 0 ? &set.at[set.n - 1] : NULL;
        nanos end = slices_end(s, i);
        if (s->kind[i] != SLICE_HOST_OP && s->kind[i] != SLICE_RUNTIME)
            continue;
        if (last == NULL || s->begin[i] > last->end)
            set.at[set.n++] = (struct interval){s->begin[i], end};
        else if (end > last->end)
            last->end = end;
    }
    return set;
}

struct interval_set host_threads_join(struct interval_set a, struct interval_set b)
{
    struct interval_set both = {mem_grow(a.at, sizeof(*a.at), a.n + b.n + 1), a.n + b.n};

    if (b.n > 0)
        memcpy(both.at + a.n, b.at, sizeof(*b.at) * b.n);
    mem_free(b.at);
    interval_merge(&both);
    return both;
}

/* The main thread first: it has the marks of steps, or launches most. */
static int by_weight(const void *a, const void *b)
{
    const struct host_thread *x = a, *y = b;

    if (x->has_steps != y->has_steps)
        return y->has_steps - x->has_steps;
    if (x->launches != y->launches)
        return x->launches < y->launches ? 1 : -1;
    return x->lane < y->lane ? -1 : x->lane > y->lane;
}

size_t host_threads_find(const struct capture *cap, const uint32_t *call_of,
                         struct host_thread *out)
{
    const struct slices *s = &cap->slices;
    size_t n = 0;

    for (size_t i = 0; i < cap->lanes.n; i++) {
        const struct lane *lane = &cap->lanes.at[i];
        struct host_thread t = {.lane = i};
        for (size_t k = lane->first; k < lane->first + lane->n; k++) {
            t.launches +=
                call_of[k] != UINT32_MAX && host_threads_is_host((enum slice_kind)s->kind[k]);
            t.has_steps |= s->kind[k] == SLICE_STEP;
        }
        if (t.launches > 0)
            out[n++] = t;
    }
    if (n > 1)
        qsort(out, n, sizeof(*out), by_weight);
    return n;
}

void host_threads_queues(const struct capture *cap, struct hash *queue, uint32_t *call_of)
{
    const struct slices *s = &cap->slices;

    for (size_t i = 0; i < cap->flows.n; i++) {
        const struct flow *f = &cap->flows.at[i];
        if (f->kind != FLOW_QUEUE || s->kind[f->from] != SLICE_QUEUE ||
            s->kind[f->to] != SLICE_QUEUE || slices_end(s, f->from) > s->begin[f->to])
            continue;
        hash_put(queue, f->to, f->from);
        call_of[f->from] = 0;
    }
}
