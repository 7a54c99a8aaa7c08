/*
 * Device work by time, and all that is made of it. See timeline.h.
 */
#include "gpu/timeline/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/heap.h"
#include "base/tables/ranked.h"
#include "gpu/timeline/timeline_in.h"

/* ---- words ---- */

ENUM_NAMES(timeline_cause_name, enum timeline_cause, "sync", "host", "dependency", "overhead",
           "graph", "back-to-back", "unknown")

ENUM_NAMES(timeline_band_name, size_t, "< 1 us", "1-10 us", "10-100 us", "100-1000 us", "> 1000 us")

uint8_t timeline_says(const struct timeline *t, strid name)
{
    if (t->names[name] == 0)
        t->names[name] = timeline_name_says(capture_text(t->cap, name)) | NAME_KNOWN;
    return t->names[name];
}

static struct attr attr_of(const struct timeline *t, uint32_t slice, struct str key)
{
    const struct capture *cap = t->cap;
    strid id = intern_find(&cap->strings, key);
    struct attr a = {0};

    if (id != 0)
        a = attrs_get(&cap->attrs, cap->slices.own[slice], id);
    if (id != 0 && a.type == ATTR_NONE)
        a = attrs_get(&cap->attrs, cap->slices.set[slice], id);
    return a;
}

int64_t timeline_number(const struct timeline *t, uint32_t slice, struct str key)
{
    struct attr a = attr_of(t, slice, key);

    return a.type == ATTR_INT ? a.number : -1;
}

int64_t timeline_link(const struct timeline *t, uint32_t slice)
{
    struct attr link = capture_slice_attr(t->cap, slice, KEY_LINK);

    return link.type == ATTR_INT ? link.number : -1;
}

struct str timeline_attr_text(const struct timeline *t, uint32_t slice, struct str key)
{
    struct attr a = attr_of(t, slice, key);

    return a.type == ATTR_TEXT ? capture_text(t->cap, a.text) : S("");
}

struct str timeline_display(const struct timeline *t, uint32_t slice)
{
    struct str name = capture_text(t->cap, t->cap->slices.name[slice]);
    struct str plain =
        str_starts(name, S("_Z")) ? timeline_attr_text(t, slice, S("short_name")) : name;

    return plain.n > 0 ? plain : name;
}

struct timeline_quantiles timeline_quantiles(nanos *list, size_t n)
{
    struct timeline_quantiles q = {.n = n, .has_any = n > 0, .median = NAN};

    if (n == 0)
        return q;
    q.max = list[0];
    for (size_t i = 0; i < n; i++) {
        q.sum = nanos_add(q.sum, list[i]);
        q.max = list[i] > q.max ? list[i] : q.max;
    }
    q.median = ranked_pick_middle(list, n);
    q.p95 = ranked_pick_nearest(list, n, 95);
    return q;
}

double timeline_efficiency(const nanos *durations, size_t n, nanos busy)
{
    nanos sum = 0, longest = 0;

    for (size_t i = 0; i < n; i++) {
        sum = nanos_add(sum, durations[i]);
        longest = durations[i] > longest ? durations[i] : longest;
    }
    if (n < 2 || sum <= longest)
        return NAN;
    return (double)nanos_sub(sum, busy) / (double)nanos_sub(sum, longest);
}

/* ---- launch calls ---- */

/* The call of each slice by the arrows; false when there are none. */
static bool calls_by_arrows(const struct capture *cap, uint32_t *call)
{
    bool any = false;

    for (size_t i = 0; i < cap->flows.n; i++) {
        const struct flow *f = &cap->flows.at[i];
        if (f->kind != FLOW_LAUNCH || cap->slices.kind[f->from] != SLICE_RUNTIME)
            continue;
        if (call[f->to] == TIMELINE_NONE ||
            cap->slices.begin[f->from] < cap->slices.begin[call[f->to]])
            call[f->to] = f->from;
        any = true;
    }
    return any;
}

