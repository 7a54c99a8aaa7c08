/*
 * Events of tracks: slices, instants, counters, in the form of today and in that of old traces.
 */
#include "input/perfetto/perfetto.h"
#include "input/trace/trace_words.h"

enum { COUNTS_MOST = 8, CLOCK_MONOTONIC = 3 };

/* The types of events. */
enum { EVENT_BEGIN = 1, EVENT_END = 2, EVENT_INSTANT = 3, EVENT_COUNTER = 4, EVENT_WHOLE = 6 };

/* A list of numbers, packed or not. */
struct numbers {
    uint64_t at[COUNTS_MOST];
    size_t n;
};

/* An event as it lies in the file. */
struct event {
    uint64_t type, track, name_id, category_id, count, delta_us, absolute_us;
    struct str name, categories[2], old, gpu, notes[PERFETTO_NOTES];
    double real;
    size_t n_notes, n_categories;
    bool has_track, has_name_id, has_category_id, has_count, has_real, has_delta, has_absolute,
        has_old, has_gpu, has_flows;
    struct numbers extra, extra_tracks, extra_real, extra_real_tracks;
};

static void add_number(struct numbers *list, uint64_t value)
{
    if (list->n < COUNTS_MOST)
        list->at[list->n++] = value;
}

static void add_numbers(struct numbers *list, const struct proto_field *f)
{
    struct str left = f->bytes;
    uint64_t value;

    if (f->wire != PROTO_BYTES) {
        add_number(list, f->value);
        return;
    }
    while (proto_packed(&left, &value))
        add_number(list, value);
}

/* Members that are texts or messages. */
static void event_bytes(struct event *e, const struct proto_field *f)
{
    switch (f->number) {
    case 4:
        if (e->n_notes < PERFETTO_NOTES)
            e->notes[e->n_notes++] = f->bytes;
        return;
    case 6:
        e->old = f->bytes;
        e->has_old = true;
        return;
    case 22:
        if (e->n_categories < 2)
            e->categories[e->n_categories++] = f->bytes;
        return;
    case 23:
        e->name = f->bytes;
        return;
    case 3000:
        e->gpu = f->bytes;
        e->has_gpu = true;
        return;
    default:
        return;
    }
}

/* Members that are numbers. */
static void event_number(struct event *e, const struct proto_field *f)
{
    switch (f->number) {
    case 1:
        e->delta_us = f->value;
        e->has_delta = true;
        return;
    case 9:
        e->type = f->value;
        return;
    case 10:
        e->name_id = f->value;
        e->has_name_id = true;
        return;
    case 11:
        e->track = f->value;
        e->has_track = true;
        return;
    case 16:
        e->absolute_us = f->value;
        e->has_absolute = true;
        return;
    case 30:
        e->count = f->value;
        e->has_count = true;
        return;
    default:
        return;
    }
}

/* Fields that come as numbers or packed, and those of other widths. */
static void event_other(struct event *e, const struct proto_field *f)
{
    struct str left = f->bytes;

    switch (f->number) {
    case 3:
        if (f->wire == PROTO_VARINT)
            e->category_id = f->value;
        else if (f->wire != PROTO_BYTES || !proto_packed(&left, &e->category_id))
            return;
        e->has_category_id = true;
        return;
    case 12:
        add_numbers(&e->extra, f);
        return;
    case 31:
        add_numbers(&e->extra_tracks, f);
        return;
    case 45:
        add_numbers(&e->extra_real_tracks, f);
        return;
    case 46:
        if (f->wire == PROTO_FIXED64)
            add_number(&e->extra_real, f->value);
        return;
    case 44:
        e->real = proto_real(f->value);
        e->has_real = f->wire == PROTO_FIXED64;
        return;
    case 36:
    case 42:
    case 47:
    case 48:
        e->has_flows = true;
        return;
    default:
        return;
    }
}

static bool read_event(struct str message, struct event *e)
{
    struct proto in = proto_of(message);
    struct proto_field f;

    memset(e, 0, offsetof(struct event, notes));
    memset(&e->real, 0, sizeof(*e) - offsetof(struct event, real));
    e->name = e->old = e->gpu = S("");
    while (proto_next(&in, &f)) {
        if (f.number == 3 || f.number == 12 || f.number == 31 || (f.number >= 36 && f.number <= 48))
            event_other(e, &f);
        else if (f.wire == PROTO_BYTES)
            event_bytes(e, &f);
        else if (f.wire == PROTO_VARINT)
            event_number(e, &f);
    }
    return !in.is_bad;
}

