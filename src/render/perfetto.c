/*
 * perfetto: Perfetto's own binary trace, a sequence of packets.
 *
 * A process becomes a process track, a thread a thread track, every other lane a child track of
 * its process; further rows of a lane are child tracks of it. A slice is a begin and an end packet
 * on its track, an arrow a number that two begins share.
 * Format reference: docs/formats/perfetto.md
 */
#include "render/proto/perfetto.pb-c.h"
#include "render/timeline.h"
#include "render/tracks.h"

#include <math.h>

enum {
    BETWEEN_TICKS = 4096, /* slices between two looks at the clock and the user */
    SEQUENCE = 1,         /* all packets are of one writer */
    SEQUENCE_BEGINS = 1,
    BY_RANK = 3, /* children of a track stand in the order of their rank */
    CLOCK_UNIX = 1,
    CLOCK_TRACE = 6,
    ROW_ORDER = 1000, /* room for rows between two lanes */
};

enum event_type { EVENT_BEGIN = 1, EVENT_END = 2, EVENT_COUNTER = 4 };

struct writer {
    struct text_out out;
    const struct cut *cut;
    const struct timeline_options *options;
    struct tracks tracks;
    struct tracks_rows rows;
    struct arena arena;  /* texts of one lane or slice */
    uint64_t *processes; /* track of each process */
    uint64_t next_uuid;
    VEC_OF(uint64_t) uuids;    /* by row of the lane: its track */
    VEC_OF(uint64_t) from, to; /* arrows of the slice at hand */
    VEC_OF(Strata__Perfetto__DebugAnnotation) notes;
    VEC_OF(Strata__Perfetto__DebugAnnotation *) note_list;
    VEC_OF(uint8_t) packed;
    nanos shift; /* added to all times: the format has none before 0 */
    size_t slices;
    bool has_packets;
};

/* The generated structs want char *; nothing writes through it. */
static char *text_of(struct str s)
{
    union {
        const char *in;
        char *out;
    } text = {s.n > 0 ? s.at : ""};

    return text.out;
}

static void put_varint(struct writer *w, uint64_t value)
{
    char bytes[10];
    size_t n = 0;

    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (char)(value | 0x80);
    bytes[n++] = (char)value;
    text_out_put(&w->out, (struct str){bytes, n});
}

static void put_packet(struct writer *w, Strata__Perfetto__TracePacket *packet)
{
    packet->has_trusted_packet_sequence_id = 1;
    packet->trusted_packet_sequence_id = SEQUENCE;
    packet->has_sequence_flags = !w->has_packets;
    packet->sequence_flags = SEQUENCE_BEGINS;
    w->has_packets = true;
    size_t n = strata__perfetto__trace_packet__get_packed_size(packet);
    vec_reserve(&w->packed, n);
    strata__perfetto__trace_packet__pack(packet, w->packed.at);
    put_varint(w, 1 << 3 | 2); /* Trace.packet, with a length */
    put_varint(w, n);
    text_out_put(&w->out, (struct str){(const char *)w->packed.at, n});
}

/* Where the times lie in real time, when that is known. */
static void put_clock(struct writer *w)
{
    Strata__Perfetto__TracePacket packet = STRATA__PERFETTO__TRACE_PACKET__INIT;
    Strata__Perfetto__ClockSnapshot snapshot = STRATA__PERFETTO__CLOCK_SNAPSHOT__INIT;
    Strata__Perfetto__Clock trace = STRATA__PERFETTO__CLOCK__INIT, real = trace;
    Strata__Perfetto__Clock *clocks[] = {&trace, &real};
    const struct clock *clock = &w->cut->cap->clock;
    nanos at = w->cut->span.begin;

    if (!clock->has_unix || nanos_add(at, clock->to_unix) < 0)
        return;
    trace.has_clock_id = trace.has_timestamp = 1;
    trace.clock_id = CLOCK_TRACE;
    trace.timestamp = (uint64_t)(at + w->shift);
    real.has_clock_id = real.has_timestamp = 1;
    real.clock_id = CLOCK_UNIX;
    real.timestamp = (uint64_t)nanos_add(at, clock->to_unix);
    snapshot.clocks = clocks;
    snapshot.n_clocks = ARRAY_LEN(clocks);
    snapshot.has_primary_trace_clock = 1;
    snapshot.primary_trace_clock = CLOCK_TRACE;
    packet.has_timestamp = 1;
    packet.timestamp = trace.timestamp;
    packet.clock_snapshot = &snapshot;
    put_packet(w, &packet);
}

/* Gives a track its number and tells it. */
static uint64_t put_track(struct writer *w, Strata__Perfetto__TrackDescriptor *track)
{
    Strata__Perfetto__TracePacket packet = STRATA__PERFETTO__TRACE_PACKET__INIT;

    track->has_uuid = 1;
    track->uuid = w->next_uuid++;
    packet.track_descriptor = track;
    put_packet(w, &packet);
    return track->uuid;
}