/* Without arrows: calls and work of equal correlation. */
static void calls_by_correlation(const struct capture *cap, uint32_t *call)
{
    struct hash calls = {0};

    for (size_t i = 0; i < cap->slices.n; i++) {
        struct attr link;
        if (cap->slices.kind[i] == SLICE_RUNTIME &&
            (link = capture_slice_attr(cap, i, KEY_LINK)).type == ATTR_INT)
            hash_add(&calls, (uint64_t)link.number, (uint32_t)i);
    }
    for (size_t i = 0; i < cap->slices.n && calls.n > 0; i++) {
        struct attr link;
        if (slice_is_kernel((enum slice_kind)cap->slices.kind[i]) &&
            (link = capture_slice_attr(cap, i, KEY_LINK)).type == ATTR_INT)
            hash_get(&calls, (uint64_t)link.number, &call[i]);
    }
    hash_free(&calls);
}

/* ---- device work, by time ---- */

static bool is_work_lane(const struct lane *lane)
{
    return (lane->key.kind == LANE_STREAM || lane->key.kind == LANE_COMM) && lane->n > 0;
}

ORDER_BY(by_number, struct timeline_device, ORDER(x->device, y->device));

/* Streams in the order of lanes, devices in the order of their numbers. */
static void find_streams(struct timeline *t)
{
    const struct capture *cap = t->cap;
    struct hash numbers = {0};

    t->streams = ARENA_ARRAY(&t->arena, struct timeline_stream, cap->lanes.n);
    t->devices = ARENA_ARRAY(&t->arena, struct timeline_device, cap->lanes.n);
    for (lane_id i = 0; i < cap->lanes.n; i++) {
        const struct lane *lane = &cap->lanes.at[i];
        if (!is_work_lane(lane))
            continue;
        t->streams[t->n_streams++].lane = i;
        if (hash_add(&numbers, (uint32_t)lane->key.device, (uint32_t)t->n_devices) == t->n_devices)
            t->devices[t->n_devices++].device = lane->key.device;
    }
    qsort(t->devices, t->n_devices, sizeof(*t->devices), by_number);
    for (uint32_t i = 0; i < t->n_devices; i++)
        hash_put(&numbers, (uint32_t)t->devices[i].device, i);
    for (size_t i = 0; i < t->n_streams; i++)
        hash_get(&numbers, (uint32_t)cap->lanes.at[t->streams[i].lane].key.device,
                 &t->streams[i].device);
    hash_free(&numbers);
}

/* A stream on its way through its slices, in a heap by the begin of the next one. */
struct cursor {
    nanos begin;
    uint32_t stream;
    size_t at, end;
};

ORDER_BY(by_begin, struct cursor, ORDER(x->begin, y->begin) ?: ORDER(x->stream, y->stream));

struct gather {
    struct timeline *t;
    struct interval window; /* empty: all */
    const uint32_t *call;
    strid row_key; /* "graph_level"; 0: no such rows */
    size_t n;
};

static void timeline_add_op(struct gather *g, uint32_t stream, size_t i)
{
    const struct slices *s = &g->t->cap->slices;
    struct timeline_op op = {
        .begin = s->begin[i],
        .end = slices_end(s, i),
        .slice = (uint32_t)i,
        .call = g->call[i],
        .stream = stream,
    };

    if (g->window.end > g->window.begin) {
        if (op.begin >= g->window.end || op.end <= g->window.begin)
            return;
        op.begin = op.begin < g->window.begin ? g->window.begin : op.begin;
        op.end = op.end > g->window.end ? g->window.end : op.end;
    }
    uint8_t says = timeline_says(g->t, s->name[i]);
    if (g->row_key != 0 && attrs_get(&g->t->cap->attrs, s->set[i], g->row_key).type != ATTR_NONE)
        op.class = TIMELINE_GRAPH;
    else if (s->kind[i] == SLICE_COPY)
        op.class = (says & NAME_MEMSET) != 0 ? TIMELINE_MEMSET : TIMELINE_MEMCPY;
    else
        op.class = slice_is_comm((enum slice_kind)s->kind[i]) ? TIMELINE_COMM : TIMELINE_COMPUTE;
    g->t->ops[g->n++] = op;
}

/* The next piece of work of a stream; false when there is none. */
static bool advance(const struct capture *cap, struct cursor *c)
{
    while (c->at < c->end && !slice_is_kernel((enum slice_kind)cap->slices.kind[c->at]))
        c->at++;
    if (c->at == c->end)
        return false;
    c->begin = cap->slices.begin[c->at];
    return true;
}