/* The part of an event that is in the form of old traces. */
struct old_event {
    uint64_t phase, dur_us, id, bind, direction, name_id;
    bool has_bind;
};

/* Numbers of 6, 10 and 11 are one identity in three spellings. */
static void read_old(struct str message, struct old_event *o)
{
    struct proto in = proto_of(message);
    struct proto_field f;

    *o = (struct old_event){0};
    while (proto_next(&in, &f)) {
        if (f.wire == PROTO_BYTES)
            continue;
        if (f.number == 1)
            o->name_id = f.value;
        else if (f.number == 2)
            o->phase = f.value;
        else if (f.number == 3)
            o->dur_us = f.value;
        else if (f.number == 6 || f.number == 10 || f.number == 11)
            o->id = f.value;
        else if (f.number == 13)
            o->direction = f.value;
        if (f.number == 8) {
            o->bind = f.value;
            o->has_bind = true;
        }
    }
}

/* ---- what an event is ---- */

/* strata writes the kind of a slice as its last category. */
static bool own_kind(struct str name, uint8_t *kind)
{
    for (uint8_t k = 0; k < SLICE_KINDS; k++)
        if (str_equal(name, str_of(slice_kind_name((enum slice_kind)k)))) {
            *kind = k;
            return true;
        }
    return false;
}

static uint8_t kind_of_event(const struct perfetto *p, const struct event *e, strid category)
{
    struct str text = capture_text(p->cap, category);
    uint8_t kind = SLICE_HOST_OP;

    if (p->is_own && e->n_categories > 0 && own_kind(e->categories[e->n_categories - 1], &kind))
        return kind;
    if (str_equal(text, S("kernel_dispatch")))
        return SLICE_COMPUTE; /* or communication, by its name: settled later */
    if (str_equal(text, S("memory_copy")))
        return SLICE_COPY;
    if (str_ends(text, S("_api")))
        return str_starts(text, S("marker")) ? SLICE_ANNOTATION : SLICE_RUNTIME;
    enum trace_hint hint = trace_category(text);
    return hint == HINT_PLAIN ? SLICE_HOST_OP : trace_hint_kinds[hint];
}

static strid category_of(struct perfetto *p, const struct perfetto_sequence *s,
                         const struct event *e)
{
    if (e->n_categories > 0)
        return capture_intern(p->cap, e->categories[0]);
    return e->has_category_id ? perfetto_text(s, LIST_CATEGORIES, e->category_id) : 0;
}

/* ---- records ---- */

static void add_count(struct perfetto *p, const struct perfetto_sequence *s, uint64_t track,
                      nanos at, double value)
{
    perfetto_record(p, &(struct perfetto_record){.at = at,
                                                 .value = value,
                                                 .track = perfetto_track(p, TRACK_NAMED, track, 0),
                                                 .what = RECORD_COUNT,
                                                 .generation = s->generation});
}

/* Values of other tracks that come with an event; which, it says itself or the defaults do. */
static void add_extra(struct perfetto *p, const struct perfetto_sequence *s, const struct event *e,
                      nanos at)
{
    bool is_own = e->extra_tracks.n > 0, is_own_real = e->extra_real_tracks.n > 0;
    size_t n = is_own ? e->extra_tracks.n : s->n_extra;
    size_t n_real = is_own_real ? e->extra_real_tracks.n : s->n_extra_real;

    for (size_t i = 0; i < n && i < e->extra.n; i++)
        add_count(p, s, is_own ? e->extra_tracks.at[i] : s->extra[i], at,
                  (double)(int64_t)e->extra.at[i]);
    for (size_t i = 0; i < n_real && i < e->extra_real.n; i++)
        add_count(p, s, is_own_real ? e->extra_real_tracks.at[i] : s->extra_real[i], at,
                  proto_real(e->extra_real.at[i]));
}

/* Flows that a record is part of: eight bytes each (47, 48), or numbers in old traces (36, 42);
 * packed or not. The second of each ends there. */
