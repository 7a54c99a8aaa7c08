/*
 * Why a device did nothing: each gap gets the first cause that fits, from what its host did.
 */
#include "gpu/timeline/timeline_in.h"

#include <string.h>

static const nanos tight = 1000; /* ns: below that, work is back to back */

/* A call during which its thread did nothing else. */
struct blocking {
    nanos begin, end;
    strid name;
};

struct thread {
    VEC_OF(struct blocking) calls; /* by time, apart from each other */
    size_t at;                     /* the first that may touch the next gap */
};

struct gap_evidence {
    struct timeline *t;
    struct thread *threads; /* by lane */
    VEC_OF(struct interval) overheads;
    struct interval_set overhead; /* the same, merged */
    size_t overhead_at;
    VEC_OF(nanos) * waits; /* by stream: when it was told to wait for an event, by time */
    nanos *prev_call;      /* by stream: when its last work was launched */
    struct hash streams;   /* lane, or device and number -> stream */
};

/* ---- gathering ---- */

static void note_call(struct gap_evidence *e, lane_id lane, size_t i)
{
    const struct slices *s = &e->t->cap->slices;
    uint8_t says = timeline_says(e->t, s->name[i]);
    struct thread *thread = &e->threads[lane];
    struct blocking call = {s->begin[i], slices_end(s, i), s->name[i]};

    if ((says & NAME_LOADING) != 0)
        vec_push(&e->overheads, ((struct interval){call.begin, call.end}));
    /* A driver call inside a runtime call is the same wait. */
    if ((says & NAME_BLOCKING) != 0 &&
        (thread->calls.n == 0 || call.begin >= thread->calls.at[thread->calls.n - 1].end))
        vec_push(&thread->calls, call);
}

static uint64_t number_key(int32_t device, int64_t number)
{
    return hash_mix((uint64_t)number, (uint64_t)(uint32_t)device + 1);
}

static uint64_t lane_key(lane_id lane)
{
    return hash_mix(lane, 0);
}

/* The stream that a record of waiting is about: that of its lane, or the one it names. */
static bool find_stream(const struct gap_evidence *e, lane_id lane, size_t slice, uint32_t *out)
{
    if (hash_get(&e->streams, lane_key(lane), out))
        return true;
    int64_t number = timeline_number(e->t, (uint32_t)slice, S("stream"));
    return number >= 0 &&
           hash_get(&e->streams, number_key(e->t->cap->lanes.at[lane].key.device, number), out);
}

static void note_slice(struct gap_evidence *e, strid overhead, lane_id lane, size_t i)
{
    const struct capture *cap = e->t->cap;
    const struct slices *s = &cap->slices;

    switch ((enum slice_kind)s->kind[i]) {
    case SLICE_RUNTIME:
        note_call(e, lane, i);
        break;
    case SLICE_WAIT:
        if ((timeline_says(e->t, s->name[i]) & NAME_WAIT) != 0) {
            uint32_t stream;
            if (find_stream(e, lane, i, &stream))
                vec_push(&e->waits[stream], s->begin[i]);
        }
        break;
    case SLICE_OTHER:
        if (str_equal(capture_text(cap, cap->lanes.at[lane].key.name), S("Overhead")) ||
            (overhead != 0 && capture_slice_attr(cap, i, KEY_CAT).text == overhead))
            vec_push(&e->overheads, ((struct interval){s->begin[i], slices_end(s, i)}));
        break;
    default:
        break;
    }
}

static void gaps_gather(struct gap_evidence *e)
{
    const struct capture *cap = e->t->cap;
    strid overhead = intern_find(&cap->strings, S("overhead"));

    for (uint32_t i = 0; i < e->t->n_streams; i++) {
        lane_id lane = e->t->streams[i].lane;
        const struct lane_key *key = &cap->lanes.at[lane].key;
        int64_t number;
        hash_put(&e->streams, lane_key(lane), i);
        if (num_i64(capture_text(cap, key->name), &number))
            hash_add(&e->streams, number_key(key->device, number), i);
    }
    for (lane_id k = 0; k < cap->lanes.n; k++)
        for (size_t i = cap->lanes.at[k].first, n = i + cap->lanes.at[k].n; i < n; i++)
            note_slice(e, overhead, k, i);
    e->overhead = (struct interval_set){e->overheads.at, e->overheads.n};
    interval_merge(&e->overhead);
}

/* ---- judging ---- */

static nanos common(nanos a, nanos b, nanos c, nanos d)
{
    nanos begin = a > c ? a : c, end = b < d ? b : d;

    return end > begin ? end - begin : 0;
}

static bool is_half(nanos part, const struct timeline_gap *g)
{
    return part > 0 && part >= nanos_sub(g->end, g->begin) - part;
}

/* How much of a gap blocking calls of the launching thread cover, and the first of them. */
static bool is_sync(struct thread *thread, const struct timeline_gap *g, strid *name)
{
    nanos covered = 0;

    while (thread->at < thread->calls.n && thread->calls.at[thread->at].end <= g->begin)
        thread->at++;
    for (size_t i = thread->at; i < thread->calls.n && thread->calls.at[i].begin < g->end; i++) {
        const struct blocking *c = &thread->calls.at[i];
        if (covered == 0)
            *name = c->name;
        covered += common(c->begin, c->end, g->begin, g->end);
    }
    return is_half(covered, g);
}

