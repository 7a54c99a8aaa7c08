/*
 * From records to slices: ends find their begins, flows their events.
 */
#include <stdlib.h>

#include "base/run/cancel.h"
#include "capture/classify.h"
#include "input/perfetto/perfetto.h"
#include "input/trace/step_name.h"

enum { NO_SLICE = UINT32_MAX };

uint32_t perfetto_record(struct perfetto *p, const struct perfetto_record *record)
{
    vec_push(&p->records, *record);
    return (uint32_t)p->records.n - 1;
}

/* Records by track, and in each by time; those of one time as they came. */
struct by_track {
    nanos at;
    uint32_t track, record;
};

ORDER_BY(by_track_and_time, struct by_track,
         ORDER(x->track, y->track) ?: ORDER(x->at, y->at) ?: ORDER(x->record, y->record));

/* Counted by track first: writers mostly keep each in order. */
static struct by_track *order_records(const struct perfetto *p)
{
    size_t n = p->records.n, *first = mem_grow(NULL, sizeof(*first), p->tracks.n + 1);
    struct by_track *order = mem_grow(NULL, sizeof(*order), n + 1);
    bool is_sorted = true;

    memset(first, 0, (p->tracks.n + 1) * sizeof(*first));
    for (size_t i = 0; i < n; i++)
        first[p->records.at[i].track + 1]++;
    for (size_t i = 1; i <= p->tracks.n; i++)
        first[i] += first[i - 1];
    for (size_t i = 0; i < n; i++) {
        const struct perfetto_record *r = &p->records.at[i];
        order[first[r->track]++] = (struct by_track){r->at, r->track, (uint32_t)i};
    }
    for (size_t i = 1; i < n && is_sorted; i++)
        is_sorted = by_track_and_time(&order[i - 1], &order[i]) < 0;
    if (!is_sorted)
        qsort(order, n, sizeof(*order), by_track_and_time);
    mem_free(first);
    return order;
}

/* Times of tools inside kernels are the low 32 bits of nanoseconds: on a track of warps a fall by
 * more than half of that is an overflow. */
static void unwrap_warps(struct perfetto *p)
{
    static const nanos wrap = (nanos)1 << 32;
    nanos *last = mem_grow(NULL, sizeof(*last), p->tracks.n + 1);

    for (size_t i = 0; i < p->tracks.n; i++)
        last[i] = INT64_MIN;
    for (size_t i = 0; i < p->records.n; i++) {
        struct perfetto_record *r = &p->records.at[i];
        if (!p->tracks.at[r->track].is_warp)
            continue;
        nanos before = last[r->track];
        if (before > r->at && before < INT64_MAX / 2 && r->at >= 0 && r->at < wrap)
            r->at += (before - r->at + wrap / 2) / wrap * wrap;
        last[r->track] = r->at;
    }
    mem_free(last);
}

/* ---- slices ---- */

struct slicer {
    struct perfetto *p;
    uint32_t *slice_of;    /* by record: the slice it has made, or ended; NO_SLICE */
    VEC_OF(uint32_t) open; /* records that have begun on the track */
    size_t next_told;
    uint64_t bad;
    struct hash agents; /* that ran kernels: processors are none */
    double sum;
    uint16_t generation;
};

static const struct perfetto_told *told_of(const struct perfetto *p, uint32_t record)
{
    size_t at;

    vec_bisect(at, p->told.n, i, p->told.at[i].record < record);
    return at < p->told.n && p->told.at[at].record == record ? &p->told.at[at] : NULL;
}

/* A copy is work of the GPU it fills, or of the one it reads: agents that ran kernels are GPUs. */
static int32_t device_of_copy(const struct slicer *s, const struct perfetto_told *told)
{
    uint32_t any;

    if (told->other >= 0 && !hash_get(&s->agents, (uint64_t)told->device, &any) &&
        hash_get(&s->agents, (uint64_t)told->other, &any))
        return told->other;
    return told->device;
}

/* Work of AMD's GPUs stands on tracks that several devices share; its place is in annotations. */
static void place_rocprof(struct slicer *s, const struct perfetto_told *told, struct slice *slice)
{
    struct perfetto *p = s->p;

    if (told->has_times) {
        slice->begin = told->begin;
        slice->dur = nanos_sub(told->end, told->begin);
    }
    if (!told->is_device)
        return;
    int32_t device = told->is_copy ? device_of_copy(s, told) : told->device;
    strid stream = told->stream != 0 ? told->stream : capture_intern(p->cap, S("0"));
    slice->lane = capture_lane(
        p->cap, (struct lane_key){.kind = LANE_STREAM, .device = device, .name = stream});
}