static void add_uses(struct perfetto *p, struct str message, uint32_t record)
{
    struct proto in = proto_of(message);
    struct proto_field f;

    while (proto_next(&in, &f)) {
        bool is_fixed = f.number == 47 || f.number == 48,
             is_last = f.number == 42 || f.number == 48;
        uint64_t id;
        if (!is_fixed && f.number != 36 && f.number != 42)
            continue;
        if (f.wire != PROTO_BYTES) {
            vec_push(&p->uses, ((struct perfetto_use){f.value, record, is_last}));
            continue;
        }
        struct proto list = proto_of(f.bytes);
        while (list.at < list.end &&
               (is_fixed ? proto_fixed(&list, sizeof(id), &id) : proto_varint(&list, &id)))
            vec_push(&p->uses, ((struct perfetto_use){id, record, is_last}));
    }
}

/* Work that an event has submitted to a GPU, and work that it has waited for: 1 and 2. */
static void add_gpu_arrows(struct perfetto *p, struct str message, uint32_t record)
{
    struct proto in = proto_of(message);
    struct proto_field f;

    while (proto_next(&in, &f)) {
        struct numbers list = {.n = 0};
        if (f.number != 1 && f.number != 2)
            continue;
        add_numbers(&list, &f);
        for (size_t i = 0; i < list.n; i++) {
            struct perfetto_arrow a = {record, list.at[i], false, true};
            if (f.number == 2)
                a = (struct perfetto_arrow){list.at[i], record, true, false};
            vec_push(&p->arrows, a);
        }
    }
}

/* Old arrows: an end leads from the last event that the arrow has left. */
static void add_old_arrow(struct perfetto *p, const struct old_event *o, uint32_t record)
{
    enum { IN = 1, OUT = 2 };
    uint32_t from;

    if (!o->has_bind)
        return;
    if ((o->direction & IN) != 0 && hash_get(&p->open_arrows, o->bind, &from))
        vec_push(&p->arrows, ((struct perfetto_arrow){from, record, false, false}));
    if ((o->direction & OUT) != 0)
        hash_put(&p->open_arrows, o->bind, record);
}

static void add_told(struct perfetto *p, const struct perfetto_notes *notes, uint32_t record)
{
    struct perfetto_told told = {.record = record,
                                 .has_times = notes->has_begin && notes->has_end,
                                 .begin = notes->begin,
                                 .end = notes->end,
                                 .is_device = notes->has_agent || notes->has_copy,
                                 .is_copy = notes->has_copy,
                                 .device = (int32_t)(notes->has_copy ? notes->to : notes->agent),
                                 .other = (int32_t)notes->from,
                                 .stream = notes->stream};

    if (told.has_times || told.is_device) {
        vec_push(&p->told, told);
        p->has_rocprof = true;
    }
}

/* The track of an event: its own, the sequence's, that of the thread, or none. */
static uint32_t track_of(struct perfetto *p, const struct perfetto_sequence *s,
                         const struct event *e)
{
    if (e->has_track || s->has_track)
        return perfetto_track(p, TRACK_NAMED, e->has_track ? e->track : s->track, 0);
    if (s->has_thread_track)
        return perfetto_track(p, TRACK_NAMED, s->thread_track, 0);
    if (s->has_thread)
        return perfetto_track(p, TRACK_THREAD, (uint64_t)s->pid, (uint64_t)s->tid);
    return perfetto_track(p, TRACK_SEQUENCE, s->id, 0);
}

/* The type of an event in the form of old traces; 0: it is not read. */
static uint64_t old_type(uint64_t phase)
{
    static const struct {
        char phase;
        uint8_t type;
    } types[] = {{'B', EVENT_BEGIN},   {'b', EVENT_BEGIN},   {'E', EVENT_END},
                 {'e', EVENT_END},     {'I', EVENT_INSTANT}, {'i', EVENT_INSTANT},
                 {'n', EVENT_INSTANT}, {'R', EVENT_INSTANT}, {'X', EVENT_WHOLE}};

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if ((uint64_t)types[i].phase == phase)
            return types[i].type;
    return 0;
}

