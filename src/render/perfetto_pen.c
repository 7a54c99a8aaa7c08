/*
 * The packets of a Perfetto trace. Format reference: docs/formats/perfetto.md
 */
#include "render/perfetto_pen.h"

#include <string.h>

enum {
    SEQUENCE = 1, /* all packets are of one writer */
    SEQUENCE_BEGINS = 1,
    BY_RANK = 3, /* children of a track stand in the order of their rank */
    CLOCK_UNIX = 1,
    CLOCK_TRACE = 6,
};

enum event_type { EVENT_BEGIN = 1, EVENT_END = 2, EVENT_COUNTER = 4 };

/* The generated structs want char *; nothing writes through it. */
static char *text_of(struct str s)
{
    union {
        const char *in;
        char *out;
    } text = {s.n > 0 ? s.at : ""};

    return text.out;
}

static void put_varint(struct perfetto_pen *p, uint64_t value)
{
    char bytes[10];
    size_t n = 0;

    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (char)(value | 0x80);
    bytes[n++] = (char)value;
    text_out_put(&p->out, (struct str){bytes, n});
}

static void put_packet(struct perfetto_pen *p, Strata__Perfetto__TracePacket *packet)
{
    packet->has_trusted_packet_sequence_id = 1;
    packet->trusted_packet_sequence_id = SEQUENCE;
    packet->has_sequence_flags = !p->has_packets;
    packet->sequence_flags = SEQUENCE_BEGINS;
    p->has_packets = true;
    size_t n = strata__perfetto__trace_packet__get_packed_size(packet);
    vec_reserve(&p->packed, n);
    strata__perfetto__trace_packet__pack(packet, p->packed.at);
    put_varint(p, 1 << 3 | 2); /* Trace.packet, with a length */
    put_varint(p, n);
    text_out_put(&p->out, (struct str){(const char *)p->packed.at, n});
}

void perfetto_open(struct perfetto_pen *p, struct sink out, nanos first)
{
    memset(p, 0, sizeof(*p));
    text_out_open(&p->out, out);
    p->next_uuid = 1; /* 0 is the track of everything that names none */
    p->shift = first < 0 ? nanos_sub(0, first) : 0;
}

bool perfetto_close(struct perfetto_pen *p)
{
    vec_free(&p->from);
    vec_free(&p->to);
    vec_free(&p->notes);
    vec_free(&p->note_list);
    vec_free(&p->packed);
    return text_out_close(&p->out);
}

void perfetto_clock(struct perfetto_pen *p, nanos at, nanos unix_at)
{
    Strata__Perfetto__TracePacket packet = STRATA__PERFETTO__TRACE_PACKET__INIT;
    Strata__Perfetto__ClockSnapshot snapshot = STRATA__PERFETTO__CLOCK_SNAPSHOT__INIT;
    Strata__Perfetto__Clock trace = STRATA__PERFETTO__CLOCK__INIT, real = trace;
    Strata__Perfetto__Clock *clocks[] = {&trace, &real};

    trace.has_clock_id = trace.has_timestamp = 1;
    trace.clock_id = CLOCK_TRACE;
    trace.timestamp = (uint64_t)(at + p->shift);
    real.has_clock_id = real.has_timestamp = 1;
    real.clock_id = CLOCK_UNIX;
    real.timestamp = (uint64_t)unix_at;
    snapshot.clocks = clocks;
    snapshot.n_clocks = ARRAY_LEN(clocks);
    snapshot.has_primary_trace_clock = 1;
    snapshot.primary_trace_clock = CLOCK_TRACE;
    packet.has_timestamp = 1;
    packet.timestamp = trace.timestamp;
    packet.clock_snapshot = &snapshot;
    put_packet(p, &packet);
}

uint64_t perfetto_number(struct perfetto_pen *p)
{
    return p->next_uuid++;
}

static void put_track(struct perfetto_pen *p, uint64_t uuid,
                      Strata__Perfetto__TrackDescriptor *track)
{
    Strata__Perfetto__TracePacket packet = STRATA__PERFETTO__TRACE_PACKET__INIT;

    track->has_uuid = 1;
    track->uuid = uuid;
    packet.track_descriptor = track;
    put_packet(p, &packet);
}

uint64_t perfetto_process(struct perfetto_pen *p, struct str name, int64_t pid)
{
    Strata__Perfetto__TrackDescriptor track = STRATA__PERFETTO__TRACK_DESCRIPTOR__INIT;
    Strata__Perfetto__ProcessDescriptor process = STRATA__PERFETTO__PROCESS_DESCRIPTOR__INIT;

    process.has_pid = 1;
    process.pid = pid;
    process.process_name = text_of(name);
    track.process = &process;
    track.has_child_ordering = 1;
    track.child_ordering = BY_RANK;
    uint64_t uuid = perfetto_number(p);
    put_track(p, uuid, &track);
    return uuid;
}

