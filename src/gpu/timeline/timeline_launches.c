/*
 * Launches: how long from the call to the kernel, and who waited for whom.
 */
#include "gpu/timeline/timeline_in.h"

#include <string.h>

struct timeline_launch timeline_launch_of(const struct timeline *t, const struct timeline_device *d,
                                          const struct device_task *op, nanos free_at)
{
    const struct slices *s = &t->cap->slices;
    uint32_t call = timeline_call(d, op);

    if (call == TIMELINE_NONE)
        return (struct timeline_launch){0};
    struct timeline_launch l = {
        .is_known = true, .begin = s->begin[call], .end = slices_end(s, call)};
    nanos ready = l.end > free_at ? l.end : free_at;
    l.latency = nanos_sub(op->begin, l.begin);
    l.queue = op->begin > ready ? nanos_sub(op->begin, ready) : 0;
    return l;
}

/* A stream's ends so far. */
struct ends {
    nanos work, kernel;
    bool has_kernel;
};

struct lists {
    VEC_OF(nanos) latency, cost, queue;
};

static void launches_add(struct timeline *t, struct timeline_device *d, struct lists *lists,
                         size_t i, const struct ends *ends)
{
    const struct device_task *op = &d->tasks[i];
    struct timeline_launches *out = &d->launches;
    struct timeline_launch l = timeline_launch_of(t, d, op, ends->work);
    bool is_first = (d->flags[i] & TIMELINE_FIRST) != 0;
    nanos dry = ends->kernel;

    if (!l.is_known) {
        out->unlinked++;
        return;
    }
    vec_push(&lists->queue, l.queue);
    if (is_first) {
        vec_push(&lists->latency, l.latency);
        vec_push(&lists->cost, nanos_sub(l.end, l.begin));
        out->overlapped += op->begin < l.end;
    }
    if (!ends->has_kernel || (!is_first && (d->flags[i] & TIMELINE_NODE) != 0))
        return;
    /* The stream ran dry before the call began, or while it was under way. */
    if (l.begin > dry) {
        out->host_bound++;
        out->host_bound_gap = nanos_add(out->host_bound_gap, nanos_sub(op->begin, dry));
    } else if (l.end > dry && op->begin > dry) {
        out->in_launch++;
        out->in_launch_gap = nanos_add(out->in_launch_gap, nanos_sub(op->begin, dry));
    }
}

void timeline_mark_first(struct timeline *t, struct timeline_device *d)
{
    size_t words = t->cap->slices.n / 64 + 1;
    uint64_t *seen = mem_grow(NULL, sizeof(*seen), words);

    memset(seen, 0, words * sizeof(*seen));
    for (size_t i = 0; i < d->n; i++) {
        uint32_t call = timeline_call(d, &d->tasks[i]);
        if (!timeline_is_kernel(&d->tasks[i]) || call == TIMELINE_NONE)
            continue;
        uint64_t bit = UINT64_C(1) << call % 64;
        if ((seen[call / 64] & bit) == 0)
            d->flags[i] |= TIMELINE_FIRST;
        seen[call / 64] |= bit;
    }
    mem_free(seen);
}

void timeline_find_launches(struct timeline *t, struct timeline_device *d)
{
    struct ends *ends = mem_grow(NULL, sizeof(*ends), t->n_streams + 1);
    struct lists lists = {0};

    for (size_t i = 0; i < t->n_streams; i++)
        ends[i] = (struct ends){.work = INT64_MIN, .kernel = INT64_MIN};
    for (size_t i = 0; i < d->n; i++) {
        const struct device_task *op = &d->tasks[i];
        struct ends *e = &ends[timeline_stream_of(t, op)];
        if (timeline_is_kernel(op)) {
            launches_add(t, d, &lists, i, e);
            e->has_kernel = true;
            e->kernel = op->end > e->kernel ? op->end : e->kernel;
        }
        e->work = op->end > e->work ? op->end : e->work;
    }
    d->launches.latency = timeline_quantiles(lists.latency.at, lists.latency.n);
    d->launches.cost = timeline_quantiles(lists.cost.at, lists.cost.n);
    d->launches.queue = timeline_quantiles(lists.queue.at, lists.queue.n);
    vec_free(&lists.latency);
    vec_free(&lists.cost);
    vec_free(&lists.queue);
    mem_free(ends);
}