/* All work of a device, merged from its streams, which are in order each. */
static void gather_device(struct gather *g, uint32_t device)
{
    struct timeline *t = g->t;
    struct cursor *heap = mem_grow(NULL, sizeof(*heap), t->n_streams + 1);
    size_t n = 0;

    t->devices[device].ops = t->ops + g->n;
    size_t before = g->n;
    for (uint32_t i = 0; i < t->n_streams; i++) {
        const struct lane *lane = &t->cap->lanes.at[t->streams[i].lane];
        struct cursor c = {.stream = i, .at = lane->first, .end = lane->first + lane->n};
        if (t->streams[i].device == device && advance(t->cap, &c))
            heap[n++] = c;
    }
    for (size_t i = n / 2; i-- > 0;)
        heap_sink(heap, n, sizeof(*heap), i, by_begin);
    while (n > 0) {
        timeline_add_op(g, heap[0].stream, heap[0].at++);
        if (!advance(t->cap, &heap[0]))
            heap[0] = heap[--n];
        heap_sink(heap, n, sizeof(*heap), 0, by_begin);
    }
    mem_free(heap);
    t->devices[device].n = g->n - before;
}

/* Arrows say which call launched what; correlation numbers are the way of captures without
 * arrows. */
static void gather_all(struct timeline *t, struct interval window)
{
    const struct capture *cap = t->cap;
    uint32_t *call = mem_grow(NULL, sizeof(*call), cap->slices.n + 1);
    size_t work = 0;
    struct gather g = {.t = t,
                       .window = window,
                       .call = call,
                       .row_key = intern_find(&cap->strings, S("graph_level"))};

    memset(call, 0xff, cap->slices.n * sizeof(*call));
    if (!calls_by_arrows(cap, call))
        calls_by_correlation(cap, call);
    for (size_t k = 0; k < cap->lanes.n; k++) {
        const struct lane *lane = &cap->lanes.at[k];
        for (size_t i = lane->first; is_work_lane(lane) && i < lane->first + lane->n; i++)
            work += slice_is_kernel((enum slice_kind)cap->slices.kind[i]);
    }
    t->ops = mem_grow(NULL, sizeof(*t->ops), work + 1);
    for (uint32_t i = 0; i < t->n_devices; i++)
        gather_device(&g, i);
    mem_free(call);
}

/* ---- the whole ---- */

/* Two long looks at the same work. */
static void find_part(void *ctx, size_t number)
{
    struct timeline *t = ctx;

    for (size_t i = 0; i < t->n_devices && number == 0; i++)
        timeline_find_launches(t, &t->devices[i]);
    if (number == 0)
        return;
    timeline_place_sets(t);
    for (size_t i = 0; i < t->n_devices; i++)
        timeline_sum(t, &t->devices[i]);
    timeline_pair_streams(t);
}

struct timeline *timeline_new(const struct capture *cap, const struct timeline_choice *choice)
{
    struct timeline *t = mem_grow(NULL, sizeof(*t), 1);

    *t = (struct timeline){.cap = cap};
    arena_init(&t->arena);
    t->names = mem_grow(NULL, sizeof(*t->names), cap->strings.strings.n + 1);
    memset(t->names, 0, cap->strings.strings.n + 1);
    find_streams(t);
    gather_all(t, choice->window);
    for (size_t i = 0; i < t->n_devices; i++) {
        struct timeline_device *d = &t->devices[i];
        d->window = choice->window;
        timeline_find_graphs(t, d);
        timeline_mark_first(t, d);
    }
    if (choice->window.end == choice->window.begin) /* a window parts calls from their work */
        timeline_count_empty_graphs(&t, 1);
    pool_for(choice->pool, 2, find_part, t);
    timeline_explain_gaps(t);
    timeline_find_ranges(t);
    return t;
}

void timeline_free(struct timeline *t)
{
    if (t == NULL)
        return;
    for (size_t i = 0; i < t->n_devices; i++) {
        vec_free(&t->devices[i].gaps.at);
        vec_free(&t->devices[i].graphs.at);
        vec_free(&t->devices[i].names);
        mem_free(t->devices[i].sort_of);
    }
    vec_free(&t->ranges);
    vec_free(&t->pairs);
    mem_free(t->range_of);
    mem_free(t->names);
    mem_free(t->spans);
    mem_free(t->ops);
    arena_free(&t->arena);
    mem_free(t);
}