uint64_t perfetto_row(struct perfetto_pen *p, const struct perfetto_row *row)
{
    Strata__Perfetto__TrackDescriptor track = STRATA__PERFETTO__TRACK_DESCRIPTOR__INIT;
    Strata__Perfetto__ThreadDescriptor thread = STRATA__PERFETTO__THREAD_DESCRIPTOR__INIT;
    size_t step = row->number < PERFETTO_ROWS ? row->number : PERFETTO_ROWS - 1;

    track.has_parent_uuid = 1;
    track.parent_uuid = row->parent;
    track.has_sibling_order_rank = 1;
    track.sibling_order_rank = (int32_t)(row->lane * PERFETTO_ROWS + step);
    if (row->is_thread) {
        thread.has_pid = thread.has_tid = 1;
        thread.pid = row->pid;
        thread.tid = row->tid;
        thread.thread_name = text_of(row->name);
        track.thread = &thread;
    } else {
        track.name = text_of(row->name);
    }
    uint64_t uuid = row->uuid != 0 ? row->uuid : perfetto_number(p);
    put_track(p, uuid, &track);
    return uuid;
}

void perfetto_counter(struct perfetto_pen *p, uint64_t uuid, uint64_t parent, struct str name,
                      struct str unit)
{
    Strata__Perfetto__TrackDescriptor track = STRATA__PERFETTO__TRACK_DESCRIPTOR__INIT;
    Strata__Perfetto__CounterDescriptor counter = STRATA__PERFETTO__COUNTER_DESCRIPTOR__INIT;

    if (unit.n > 0)
        counter.unit_name = text_of(unit);
    track.name = text_of(name);
    track.has_parent_uuid = 1;
    track.parent_uuid = parent;
    track.counter = &counter;
    put_track(p, uuid, &track);
}

static void put_event(struct perfetto_pen *p, Strata__Perfetto__TrackEvent *event,
                      enum event_type type, uint64_t uuid, nanos at)
{
    Strata__Perfetto__TracePacket packet = STRATA__PERFETTO__TRACE_PACKET__INIT;

    event->has_type = 1;
    event->type = type;
    event->has_track_uuid = 1;
    event->track_uuid = uuid;
    packet.has_timestamp = 1;
    packet.timestamp = (uint64_t)nanos_add(at, p->shift);
    packet.track_event = event;
    put_packet(p, &packet);
}

static Strata__Perfetto__DebugAnnotation *add_note(struct perfetto_pen *p, struct str name)
{
    Strata__Perfetto__DebugAnnotation note = STRATA__PERFETTO__DEBUG_ANNOTATION__INIT;

    note.name = text_of(name);
    vec_push(&p->notes, note);
    return &p->notes.at[p->notes.n - 1];
}

void perfetto_note_text(struct perfetto_pen *p, struct str name, struct str text)
{
    add_note(p, name)->string_value = text_of(text);
}

void perfetto_note_int(struct perfetto_pen *p, struct str name, int64_t number)
{
    Strata__Perfetto__DebugAnnotation *note = add_note(p, name);

    note->has_int_value = 1;
    note->int_value = number;
}

void perfetto_note_real(struct perfetto_pen *p, struct str name, double real)
{
    Strata__Perfetto__DebugAnnotation *note = add_note(p, name);

    note->has_double_value = 1;
    note->double_value = real;
}

void perfetto_begin(struct perfetto_pen *p, uint64_t track, nanos at, struct str name,
                    struct str category)
{
    Strata__Perfetto__TrackEvent event = STRATA__PERFETTO__TRACK_EVENT__INIT;
    char *categories[] = {text_of(category)};

    for (size_t i = 0; i < p->notes.n; i++)
        vec_push(&p->note_list, &p->notes.at[i]);
    event.name = text_of(name);
    event.categories = categories;
    event.n_categories = ARRAY_LEN(categories);
    event.debug_annotations = p->note_list.at;
    event.n_debug_annotations = p->note_list.n;
    event.flow_ids = p->from.at;
    event.n_flow_ids = p->from.n;
    event.terminating_flow_ids = p->to.at;
    event.n_terminating_flow_ids = p->to.n;
    put_event(p, &event, EVENT_BEGIN, track, at);
    p->notes.n = p->note_list.n = p->from.n = p->to.n = 0;
}

void perfetto_end(struct perfetto_pen *p, uint64_t track, nanos at)
{
    Strata__Perfetto__TrackEvent event = STRATA__PERFETTO__TRACK_EVENT__INIT;

    put_event(p, &event, EVENT_END, track, at);
}

void perfetto_sample(struct perfetto_pen *p, uint64_t track, nanos at, double value)
{
    Strata__Perfetto__TrackEvent event = STRATA__PERFETTO__TRACK_EVENT__INIT;

    event.has_double_counter_value = 1;
    event.double_counter_value = value;
    put_event(p, &event, EVENT_COUNTER, track, at);
}