static void put_processes(struct writer *w)
{
    size_t n = w->tracks.processes.n;

    w->processes = ARENA_ARRAY(&w->tracks.arena, uint64_t, n);
    for (size_t i = 0; i < n; i++) {
        const struct tracks_process *p = &w->tracks.processes.at[i];
        Strata__Perfetto__TrackDescriptor track = STRATA__PERFETTO__TRACK_DESCRIPTOR__INIT;
        Strata__Perfetto__ProcessDescriptor process = STRATA__PERFETTO__PROCESS_DESCRIPTOR__INIT;
        process.has_pid = 1;
        process.pid = p->pid;
        process.process_name = text_of(p->name);
        track.process = &process;
        track.has_child_ordering = 1;
        track.child_ordering = BY_RANK;
        w->processes[i] = put_track(w, &track);
    }
}

static void add_row(struct writer *w, lane_id lane, size_t row)
{
    const struct tracks_lane *l = &w->tracks.lanes[lane];
    struct str name = tracks_row_name(&w->tracks, lane, row, &w->arena);
    Strata__Perfetto__TrackDescriptor track = STRATA__PERFETTO__TRACK_DESCRIPTOR__INIT;
    Strata__Perfetto__ThreadDescriptor thread = STRATA__PERFETTO__THREAD_DESCRIPTOR__INIT;
    size_t step = row < ROW_ORDER ? row : ROW_ORDER - 1;

    track.has_parent_uuid = 1;
    track.parent_uuid = row == 0 ? w->processes[l->process] : w->uuids.at[0];
    track.has_sibling_order_rank = 1;
    track.sibling_order_rank = (int32_t)(lane * ROW_ORDER + step);
    if (row == 0 && w->tracks.processes.at[l->process].is_host) {
        thread.has_pid = thread.has_tid = 1;
        thread.pid = w->tracks.processes.at[l->process].pid;
        thread.tid = l->tid;
        thread.thread_name = text_of(name);
        track.thread = &thread;
    } else {
        track.name = text_of(name);
    }
    vec_push(&w->uuids, put_track(w, &track));
}

static void put_event(struct writer *w, Strata__Perfetto__TrackEvent *event, enum event_type type,
                      uint64_t uuid, nanos at)
{
    Strata__Perfetto__TracePacket packet = STRATA__PERFETTO__TRACE_PACKET__INIT;

    event->has_type = 1;
    event->type = type;
    event->has_track_uuid = 1;
    event->track_uuid = uuid;
    packet.has_timestamp = 1;
    packet.timestamp = (uint64_t)nanos_add(at, w->shift);
    packet.track_event = event;
    put_packet(w, &packet);
}

static void put_end(void *ctx, size_t row, nanos end)
{
    Strata__Perfetto__TrackEvent event = STRATA__PERFETTO__TRACK_EVENT__INIT;
    struct writer *w = ctx;

    put_event(w, &event, EVENT_END, w->uuids.at[row], end);
}

static void add_note(struct writer *w, const struct slice *slice, const struct attr *a)
{
    const struct capture *cap = w->cut->cap;
    Strata__Perfetto__DebugAnnotation note = STRATA__PERFETTO__DEBUG_ANNOTATION__INIT;
    struct str key = timeline_key(cap, slice, a->key);

    if (a->type == ATTR_TIME)
        key = arena_format(&w->arena, "%.*s_ns", STR_ARGS(key));
    note.name = text_of(key);
    if (a->type == ATTR_TEXT) {
        note.string_value = text_of(capture_text(cap, a->text));
    } else if (a->type == ATTR_REAL) {
        note.has_double_value = 1;
        note.double_value = a->real;
    } else {
        note.has_int_value = 1;
        note.int_value = a->type == ATTR_TIME ? a->time : a->number;
    }
    vec_push(&w->notes, note);
}

static void take_notes(struct writer *w, const struct slice *slice)
{
    const struct capture *cap = w->cut->cap;
    const attr_run runs[] = {slice->set, slice->own};
    struct attr a;

    w->notes.n = 0;
    w->note_list.n = 0;
    for (size_t r = 0; r < ARRAY_LEN(runs); r++) {
        struct attr_walk walk = attrs_walk(&cap->attrs, runs[r]);
        while (attrs_next(&walk, &a))
            if (timeline_shows(cap, slice, r == 0, &a))
                add_note(w, slice, &a);
    }
    for (size_t i = 0; i < w->notes.n; i++)
        vec_push(&w->note_list, &w->notes.at[i]);
}

static void take_arrows(struct writer *w, uint32_t slice)
{
    size_t flow;

    w->from.n = 0;
    w->to.n = 0;
    while (tracks_arrow_from(&w->tracks, slice, &flow))
        vec_push(&w->from, flow + 1);
    while (tracks_arrow_to(&w->tracks, slice, &flow))
        vec_push(&w->to, flow + 1);
}