/* When an event was; false when nobody knows. Old events count microseconds. */
static bool time_of(struct perfetto *p, struct perfetto_sequence *s, const struct event *e,
                    uint64_t at, bool has_time, uint32_t clock, nanos *out)
{
    if (e->has_delta || e->has_absolute) {
        if (e->has_delta)
            s->thread_us = nanos_add(s->thread_us, (int64_t)e->delta_us);
        int64_t us = e->has_delta ? s->thread_us : (int64_t)e->absolute_us;
        bool is_known = hash_get(&p->domain_ids, CLOCK_MONOTONIC, &(uint32_t){0});
        at = us > 0 && us < INT64_MAX / 1000 ? (uint64_t)us * 1000 : 0;
        return perfetto_time(p, s, at, is_known ? CLOCK_MONOTONIC : 0, out);
    }
    return has_time && perfetto_time(p, s, at, clock, out);
}

/* A record of the event's own type; false for one that is not kept. */
static bool add_record(struct perfetto *p, struct perfetto_sequence *s, const struct event *e,
                       const struct old_event *old, struct perfetto_record *record,
                       struct perfetto_notes *notes)
{
    static const uint8_t whats[] = {[EVENT_BEGIN] = RECORD_BEGIN,
                                    [EVENT_END] = RECORD_END,
                                    [EVENT_INSTANT] = RECORD_INSTANT,
                                    [EVENT_WHOLE] = RECORD_WHOLE};
    uint64_t type = e->type != 0 ? e->type : old_type(old->phase);

    if (type == 0 || type > EVENT_WHOLE || type == 5) {
        p->lost_kinds += e->has_old;
        return false;
    }
    record->name = e->name.n > 0    ? capture_intern(p->cap, e->name)
                   : e->has_name_id ? perfetto_text(s, LIST_NAMES, e->name_id)
                   : e->has_old     ? perfetto_text(s, LIST_NAMES, old->name_id)
                                    : 0;
    if (e->type == 0 && (old->phase == 'b' || old->phase == 'n' || old->phase == 'e'))
        record->track = perfetto_track(p, TRACK_ASYNC, old->id, record->name);
    record->what = whats[type];
    if (type == EVENT_WHOLE)
        record->dur = old->dur_us < INT64_MAX / 1000 ? (nanos)(old->dur_us * 1000) : -1;
    if (type == EVENT_END)
        return true;
    record->category = category_of(p, s, e);
    record->kind = kind_of_event(p, e, record->category);
    perfetto_take_notes(p, s, e->notes, e->n_notes, notes);
    if (record->category != 0 && (!p->is_own || e->n_categories > 1) &&
        notes->n_set < PERFETTO_NOTES)
        notes->set[notes->n_set++] = attr_text(capture_key(p->cap, KEY_CAT), record->category);
    record->set = attrs_set(&p->cap->attrs, notes->set, notes->n_set);
    record->own = attrs_own(&p->cap->attrs, notes->own, notes->n_own);
    return true;
}

void perfetto_take_event(struct perfetto *p, struct perfetto_sequence *s, struct str message,
                         uint64_t at, bool has_time, uint32_t clock)
{
    struct perfetto_record record = {0};
    struct old_event old = {0};
    struct perfetto_notes notes;
    struct event e;

    if (!read_event(message, &e)) {
        import_lose(p->i, import_byte(p->i, p->member), "perfetto.damaged",
                    "damaged event skipped");
        return;
    }
    if (!time_of(p, s, &e, at, has_time, clock, &record.at)) {
        p->skipped++;
        return;
    }
    p->i->rows++;
    if (e.has_old)
        read_old(e.old, &old);
    record.track = track_of(p, s, &e);
    add_extra(p, s, &e, record.at);
    if (e.type == EVENT_COUNTER) {
        add_count(p, s, p->tracks.at[record.track].uuid, record.at,
                  e.has_count ? (double)(int64_t)e.count : e.real);
        return;
    }
    notes.has_begin = notes.has_end = notes.has_agent = notes.has_copy = false;
    if (!add_record(p, s, &e, &old, &record, &notes))
        return;
    uint32_t number = perfetto_record(p, &record);
    if (e.has_flows)
        add_uses(p, message, number);
    if (record.what != RECORD_END)
        add_told(p, &notes, number);
    if (e.has_gpu)
        add_gpu_arrows(p, e.gpu, number);
    if (e.has_old)
        add_old_arrow(p, &old, number);
}