/* Names decide between kernels, copies and collectives. */
static enum slice_kind settle_kind(const struct perfetto *p, const struct perfetto_record *r)
{
    static const struct str copies[] = {S_INIT("memcpy"), S_INIT("memset"), S_INIT("[CUDA mem"),
                                        S_INIT("hipMemcpy"), S_INIT("MEMORY_COPY")};

    if (r->kind != SLICE_COMPUTE || p->is_own)
        return (enum slice_kind)r->kind;
    if (STR_ANY(str_starts_nocase, capture_text(p->cap, r->name), copies))
        return SLICE_COPY;
    return classify_kernel(VENDOR_NVIDIA, S(""), capture_text(p->cap, r->name), S(""));
}

/* A slice of a record that begins one; it lasts `dur`. */
static void make_slice(struct slicer *s, uint32_t record, nanos dur)
{
    struct perfetto *p = s->p;
    const struct perfetto_record *r = &p->records.at[record];
    const struct perfetto_told *told = p->has_rocprof ? told_of(p, record) : NULL;
    struct slice slice = {.begin = r->at,
                          .dur = dur,
                          .lane = perfetto_lane(p, r->track),
                          .name = r->name,
                          .set = r->set,
                          .own = r->own,
                          .kind = settle_kind(p, r)};

    if (told != NULL)
        place_rocprof(s, told, &slice);
    if (import_is_other_device(p->i, p->cap->lanes.at[slice.lane].key.device) &&
        p->cap->lanes.at[slice.lane].key.device >= 0)
        return;
    if (!import_lasts(slice.dur)) {
        s->bad++;
        return;
    }
    if (p->tracks.at[r->track].is_warp)
        slice.kind = SLICE_COMPUTE;
    if (slice.name == 0 && !p->is_own)
        slice.name = capture_intern(p->cap, S("unnamed"));
    bool is_range = slice.kind == SLICE_HOST_OP || slice.kind == SLICE_ANNOTATION;
    if (is_range && !p->is_own)
        step_name_mark(p->cap, &slice, true);
    s->slice_of[record] = capture_slice(p->cap, &slice);
}

static void end_slice(struct slicer *s, uint32_t end)
{
    struct perfetto *p = s->p;

    if (s->open.n == 0) {
        p->unmatched++;
        return;
    }
    uint32_t begin = s->open.at[--s->open.n];
    make_slice(s, begin, nanos_sub(p->records.at[end].at, p->records.at[begin].at));
    s->slice_of[end] = s->slice_of[begin];
}

/* Values of some counters are what is added. */
static void take_sample(struct slicer *s, const struct perfetto_record *r)
{
    struct perfetto *p = s->p;
    series_id series = perfetto_series(p, r->track);
    const struct perfetto_track *t = &p->tracks.at[r->track];
    double value = r->value;

    if (t->is_incremental) {
        if (r->generation != s->generation)
            s->sum = 0;
        s->generation = r->generation;
        s->sum += value;
        value = s->sum;
    }
    capture_sample(p->cap, series, r->at, value * (double)t->multiplier);
}

/* The slices that are open at the end of the trace last to its last event. */
static void close_track(struct slicer *s, nanos last)
{
    while (s->open.n > 0) {
        uint32_t begin = s->open.at[--s->open.n];
        make_slice(s, begin, nanos_sub(last, s->p->records.at[begin].at));
    }
}

/* Becomes a slice, ends one, or is a sample. */
static void take_record(struct slicer *s, uint32_t record)
{
    const struct perfetto_record *r = &s->p->records.at[record];

    switch ((enum perfetto_what)r->what) {
    case RECORD_BEGIN:
        vec_push(&s->open, record);
        return;
    case RECORD_END:
        end_slice(s, record);
        return;
    case RECORD_INSTANT:
        make_slice(s, record, 0);
        return;
    case RECORD_WHOLE:
        make_slice(s, record, r->dur);
        return;
    case RECORD_COUNT:
        take_sample(s, r);
        return;
    }
}

/* Track by track; an open slice lasts to the last event of the trace. */
static void make_all(struct slicer *s)
{
    struct perfetto *p = s->p;
    nanos last = INT64_MIN;
    struct by_track *order = order_records(p);

    for (size_t i = 0; i < p->records.n; i++)
        last = p->records.at[i].at > last ? p->records.at[i].at : last;
    for (size_t i = 0; i < p->records.n; i++) {
        bool is_new = i == 0 || order[i].track != order[i - 1].track;
        if (is_new) {
            close_track(s, last);
            s->sum = 0;
        }
        take_record(s, order[i].record);
        if (i % 65536 == 0 && cancelled())
            break;
    }
    close_track(s, last);
    mem_free(order);
}

/* ---- arrows ---- */