static void put_begin(struct writer *w, uint32_t number, const struct slice *slice, uint64_t uuid)
{
    const struct capture *cap = w->cut->cap;
    Strata__Perfetto__TrackEvent event = STRATA__PERFETTO__TRACK_EVENT__INIT;
    struct arena_mark mark = arena_mark(&w->arena);
    char *categories[] = {text_of(timeline_category(cap, slice))};

    take_notes(w, slice);
    take_arrows(w, number);
    event.name = text_of(capture_text(cap, slice->name));
    event.categories = categories;
    event.n_categories = ARRAY_LEN(categories);
    event.debug_annotations = w->note_list.at;
    event.n_debug_annotations = w->note_list.n;
    event.flow_ids = w->from.at;
    event.n_flow_ids = w->from.n;
    event.terminating_flow_ids = w->to.at;
    event.n_terminating_flow_ids = w->to.n;
    put_event(w, &event, EVENT_BEGIN, uuid, slice->begin);
    arena_rewind(&w->arena, mark);
}

static bool put_lane(struct writer *w, lane_id id)
{
    const struct lane *lane = &w->cut->cap->lanes.at[id];
    struct arena_mark mark = arena_mark(&w->arena);

    w->uuids.n = 0;
    for (size_t i = lane->first; i < lane->first + lane->n; i++) {
        if (!cut_has(w->cut, i))
            continue;
        struct slice slice = cut_slice(w->cut, i);
        nanos end = nanos_add(slice.begin, slice.dur);
        size_t row = tracks_place(&w->rows, slice.begin, end);
        if (row == w->uuids.n)
            add_row(w, id, row);
        put_begin(w, (uint32_t)i, &slice, w->uuids.at[row]);
        if (row >= TRACKS_NESTING_ROWS)
            put_end(w, row, end);
        if (++w->slices % BETWEEN_TICKS == 0 &&
            (w->out.has_failed || !timeline_goes_on(w->options, w->out.total)))
            return false;
    }
    tracks_next_lane(&w->rows);
    arena_rewind(&w->arena, mark);
    return true;
}

static void put_series(struct writer *w, size_t id)
{
    const struct capture *cap = w->cut->cap;
    const struct series *series = &cap->series.at[id];
    Strata__Perfetto__TrackDescriptor track = STRATA__PERFETTO__TRACK_DESCRIPTOR__INIT;
    Strata__Perfetto__CounterDescriptor counter = STRATA__PERFETTO__COUNTER_DESCRIPTOR__INIT;

    if (series->unit != 0)
        counter.unit_name = text_of(capture_text(cap, series->unit));
    track.name = text_of(capture_text(cap, series->name));
    track.has_parent_uuid = 1;
    track.parent_uuid = w->processes[w->tracks.series[id]];
    track.counter = &counter;
    uint64_t uuid = put_track(w, &track);
    for (size_t i = 0; i < series->samples.n; i++) {
        const struct sample *s = &series->samples.at[i];
        Strata__Perfetto__TrackEvent event = STRATA__PERFETTO__TRACK_EVENT__INIT;
        if (!cut_has_sample(w->cut, s->at) || !isfinite(s->value))
            continue;
        event.has_double_counter_value = 1;
        event.double_counter_value = s->value;
        put_event(w, &event, EVENT_COUNTER, uuid, s->at);
    }
}

static bool write_all(struct writer *w)
{
    const struct cut *cut = w->cut;
    bool goes_on = true;

    put_clock(w);
    put_processes(w);
    for (lane_id i = 0; i < cut->cap->lanes.n && goes_on; i++)
        if (cut->lanes[i])
            goes_on = put_lane(w, i);
    for (size_t i = 0; i < cut->cap->series.n && goes_on; i++)
        if (cut->series[i]) {
            put_series(w, i);
            goes_on = timeline_goes_on(w->options, w->out.total);
        }
    return text_out_close(&w->out) && goes_on;
}

static bool write_perfetto(const struct cut *cut, const struct timeline_options *options,
                           struct sink out)
{
    struct writer *w = mem_grow(NULL, sizeof(*w), 1);

    memset(w, 0, sizeof(*w));
    text_out_open(&w->out, out);
    w->cut = cut;
    w->options = options;
    w->next_uuid = 1; /* 0 is the track of everything that names none */
    w->shift = cut->span.begin < 0 ? nanos_sub(0, cut->span.begin) : 0;
    w->rows.ended = put_end;
    w->rows.ctx = w;
    arena_init(&w->arena);
    tracks_init(&w->tracks, cut, false);
    bool is_done = write_all(w);
    tracks_fini(&w->tracks);
    tracks_rows_free(&w->rows);
    vec_free(&w->uuids);
    vec_free(&w->from);
    vec_free(&w->to);
    vec_free(&w->notes);
    vec_free(&w->note_list);
    vec_free(&w->packed);
    arena_free(&w->arena);
    mem_free(w);
    return is_done;
}

static const char *const endings[] = {".pftrace", ".perfetto-trace", NULL};

const struct timeline_format timeline_perfetto = {
    .name = "perfetto",
    .endings = endings,
    .summary = "Perfetto's binary trace (protobuf)",
    .is_binary = true,
    .write = write_perfetto,
};
