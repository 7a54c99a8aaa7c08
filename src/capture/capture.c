/*
 * A capture filled, sealed and asked.
 */
#include "capture/capture.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/limits.h"
#include "capture/clip_times.h"

static const struct str key_names[KEY_COUNT] = {
    [KEY_TYPE] = S_INIT("type"),
    [KEY_CORE] = S_INIT("core"),
    [KEY_STATE] = S_INIT("state"),
    [KEY_BLOCK_DIM] = S_INIT("block_dim"),
    [KEY_MIX_BLOCK_DIM] = S_INIT("mix_block_dim"),
    [KEY_INPUT_SHAPES] = S_INIT("input_shapes"),
    [KEY_INPUT_DTYPES] = S_INIT("input_dtypes"),
    [KEY_INPUT_FORMATS] = S_INIT("input_formats"),
    [KEY_OUTPUT_SHAPES] = S_INIT("output_shapes"),
    [KEY_OUTPUT_DTYPES] = S_INIT("output_dtypes"),
    [KEY_OUTPUT_FORMATS] = S_INIT("output_formats"),
    [KEY_STEP] = S_INIT("step"),
    [KEY_WAIT] = S_INIT("wait"),
    [KEY_TASK] = S_INIT("task"),
    [KEY_LINK] = S_INIT("link"),
    [KEY_STACK] = S_INIT("stack"),
    [KEY_CAT] = S_INIT("cat"),
};

ENUM_NAMES(slice_kind_name, enum slice_kind, "compute", "comm", "comm_part", "aicpu", "copy",
           "wait", "control", "host_op", "python", "annotation", "runtime", "queue", "gc", "os",
           "step", "instr", "memory", "other")

ENUM_NAMES(lane_kind_name, enum lane_kind, "stream", "comm", "thread", "pipe", "other")

ENUM_NAMES(origin_name, enum origin, "measured", "simulated", "estimated", "inferred")

ENUM_NAMES(flow_kind_name, enum flow_kind, "launch", "queue", "backward", "flag", "other")

struct capture *capture_new(void)
{
    struct capture *cap = mem_grow(NULL, sizeof(*cap), 1);

    *cap = (struct capture){
        .name = "",
        .facts = {.rank = UNKNOWN,
                  .world_size = UNKNOWN,
                  .device = UNKNOWN,
                  .device_memory = UNKNOWN,
                  .device_cores = UNKNOWN,
                  .device_clock = UNKNOWN,
                  .device_bandwidth = UNKNOWN,
                  .level = UNKNOWN,
                  .record_shapes = UNKNOWN,
                  .with_stack = UNKNOWN},
        .clock = {.hz = 1000000000},
    };
    arena_init(&cap->arena);
    intern_init(&cap->strings);
    attrs_init(&cap->attrs);
    for (size_t i = 0; i < KEY_COUNT; i++)
        cap->keys[i] = intern_put(&cap->strings, key_names[i]);
    return cap;
}

void capture_free(struct capture *cap)
{
    if (cap == NULL || cap->is_shared)
        return;
    arena_free(&cap->arena);
    intern_fini(&cap->strings);
    attrs_fini(&cap->attrs);
    vec_free(&cap->lanes);
    hash_free(&cap->lane_ids);
    slices_free(&cap->slices);
    for (size_t i = 0; i < cap->series.n; i++)
        vec_free(&cap->series.at[i].samples);
    vec_free(&cap->series);
    vec_free(&cap->flows);
    vec_free(&cap->marks);
    vec_free(&cap->allocations);
    snapshot_free(cap->snapshot);
    vec_free(&cap->comm_ops);
    vec_free(&cap->comm_links);
    vec_free(&cap->comm_groups);
    vec_free(&cap->told);
    vec_free(&cap->step_traces);
    vec_free(&cap->documents);
    vec_free(&cap->sources);
    vec_free(&cap->losses);
    mem_free(cap);
}

void capture_set_incore(struct capture *cap)
{
    cap->facts.kind = capture_intern(cap, S("incore"));
    cap->facts.vendor = VENDOR_ASCEND;
    cap->facts.is_incore = true;
}

/* Threads and streams come in the order of their numbers: eight of them are near each other
 * (base/tables/hash.c). At most as many share one value. */
static uint64_t hash_lane(const struct lane_key *key)
{
    uint64_t hash = hash_mix((uint64_t)key->process << 32 | key->name >> 3,
                             (uint64_t)(uint32_t)key->device << 8 | (uint64_t)key->kind);

    hash = hash_mix(hash ^ (uint64_t)key->pid, (uint64_t)key->tid >> 3);
    return hash << 3 | ((key->name + (uint64_t)key->tid) & 7);
}