static bool is_overhead(struct gap_evidence *e, const struct timeline_gap *g)
{
    nanos covered = 0;

    while (e->overhead_at < e->overhead.n && e->overhead.at[e->overhead_at].end <= g->begin)
        e->overhead_at++;
    for (size_t i = e->overhead_at; i < e->overhead.n && e->overhead.at[i].begin < g->end; i++)
        covered += common(e->overhead.at[i].begin, e->overhead.at[i].end, g->begin, g->end);
    return is_half(covered, g);
}

/* The stream was told to wait after its last work was launched and before the next was. */
static bool was_told_to_wait(const struct gap_evidence *e, uint32_t stream, nanos launched)
{
    size_t n;

    vec_bisect(n, e->waits[stream].n, i, e->waits[stream].at[i] <= launched);
    return n > 0 && e->waits[stream].at[n - 1] >= e->prev_call[stream];
}

/* The queue was empty all the same: the call that launched the next work had not returned when the
 * device ran dry. */
static bool was_in_launch(const struct gap_evidence *e, const struct timeline_op *next,
                          const struct timeline_op *prev, const struct timeline_gap *g)
{
    return next != NULL && next->call != TIMELINE_NONE &&
           (prev == NULL || prev->call != next->call) &&
           slices_end(&e->t->cap->slices, next->call) > g->begin;
}

/* A gap gets one cause: the first that the capture shows, from calls of the host over recorded
 * overhead down to graphs and lengths too short to matter. */
static enum timeline_cause timeline_gaps_cause_of(struct gap_evidence *e,
                                                  const struct timeline_device *d,
                                                  struct timeline_gap *g)
{
    const struct slices *s = &e->t->cap->slices;
    const struct timeline_op *next = g->next != TIMELINE_NONE ? &d->ops[g->next] : NULL;
    const struct timeline_op *prev = g->prev != TIMELINE_NONE ? &d->ops[g->prev] : NULL;

    if (next != NULL && next->call != TIMELINE_NONE) {
        nanos launched = s->begin[next->call];
        strid name = 0;
        if (is_sync(&e->threads[s->lane[next->call]], g, &name)) {
            g->host_api = name;
            return GAP_SYNC;
        }
        if (launched > g->begin) {
            g->host_api = s->name[next->call];
            return GAP_HOST;
        }
        if (was_told_to_wait(e, next->stream, launched))
            return GAP_DEPENDENCY;
    }
    if (is_overhead(e, g))
        return GAP_OVERHEAD;
    if (next != NULL && prev != NULL && (next->flags & prev->flags & TIMELINE_NODE) != 0 &&
        next->call == prev->call)
        return GAP_GRAPH;
    if (nanos_sub(g->end, g->begin) >= tight && was_in_launch(e, next, prev, g)) {
        g->host_api = s->name[next->call];
        return GAP_HOST;
    }
    return nanos_sub(g->end, g->begin) < tight ? GAP_TIGHT : GAP_UNKNOWN;
}

static void gaps_count(struct timeline_gaps *gaps)
{
    nanos *list = mem_grow(NULL, sizeof(*list), gaps->at.n + 1);

    for (size_t i = 0; i < gaps->at.n; i++) {
        const struct timeline_gap *g = &gaps->at.at[i];
        size_t band = 0;
        list[i] = nanos_sub(g->end, g->begin);
        gaps->count[g->cause]++;
        gaps->total[g->cause] = nanos_add(gaps->total[g->cause], list[i]);
        for (nanos limit = 1000; band < GAP_BANDS - 1 && list[i] >= limit; limit *= 10)
            band++;
        gaps->band[band]++;
    }
    gaps->all = timeline_quantiles(list, gaps->at.n);
    mem_free(list);
}

static void explain(struct gap_evidence *e, struct timeline_device *d)
{
    const struct capture *cap = e->t->cap;
    size_t g = 0;

    for (lane_id k = 0; k < cap->lanes.n; k++)
        e->threads[k].at = 0;
    e->overhead_at = 0;
    for (size_t i = 0; i < e->t->n_streams; i++)
        e->prev_call[i] = INT64_MIN;
    for (size_t i = 0; i < d->n; i++) {
        const struct timeline_op *op = &d->ops[i];
        if (g < d->gaps.at.n && d->gaps.at.at[g].next == i) {
            d->gaps.at.at[g].cause = timeline_gaps_cause_of(e, d, &d->gaps.at.at[g]);
            g++;
        }
        if (op->call != TIMELINE_NONE)
            e->prev_call[op->stream] = cap->slices.begin[op->call];
    }
    if (g < d->gaps.at.n) /* the one behind the last work */
        d->gaps.at.at[g].cause = timeline_gaps_cause_of(e, d, &d->gaps.at.at[g]);
    for (size_t i = 0; i < e->overhead.n; i++)
        d->overhead = nanos_add(d->overhead, common(e->overhead.at[i].begin, e->overhead.at[i].end,
                                                    d->window.begin, d->window.end));
    gaps_count(&d->gaps);
}

void timeline_explain_gaps(struct timeline *t)
{
    struct gap_evidence e = {.t = t};
    size_t lanes = t->cap->lanes.n;

    e.threads = ARENA_ARRAY(&t->arena, struct thread, lanes);
    e.waits = arena_array(&t->arena, sizeof(*e.waits), t->n_streams);
    e.prev_call = ARENA_ARRAY(&t->arena, nanos, t->n_streams);
    gaps_gather(&e);
    for (size_t i = 0; i < t->n_devices; i++)
        explain(&e, &t->devices[i]);
    for (size_t i = 0; i < lanes; i++)
        vec_free(&e.threads[i].calls);
    for (size_t i = 0; i < t->n_streams; i++)
        vec_free(&e.waits[i]);
    vec_free(&e.overheads);
    hash_free(&e.streams);
}
