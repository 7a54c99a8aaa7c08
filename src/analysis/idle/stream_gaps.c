/*
 * Gaps of single streams.
 */
#include "analysis/idle/stream_gaps.h"

#include "analysis/idle/idle.h"

/* How long the device worked up to each border of its busy time. */
struct busy {
    struct interval *at; /* merged */
    nanos *before;       /* length of all before it */
    size_t n;
};

static struct busy find_busy(const struct device_tasks *tasks)
{
    struct busy b = {mem_grow(NULL, sizeof(*b.at), tasks->n + 1),
                     mem_grow(NULL, sizeof(*b.before), tasks->n + 1), 0};

    for (size_t i = 0; i < tasks->n; i++) {
        const struct device_task *t = &tasks->at[i];
        if (b.n > 0 && t->begin <= b.at[b.n - 1].end) {
            b.at[b.n - 1].end = t->end > b.at[b.n - 1].end ? t->end : b.at[b.n - 1].end;
            continue;
        }
        b.before[b.n] = b.n > 0 ? b.before[b.n - 1] + b.at[b.n - 1].end - b.at[b.n - 1].begin : 0;
        b.at[b.n++] = (struct interval){t->begin, t->end};
    }
    return b;
}

/* Busy time before `t`. */
static nanos busy_until(const struct busy *b, nanos t)
{
    size_t place;

    vec_bisect(place, b->n, i, b->at[i].begin < t);
    if (place == 0)
        return 0;
    const struct interval *last = &b->at[place - 1];
    return b->before[place - 1] + (t < last->end ? t : last->end) - last->begin;
}

static enum idle_cause gaps_cause_of(const struct accounting *a, struct stream_gap *gap)
{
    const struct device_task *t = &a->tasks.at[gap->task];

    if (t->call == NO_CALL)
        return CAUSE_UNKNOWN;
    if (a->host.calls[t->call].end > gap->at.begin)
        return CAUSE_LAUNCH;
    if (gap->at.end - gap->at.begin <= a->queue_latency || t->is_graph)
        return CAUSE_DEVICE_LATENCY;
    gap->waits_for = idle_awaited(a, gap->at.end, gap->task);
    return gap->waits_for != NO_SLICE ? CAUSE_DEVICE_DEPENDENCY : CAUSE_DEVICE_LATENCY;
}

struct stream_gaps stream_gaps_find(const struct capture *cap, const struct accounting *a,
                                    struct arena *arena)
{
    struct stream_gaps out = {ARENA_ARRAY(arena, struct stream_gap, a->tasks.n), 0};
    nanos *ends = mem_grow(NULL, sizeof(*ends), a->tasks.streams + 1);
    struct busy busy = find_busy(&a->tasks);

    for (size_t i = 0; i <= a->tasks.streams; i++)
        ends[i] = INT64_MAX;
    for (size_t i = 0; i < a->tasks.n; i++) {
        const struct device_task *t = &a->tasks.at[i];
        nanos last = ends[t->stream];
        ends[t->stream] = last == INT64_MAX || t->end > last ? t->end : last;
        if (t->begin <= last)
            continue;
        struct stream_gap gap = {.at = {last, t->begin},
                                 .busy = busy_until(&busy, t->begin) - busy_until(&busy, last),
                                 .task = (uint32_t)i,
                                 .waits_for = NO_SLICE,
                                 .lane = cap->slices.lane[t->slice]};
        if (gap.busy <= 0 || t->step == TASK_NO_STEP)
            continue;
        gap.cause = (uint8_t)gaps_cause_of(a, &gap);
        out.at[out.n++] = gap;
    }
    mem_free(busy.at);
    mem_free(busy.before);
    mem_free(ends);
    return out;
}