lane_id capture_lane(struct capture *cap, struct lane_key key)
{
    uint64_t hash = hash_lane(&key);

    assert(!cap->is_sealed);
    for (;; hash = hash_mix(hash, 1)) { /* two keys with one hash: look further along */
        uint32_t id;
        if (!hash_get(&cap->lane_ids, hash, &id)) {
            id = (uint32_t)cap->lanes.n;
            if (id > LIMIT_LANES)
                return LIMIT_LANES;
            if (id == LIMIT_LANES)
                key = (struct lane_key){.device = -1,
                                        .kind = LANE_OTHER,
                                        .name = capture_intern(cap, S("all other lanes"))};
            else
                hash_put(&cap->lane_ids, hash, id);
            vec_push(&cap->lanes, ((struct lane){.key = key, .rank = UNKNOWN}));
            return id;
        }
        const struct lane_key *k = &cap->lanes.at[id].key;
        if (k->kind == key.kind && k->device == key.device && k->process == key.process &&
            k->name == key.name && k->pid == key.pid && k->tid == key.tid)
            return id;
    }
}

uint32_t capture_slice(struct capture *cap, const struct slice *slice)
{
    assert(!cap->is_sealed && slice->lane < cap->lanes.n && cap->slices.n < UINT32_MAX);
    slices_push(&cap->slices, slice);
    return (uint32_t)(cap->slices.n - 1);
}

void capture_flow(struct capture *cap, enum flow_kind kind, uint32_t from, uint32_t to)
{
    assert(!cap->is_sealed && from < cap->slices.n && to < cap->slices.n);
    vec_push(&cap->flows, ((struct flow){from, to, kind}));
}

series_id capture_series(struct capture *cap, strid process, strid name, strid unit)
{
    for (size_t i = 0; i < cap->series.n; i++) { /* a profile has some dozen counters */
        const struct series *s = &cap->series.at[i];
        if (s->process == process && s->name == name && s->unit == unit)
            return (series_id)i;
    }
    vec_push(&cap->series, ((struct series){.process = process, .name = name, .unit = unit}));
    return (series_id)(cap->series.n - 1);
}

void capture_sample(struct capture *cap, series_id series, nanos at, double value)
{
    vec_push(&cap->series.at[series].samples, ((struct sample){at, value}));
}

void capture_document_add(struct capture *cap, struct document document)
{
    document.path = arena_str(&cap->arena, document.path);
    document.text = arena_str(&cap->arena, document.text);
    vec_push(&cap->documents, document);
}

const struct document *capture_document(const struct capture *cap, uint8_t type)
{
    for (size_t i = 0; i < cap->documents.n; i++)
        if (cap->documents.at[i].type == type)
            return &cap->documents.at[i];
    return NULL;
}

strid capture_intern_format(struct capture *cap, const char *format, ...)
{
    struct arena_mark mark = arena_mark(&cap->arena);
    va_list args;

    va_start(args, format);
    strid id = capture_intern(cap, arena_vformat(&cap->arena, format, args));
    va_end(args);
    arena_rewind(&cap->arena, mark);
    return id;
}

void capture_source(struct capture *cap, struct source source)
{
    source.path = arena_cstr(&cap->arena, str_of(source.path));
    vec_push(&cap->sources, source);
}

void capture_told(struct capture *cap, const char *path, uint64_t count)
{
    vec_push(&cap->told, ((struct told_kernels){arena_cstr(&cap->arena, str_of(path)), count}));
}

static unsigned has_of(enum slice_kind kind)
{
    if (slice_is_comm(kind))
        return HAS_KERNELS | HAS_COMM;
    if (slice_is_kernel(kind))
        return HAS_KERNELS;
    if (kind == SLICE_PYTHON) /* functions on the timeline, one inside the other, are stacks */
        return HAS_HOST | HAS_STACKS;
    if (kind >= SLICE_HOST_OP && kind <= SLICE_GC)
        return HAS_HOST;
    return kind == SLICE_STEP ? HAS_STEPS : kind == SLICE_INSTR ? HAS_INSTR : 0;
}

static unsigned has_attrs(const struct capture *cap)
{
    static const struct {
        enum capture_key key;
        unsigned has;
    } told[] = {{KEY_INPUT_SHAPES, HAS_SHAPES}, {KEY_STEP, HAS_STEPS}, {KEY_STACK, HAS_STACKS}};
    unsigned has = 0;

    for (size_t i = 0; i < ARRAY_LEN(told); i++)
        if (attrs_has_text(&cap->attrs, cap->keys[told[i].key]))
            has |= told[i].has;
    return has;
}

ORDER_BY(by_ends, struct flow,
         ORDER(x->from, y->from) ?: ORDER(x->to, y->to) ?: ORDER(x->kind, y->kind));

/* Sorts the arrows of each slice in a list that is in order of those slices. */
static void sort_targets(struct flow *at, size_t n)
{
    for (size_t i = 0, end; i < n; i = end) {
        bool is_sorted = true;
        for (end = i + 1; end < n && at[end].from == at[i].from; end++)
            is_sorted = is_sorted && by_ends(&at[end - 1], &at[end]) <= 0;
        if (!is_sorted)
            qsort(at + i, end - i, sizeof(*at), by_ends);
    }
}