/* The uses of one flow follow each other in time; records of one time as they came. */
struct flow_use {
    uint64_t id;
    nanos at;
    uint32_t record;
    bool is_last;
};

ORDER_BY(by_id_and_time, struct flow_use,
         ORDER(x->id, y->id) ?: ORDER(x->at, y->at) ?: ORDER(x->record, y->record));

/* From host to device an arrow is a launch; strata writes the kind into the number. */
static enum flow_kind kind_of_flow(const struct perfetto *p, uint64_t id, uint32_t from,
                                   uint32_t to)
{
    const struct capture *cap = p->cap;

    if (p->is_own)
        return id % PERFETTO_FLOW_KINDS <= FLOW_OTHER ? (enum flow_kind)(id % PERFETTO_FLOW_KINDS)
                                                      : FLOW_OTHER;
    bool is_host = cap->lanes.at[cap->slices.lane[from]].key.kind == LANE_THREAD;
    bool is_work = slice_is_kernel((enum slice_kind)cap->slices.kind[to]) &&
                   cap->lanes.at[cap->slices.lane[to]].key.kind == LANE_STREAM;
    return is_host && is_work ? FLOW_LAUNCH : FLOW_OTHER;
}

static void add_flow(struct slicer *s, uint64_t id, uint32_t from, uint32_t to)
{
    uint32_t a = s->slice_of[from], b = s->slice_of[to];

    if (a != NO_SLICE && b != NO_SLICE && a != b)
        capture_flow(s->p->cap, kind_of_flow(s->p, id, a, b), a, b);
}

static void join_uses(struct slicer *s)
{
    struct perfetto *p = s->p;
    struct flow_use *uses = mem_grow(NULL, sizeof(*uses), p->uses.n + 1);

    for (size_t i = 0; i < p->uses.n; i++) {
        const struct perfetto_use *u = &p->uses.at[i];
        uses[i] = (struct flow_use){u->id, p->records.at[u->record].at, u->record, u->is_last};
    }
    if (p->uses.n > 1)
        qsort(uses, p->uses.n, sizeof(*uses), by_id_and_time);
    for (size_t i = 0; i + 1 < p->uses.n; i++)
        if (uses[i].id == uses[i + 1].id && !uses[i].is_last)
            add_flow(s, uses[i].id, uses[i].record, uses[i + 1].record);
    mem_free(uses);
}

/* The record that an arrow's end names; NO_SLICE: a stage that is not there. */
static uint32_t end_of_arrow(const struct perfetto *p, uint64_t number, bool is_stage)
{
    uint32_t record;

    if (!is_stage)
        return (uint32_t)number;
    return hash_get(&p->stage_records, number, &record) ? record : NO_SLICE;
}

static void join_arrows(struct slicer *s)
{
    struct perfetto *p = s->p;

    for (size_t i = 0; i < p->arrows.n; i++) {
        const struct perfetto_arrow *a = &p->arrows.at[i];
        uint32_t from = end_of_arrow(p, a->from, a->is_from_stage);
        uint32_t to = end_of_arrow(p, a->to, a->is_to_stage);
        if (from != NO_SLICE && to != NO_SLICE)
            add_flow(s, FLOW_OTHER, from, to);
    }
}

void perfetto_make_slices(struct perfetto *p)
{
    struct slicer s = {.p = p};

    s.slice_of = mem_grow(NULL, sizeof(*s.slice_of), p->records.n + 1);
    memset(s.slice_of, 0xff, (p->records.n + 1) * sizeof(*s.slice_of));
    for (size_t i = 0; i < p->tracks.n; i++)
        if (p->tracks.at[i].has_process && !p->tracks.at[i].has_thread)
            hash_add(&p->processes, (uint64_t)p->tracks.at[i].pid, (uint32_t)i);
    for (size_t i = 0; i < p->told.n; i++)
        if (p->told.at[i].is_device && !p->told.at[i].is_copy)
            hash_put(&s.agents, (uint64_t)p->told.at[i].device, 1);
    bool has_warps = false;
    for (size_t i = 0, n = p->tracks.n; i < n; i++)
        has_warps = perfetto_is_warp(p, (uint32_t)i) || has_warps;
    if (has_warps)
        unwrap_warps(p);
    if (p->shift != 0)
        for (size_t i = 0; i < p->records.n; i++)
            p->records.at[i].at = nanos_sub(p->records.at[i].at, p->shift);
    make_all(&s);
    join_uses(&s);
    join_arrows(&s);
    if (s.bad > 0)
        import_lose(p->i, import_file(p->i), "perfetto.bad-duration",
                    "%llu slices skipped: their durations are negative or over 7 days",
                    (unsigned long long)s.bad);
    vec_free(&s.open);
    hash_free(&s.agents);
    mem_free(s.slice_of);
}
