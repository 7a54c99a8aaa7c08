/*
 * Recorded times mapped to those of a changed replay.
 */
#include "analysis/diagnose/whatif.h"

/* Where a recorded time of a timeline lies in the changed run; in between it is a line. */
struct knot {
    nanos recorded, changed;
};

struct knots {
    struct knot *at; /* two for each call, by timeline */
    uint32_t *timeline_of_lane;
};

/* Begin and end of each call in the changed run. */
static void find_knots(const struct whatif *w, const struct replay_change *c, struct knots *out)
{
    const struct accounting *a = w->a;
    const struct trace_replay *r = w->replay;

    out->at = mem_grow(NULL, sizeof(*out->at), 2 * a->host.n + 1);
    out->timeline_of_lane = mem_grow(NULL, sizeof(uint32_t), w->cap->lanes.n + 1);
    memset(out->timeline_of_lane, 0xff, sizeof(uint32_t) * (w->cap->lanes.n + 1));
    for (size_t i = 0; i < r->n; i++) {
        const struct replay_node *node = &r->nodes[i];
        if (node->kind == REPLAY_TASK)
            continue;
        const struct host_call *call = &a->host.calls[node->ref];
        struct knot *at = &out->at[2 * node->ref];
        if (node->kind == REPLAY_HOST)
            at[0] = (struct knot){call->begin, w->times.begin[i] + c->lead[i]};
        at[1] = (struct knot){call->end, w->times.end[i]};
        out->timeline_of_lane[w->cap->slices.lane[call->slice]] = call->timeline;
    }
}

static nanos mapped(const struct whatif *w, const struct knots *k, uint32_t timeline, nanos t)
{
    const struct host_timeline *h = &w->a->host.at[timeline];
    const struct knot *at = &k->at[2 * h->first];
    size_t n = 2 * h->n, place;

    vec_bisect(place, n, i, at[i].recorded <= t);
    if (place == 0)
        return t - at[0].recorded + at[0].changed;
    const struct knot *from = &at[place - 1], *to = from + 1;
    if (place == n || to->recorded == from->recorded)
        return t - from->recorded + from->changed;
    double share = (double)(t - from->recorded) / (double)(to->recorded - from->recorded);
    return from->changed + nanos_of(share * (double)(to->changed - from->changed));
}

static void trace_put_slice(struct capture *out, const struct capture *cap, size_t i, nanos begin,
                            nanos end)
{
    const struct slices *s = &cap->slices;
    struct lane_key lane = cap->lanes.at[s->lane[i]].key;

    lane.process = capture_intern(out, capture_text(cap, lane.process));
    lane.name = capture_intern(out, capture_text(cap, lane.name));
    capture_slice(out, &(struct slice){
                           .begin = begin,
                           .dur = end > begin ? end - begin : 0,
                           .lane = capture_lane(out, lane),
                           .name = capture_intern(out, capture_text(cap, s->name[i])),
                           .kind = (enum slice_kind)s->kind[i],
                       });
}

static void put_host(const struct whatif *w, const struct knots *k, struct capture *out)
{
    const struct slices *s = &w->cap->slices;

    for (size_t i = 0; i < s->n; i++) {
        uint32_t timeline = k->timeline_of_lane[s->lane[i]];
        if (slice_is_kernel((enum slice_kind)s->kind[i]) || s->kind[i] == SLICE_OTHER)
            continue;
        nanos begin = s->begin[i], end = slices_end(s, i);
        if (timeline != UINT32_MAX) {
            begin = mapped(w, k, timeline, begin);
            end = mapped(w, k, timeline, end);
        }
        trace_put_slice(out, w->cap, i, begin, end);
    }
}

struct capture *whatif_trace(struct whatif *w, const struct whatif_change *changes, size_t n)
{
    struct capture *out = capture_new();
    struct knots knots;

    whatif_times(w, changes, n);
    out->facts.vendor = w->cap->facts.vendor;
    out->facts.kind = capture_intern(out, capture_text(w->cap, w->cap->facts.kind));
    out->facts.device_name = capture_intern(out, capture_text(w->cap, w->cap->facts.device_name));
    out->clock = w->cap->clock;
    out->origin = ORIGIN_ESTIMATED;
    out->name = arena_cstr(&out->arena, str_of(w->cap->name));
    find_knots(w, &w->change, &knots);
    for (size_t i = 0; i < w->a->tasks.n; i++) {
        uint32_t node = w->replay->node_of_task[i];
        if ((w->change.drop[node] & REPLAY_GONE) == 0)
            trace_put_slice(out, w->cap, w->a->tasks.at[i].slice,
                            w->times.begin[node] + w->change.lead[node], w->times.end[node]);
    }
    put_host(w, &knots, out);
    mem_free(knots.at);
    mem_free(knots.timeline_of_lane);
    capture_seal(out);
    return out;
}