/* Sorts by counting how many arrows each slice has; `next` has a number for every slice. */
static void spread_flows(struct capture *cap, uint32_t *next)
{
    size_t n = cap->flows.n;
    struct flow *sorted = mem_grow(NULL, sizeof(*sorted), n);
    uint32_t sum = 0;

    memset(next, 0, cap->slices.n * sizeof(*next));
    for (size_t i = 0; i < n; i++)
        next[cap->flows.at[i].from]++;
    for (size_t i = 0; i < cap->slices.n; i++) {
        uint32_t count = next[i];
        next[i] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        sorted[next[cap->flows.at[i].from]++] = cap->flows.at[i];
    sort_targets(sorted, n);
    mem_free(cap->flows.at);
    cap->flows.at = sorted;
    cap->flows.cap = n;
}

/* place[i] is the new number of slice i, and is used up; NULL: nothing moved. */
static void seal_flows(struct capture *cap, uint32_t *place)
{
    enum { DENSE = 8 };
    for (size_t i = 0; place != NULL && i < cap->flows.n; i++) {
        struct flow *f = &cap->flows.at[i];
        f->from = place[f->from];
        f->to = place[f->to];
    }
    size_t sorted = 1;
    while (sorted < cap->flows.n &&
           by_ends(&cap->flows.at[sorted - 1], &cap->flows.at[sorted]) <= 0)
        sorted++;
    if (sorted >= cap->flows.n)
        return;
    if (place != NULL && cap->flows.n > cap->slices.n / DENSE && cap->flows.n < UINT32_MAX)
        spread_flows(cap, place);
    else
        qsort(cap->flows.at, cap->flows.n, sizeof(*cap->flows.at), by_ends);
}

ORDER_BY(by_time, struct sample, ORDER(x->at, y->at) ?: ORDER(x->value, y->value));

static void seal_series(struct capture *cap)
{
    for (size_t i = 0; i < cap->series.n; i++) {
        struct series *s = &cap->series.at[i];
        for (size_t k = 1; k < s->samples.n; k++)
            if (by_time(&s->samples.at[k - 1], &s->samples.at[k]) > 0) {
                qsort(s->samples.at, s->samples.n, sizeof(*s->samples.at), by_time);
                break;
            }
    }
}

ORDER_BY(by_number, struct mark,
         ORDER(x->source, y->source) ?: ORDER(x->number, y->number) ?: ORDER(x->begin, y->begin)
         ?: ORDER(x->end, y->end));

ORDER_BY(by_begin, struct mark, ORDER(x->begin, y->begin) ?: by_number(x, y));

static void seal_marks(struct capture *cap)
{
    size_t kept = 0;

    if (cap->marks.n == 0)
        return;
    qsort(cap->marks.at, cap->marks.n, sizeof(*cap->marks.at), by_number);
    for (size_t i = 0; i < cap->marks.n; i++) {
        const struct mark *m = &cap->marks.at[i], *last = &cap->marks.at[kept > 0 ? kept - 1 : 0];
        if (kept == 0 || m->source != last->source || m->number != last->number)
            cap->marks.at[kept++] = *m;
    }
    cap->marks.n = kept;
    qsort(cap->marks.at, cap->marks.n, sizeof(*cap->marks.at), by_begin);
}

void capture_seal(struct capture *cap)
{
    struct slices *s = &cap->slices;

    cap->times_clipped = capture_clip_times(cap);
    uint32_t *place = slices_sort(s, cap->flows.n > 0);

    seal_flows(cap, place);
    mem_free(place);
    seal_series(cap);
    seal_marks(cap);
    for (size_t i = 0; i < s->n; i++) {
        struct lane *lane = &cap->lanes.at[s->lane[i]];
        if (lane->n++ == 0)
            lane->first = i;
        cap->has |= has_of((enum slice_kind)s->kind[i]);
    }
    cap->has |= has_attrs(cap);
    if (cap->series.n > 0)
        cap->has |= HAS_COUNTERS;
    if (cap->marks.n > 0)
        cap->has |= HAS_STEPS;
    cap->is_sealed = true;
}

struct attr capture_slice_attr(const struct capture *cap, size_t slice, enum capture_key key)
{
    struct attr a = attrs_get(&cap->attrs, cap->slices.own[slice], cap->keys[key]);

    return a.type != ATTR_NONE ? a : attrs_get(&cap->attrs, cap->slices.set[slice], cap->keys[key]);
}

struct str capture_slice_text(const struct capture *cap, size_t slice, enum capture_key key)
{
    struct attr a = capture_slice_attr(cap, slice, key);

    return a.type == ATTR_TEXT ? capture_text(cap, a.text) : S("");
}
