/*
 * Which threads launch, the main one first, and when each of them is busy.
 */
#include "analysis/idle/host_threads.h"

#include <stdlib.h>

struct interval_set host_threads_busy(const struct capture *cap, const struct lane *lane)
{
    const struct slices *s = &cap->slices;
    struct interval_set set = {mem_grow(NULL, sizeof(*set.at), lane->n + 1), 0};

    for (size_t i = lane->first; i < lane->first + lane->n; i++) {
        struct interval *last = set.n > 0 ? &set.at[set.n - 1] : NULL;
        nanos end = slices_end(s, i);
        bool is_empty = end <= s->begin[i];
        if (is_empty || (s->kind[i] != SLICE_HOST_OP && s->kind[i] != SLICE_RUNTIME))
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
ORDER_BY(by_weight, struct host_thread,
         ORDER(y->has_steps, x->has_steps) ?: ORDER(y->launches, x->launches)
                                           ?: ORDER(x->lane, y->lane));

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

struct tid_lane {
    int64_t tid;
    uint32_t lane;
};

ORDER_BY(by_tid, struct tid_lane, ORDER(x->tid, y->tid) ?: ORDER(x->lane, y->lane));

struct host_lanes host_lanes_find(const struct capture *cap)
{
    struct tid_lane *pairs = mem_grow(NULL, sizeof(*pairs), cap->lanes.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < cap->lanes.n; i++) {
        const struct lane *lane = &cap->lanes.at[i];
        if (lane->key.kind == LANE_THREAD && lane->key.tid != 0)
            pairs[n++] = (struct tid_lane){lane->key.tid, (uint32_t)i};
    }
    if (n > 1)
        qsort(pairs, n, sizeof(*pairs), by_tid);
    struct host_lanes out = {mem_grow(NULL, sizeof(*out.at), n + 1), n};
    for (size_t i = 0; i < n; i++)
        out.at[i] = pairs[i].lane;
    mem_free(pairs);
    return out;
}

struct host_lanes host_lanes_of(const struct capture *cap, const struct host_lanes *lanes,
                                size_t lane)
{
    const struct lane *own = &cap->lanes.at[lane];
    size_t first, end;

    if (own->key.kind != LANE_THREAD || own->key.tid == 0)
        return (struct host_lanes){0};
    vec_bisect(first, lanes->n, i, cap->lanes.at[lanes->at[i]].key.tid < own->key.tid);
    for (end = first; end < lanes->n && cap->lanes.at[lanes->at[end]].key.tid == own->key.tid;)
        end++;
    return (struct host_lanes){lanes->at + first, end - first};
}
