/*
 * xplane: the rows of one plane as lanes, their events as slices.
 */
#include "base/run/cancel.h"
#include "input/xla/xla_steps.h"
#include "input/xla/xplane.h"

enum xplane_kind xplane_kind_of(struct str name, int32_t *device)
{
    static const struct str devices[] = {S_INIT("/device:GPU:"), S_INIT("/device:TPU:")};
    int64_t number;

    *device = -1;
    for (size_t i = 0; i < ARRAY_LEN(devices); i++) {
        struct str rest = name;
        if (str_skip(&rest, devices[i]) && num_i64(str_part(rest, 0, str_digits(rest)), &number) &&
            number <= INT32_MAX) {
            *device = (int32_t)number;
            return XPLANE_DEVICE;
        }
    }
    if (str_equal(name, S("Task Environment")))
        return XPLANE_TASK;
    return str_starts(name, S("/host:")) && !str_equal(name, S("/host:metadata")) ? XPLANE_HOST
                                                                                  : XPLANE_OTHER;
}

/* ---- the tables of a plane ---- */

/* An entry of a map: 1 key, 2 value; of the value 2 name, 4 display name. */
static bool read_entry(struct str entry, int64_t *id, struct str *message, struct str *name,
                       struct str *display)
{
    struct proto in = proto_of(entry);
    struct proto_field f;

    *id = 0;
    *message = *name = *display = S("");
    while (proto_next(&in, &f)) {
        if (f.number == 1 && f.wire == PROTO_VARINT)
            *id = (int64_t)f.value;
        else if (f.number == 2 && f.wire == PROTO_BYTES)
            *message = f.bytes;
    }
    bool is_good = !in.is_bad;
    in = proto_of(*message);
    while (proto_next(&in, &f)) {
        if (f.number == 2 && f.wire == PROTO_BYTES)
            *name = f.bytes;
        else if (f.number == 4 && f.wire == PROTO_BYTES)
            *display = f.bytes;
    }
    return is_good && !in.is_bad;
}

static void add_event_name(struct xplane_plane *p, struct str entry)
{
    struct xplane_event_name e = {.kind = -1};
    int64_t id;

    if (!read_entry(entry, &id, &e.message, &e.name, &e.display))
        return;
    id_map_put(&p->event_ids, id, (uint32_t)p->event_names.n);
    vec_push(&p->event_names, e);
}

static void add_stat_name(struct xplane_plane *p, struct str entry)
{
    struct xplane_stat_name s = {0};
    struct str message, display;
    int64_t id;

    if (!read_entry(entry, &id, &message, &s.name, &display))
        return;
    id_map_put(&p->stat_ids, id, (uint32_t)p->stat_names.n);
    vec_push(&p->stat_names, s);
}

/* Fields: 1 id, 2 name, 3 nanoseconds, 4 events, 11 display name. */
static struct xplane_row plane_read_row(struct xplane_plane *p, struct str message)
{
    struct xplane_row row = {.message = message};
    struct proto in = proto_of(message);
    struct str display = S("");
    struct proto_field f;

    while (proto_next(&in, &f)) {
        if (f.number == 1 && f.wire == PROTO_VARINT)
            row.id = (int64_t)f.value;
        else if (f.number == 4)
            row.events += f.wire == PROTO_BYTES;
        else if (f.number == 2 && f.wire == PROTO_BYTES)
            row.name = f.bytes;
        else if (f.number == 3 && f.wire == PROTO_VARINT)
            row.timestamp = (int64_t)f.value;
        else if (f.number == 11 && f.wire == PROTO_BYTES)
            display = f.bytes;
    }
    if (in.is_bad)
        p->x->damage = in.at;
    if (display.n > 0)
        row.name = display;
    return row;
}

/* Fields: 2 name, 3 lines, 4 names of events, 5 names of stats, 6 stats. */
static bool index_plane(struct xplane_plane *p, struct str message)
{
    struct proto in = proto_of(message);
    struct proto_field f;

    while (proto_next(&in, &f)) {
        if (f.wire != PROTO_BYTES)
            continue;
        if (f.number == 2)
            p->name = f.bytes;
        else if (f.number == 3)
            vec_push(&p->rows, plane_read_row(p, f.bytes));
        else if (f.number == 4)
            add_event_name(p, f.bytes);
        else if (f.number == 5)
            add_stat_name(p, f.bytes);
        else if (f.number == 6)
            vec_push(&p->stats, f.bytes);
    }
    if (in.is_bad)
        p->x->damage = in.at;
    return !in.is_bad;
}

/* ---- facts ---- */

static void fact_number(int64_t *out, const struct xplane_value *v, double factor)
{
    double number = v->is_number ? v->real * factor : -1;

    if (number > 0 && number < 9e18)
        *out = num_i64_of(number);
}

/* Numbers of either sign and reals; units are the profiler's. */
static void take_fact(struct xplane_plane *p, const struct xplane_value *v, int64_t capability[2])
{
    struct facts *facts = &p->x->cap->facts;

    if (str_equal(v->name, S("core_count")))
        fact_number(&facts->device_cores, v, 1);
    else if (str_equal(v->name, S("clock_rate")))
        fact_number(&facts->device_clock, v, 1000);
    else if (str_equal(v->name, S("memory_size")))
        fact_number(&facts->device_memory, v, 1);
    else if (str_equal(v->name, S("memory_bandwidth")))
        fact_number(&facts->device_bandwidth, v, 1);
    else if (str_equal(v->name, S("peak_hbm_bw_gigabytes_per_second")))
        fact_number(&facts->device_bandwidth, v, 1e9);
    else if (str_equal(v->name, S("compute_cap_major")))
        fact_number(&capability[0], v, 1);
    else if (str_equal(v->name, S("compute_cap_minor")))
        capability[1] = v->is_number ? v->number : -1;
    else if ((str_equal(v->name, S("device_type_string")) ||
              str_equal(v->name, S("gpu_device_name"))) &&
             v->text.n > 0 && v->text.n < 256)
        facts->device_name = capture_intern(p->x->cap, v->text);
    else if (str_equal(v->name, S("device_vendor")))
        facts->vendor = str_starts_nocase(v->text, S("amd"))      ? VENDOR_AMD
                        : str_starts_nocase(v->text, S("nvidia")) ? VENDOR_NVIDIA
                                                                  : VENDOR_UNKNOWN;
}

/* What a device that has work says of itself; of several the first. */
static void read_device_facts(struct xplane_plane *p)
{
    struct facts *facts = &p->x->cap->facts;
    int64_t capability[2] = {-1, -1};
    struct xplane_value value;

    if (facts->device != UNKNOWN)
        return;
    facts->device = p->device;
    facts->vendor = p->is_gpu ? VENDOR_NVIDIA : VENDOR_UNKNOWN;
    for (size_t i = 0; i < p->stats.n; i++)
        if (xplane_stat_value(p, p->stats.at[i], &value))
            take_fact(p, &value, capability);
    if (capability[0] > 0 && capability[0] < 100 && capability[1] >= 0 && capability[1] < 100 &&
        facts->vendor == VENDOR_NVIDIA)
        facts->device_cc = capture_intern_format(p->x->cap, "%lld.%lld", (long long)capability[0],
                                                 (long long)capability[1]);
}

/* When the recording began, in nanoseconds since 1970. */
static void read_task(struct xplane_plane *p)
{
    struct clock *clock = &p->x->cap->clock;
    struct xplane_value value;

    for (size_t i = 0; i < p->stats.n; i++)
        if (xplane_stat_value(p, p->stats.at[i], &value) && value.is_number && value.number > 0 &&
            str_equal(value.name, S("profile_start_time"))) {
            clock->to_unix = value.number;
            clock->has_unix = true;
        }
}

/* ---- rows ---- */

static bool is_stream_row(struct str name)
{
    return str_starts(name, S("Stream #"));
}

static enum xplane_class plane_class_of(const struct xplane_plane *p, struct str name)
{
    if (p->kind != XPLANE_DEVICE)
        return XPLANE_THREAD;
    if (str_equal(name, S("_counters_")))
        return XPLANE_COUNTERS;
    if (is_stream_row(name))
        return XPLANE_WORK;
    if (str_equal(name, S("Steps")))
        return XPLANE_STEPS;
    if (str_equal(name, S("XLA Modules")))
        return XPLANE_MODULES;
    if (p->has_streams)
        return XPLANE_DERIVED;
    if (str_equal(name, S("XLA TraceMe")))
        return XPLANE_WAITS;
    return str_equal(name, S("XLA Ops")) || str_equal(name, S("Async XLA Ops")) ? XPLANE_WORK
                                                                                : XPLANE_DERIVED;
}

/* Planes of parts of a device, "/device:TPU:0 SparseCore 1", have rows of their own. */
static struct lane_key plane_key_of(struct xplane_plane *p, const struct xplane_row *row)
{
    struct capture *cap = p->x->cap;
    struct lane_key key = {.device = p->device, .name = capture_intern(cap, row->name)};

    if (p->kind != XPLANE_DEVICE) {
        struct str name = row->name.n > 0 ? row->name : S("thread");
        key.kind = LANE_THREAD;
        key.process = capture_intern(cap, p->name);
        key.name = capture_intern(cap, name);
        key.tid = row->id;
        return key;
    }
    size_t space = str_find_char(p->name, ' ');
    key.kind = row->class == XPLANE_WORK || row->class == XPLANE_WAITS ? LANE_STREAM : LANE_OTHER;
    if (space < p->name.n || key.kind == LANE_OTHER)
        key.process = capture_intern(cap, p->name);
    return key;
}

/* ---- events ---- */

struct raw_event {
    int64_t name, offset, duration;
    bool is_sum; /* of several, without a time */
};

/* Nanoseconds of picoseconds, rounded down. */
static int64_t ns_of(int64_t ps)
{
    return ps / 1000 - (ps % 1000 < 0);
}

/* By the short name; "async-copy" says less than the operation, "%copy-start.2 = (f32[5]...". */
static enum slice_kind work_kind_of(const struct xplane_event_name *e)
{
    struct str operation = str_part(e->name, 0, str_find_char(e->name, ' '));
    enum slice_kind kind = xla_work_kind(e->display.n > 0 ? e->display : operation);

    str_skip(&operation, S("%"));
    return kind == SLICE_COMPUTE ? xla_work_kind(operation) : kind;
}

/* By its row, then by its name. */
static enum slice_kind kind_on(const struct xplane_row *row, struct xplane_event_name *e,
                               const struct xplane_told *told)
{
    switch (row->class) {
    case XPLANE_WORK:
        if (e == NULL)
            return SLICE_COMPUTE;
        if (e->kind < 0)
            e->kind = (int8_t)work_kind_of(e);
        return (enum slice_kind)e->kind;
    case XPLANE_WAITS:
        return SLICE_WAIT;
    case XPLANE_STEPS:
        return SLICE_STEP;
    case XPLANE_THREAD:
        break;
    default:
        return SLICE_OTHER;
    }
    if (e != NULL && str_starts(e->name, S("$")))
        return SLICE_PYTHON;
    if (told->link != 0)
        return SLICE_RUNTIME;
    return SLICE_HOST_OP;
}

static strid plane_name_of(struct xplane_plane *p, struct xplane_event_name *e, int64_t id)
{
    struct capture *cap = p->x->cap;

    if (e == NULL)
        return capture_intern_format(cap, "event %lld", (long long)id);
    if (e->text == 0)
        e->text = e->display.n > 0 || e->name.n > 0
                      ? capture_intern(cap, e->display.n > 0 ? e->display : e->name)
                      : capture_intern_format(cap, "event %lld", (long long)id);
    return e->text;
}

static void add_ends(struct xplane_plane *p, const struct xplane_row *row,
                     const struct xplane_told *told, uint32_t slice)
{
    struct xplane *x = p->x;
    struct xplane_end from = {hash_mix(told->from_kind, told->from), slice};
    struct xplane_end to = {hash_mix(told->to_kind, told->to), slice};

    if (told->has_from)
        vec_push(&x->from, from);
    if (told->has_to)
        vec_push(&x->to, to);
    if (told->has_to && row->class == XPLANE_MODULES)
        vec_push(&x->modules, slice);
}

/* A value of a counter: the event's name, and its one stat that is a real. */
static void add_sample(struct xplane_plane *p, const struct xplane_stats *stats, strid name,
                       nanos at)
{
    struct capture *cap = p->x->cap;
    struct xplane_value value;

    for (size_t i = 0; i < stats->n; i++)
        if (xplane_stat_value(p, stats->at[i], &value) && value.is_number) {
            series_id series = capture_series(cap, capture_intern(cap, p->name), name, 0);
            capture_sample(cap, series, at, value.real);
            return;
        }
}

/* Fields: 1 name, 2 offset, 3 duration, 4 stats, 5 how many this is the sum of. */
static bool read_event(struct xplane_plane *p, struct str message, struct raw_event *e,
                       struct xplane_stats *stats)
{
    struct proto in = proto_of(message);
    struct proto_field f;

    *e = (struct raw_event){0};
    stats->n = 0;
    while (proto_next(&in, &f)) {
        if (f.number == 4 && f.wire == PROTO_BYTES && stats->n < XPLANE_STATS_MOST) {
            stats->at[stats->n++] = f.bytes;
        } else if (f.wire == PROTO_VARINT) {
            if (f.number == 1)
                e->name = (int64_t)f.value;
            else if (f.number == 2)
                e->offset = (int64_t)f.value;
            else if (f.number == 3)
                e->duration = (int64_t)f.value;
            e->is_sum = f.number == 5 || (e->is_sum && f.number != 2);
        }
    }
    if (in.is_bad)
        p->x->damage = in.at;
    return !in.is_bad;
}

static uint64_t byte_of(const struct xplane *x, struct str message)
{
    return (uint64_t)(message.at - x->text.at);
}

/* Begin and length in nanoseconds; false, and a loss, when they are of no use. */
static bool settle_times(struct xplane_plane *p, const struct xplane_row *row, struct str message,
                         const struct raw_event *e, struct slice *slice)
{
    struct import *i = p->x->i;
    int64_t begin = ns_of(e->offset), end = ns_of(nanos_add(e->offset, e->duration));

    slice->begin = nanos_add(row->timestamp, begin);
    slice->dur = nanos_sub(end, begin);
    if (e->duration >= 0 && import_lasts(slice->dur))
        return true;
    import_lose(i, import_byte(i, byte_of(p->x, message)), "xplane.bad-duration",
                "event skipped: its duration is negative or over 7 days");
    return false;
}

/* What ties calls and work together. */
static void add_links(struct xplane_plane *p, const struct xplane_row *row,
                      const struct xplane_told *told, const struct slice *slice, uint32_t number)
{
    struct xplane_link link = {told->link, number};

    if (told->has_from || told->has_to)
        add_ends(p, row, told, number);
    if (told->link <= 0)
        return;
    if (slice->kind == SLICE_RUNTIME)
        vec_push(&p->x->calls, link);
    else if (slice_is_kernel(slice->kind))
        vec_push(&p->x->works, link);
}

/* One event into a slice, or into a sample of a counter. */
static void take_event(struct xplane_plane *p, const struct xplane_row *row, struct str message)
{
    struct capture *cap = p->x->cap;
    struct xplane_stats stats;
    struct xplane_told told;
    struct raw_event raw;
    struct slice slice = {.lane = row->lane};

    if (!read_event(p, message, &raw, &stats)) {
        import_lose(p->x->i, import_byte(p->x->i, byte_of(p->x, message)), "xplane.damaged",
                    "damaged event skipped");
        return;
    }
    p->x->aggregated += raw.is_sum;
    if (raw.is_sum || !settle_times(p, row, message, &raw, &slice))
        return;
    p->x->i->rows++;
    uint32_t place = id_map_get(&p->event_ids, raw.name);
    struct xplane_event_name *e = place < p->event_names.n ? &p->event_names.at[place] : NULL;
    slice.name = plane_name_of(p, e, raw.name);
    if (row->class == XPLANE_COUNTERS) {
        add_sample(p, &stats, slice.name, slice.begin);
        return;
    }
    slice.set = xplane_stats_tell(p, &stats, e, &told);
    slice.kind = kind_on(row, e, &told);
    if (told.n_own > 0)
        slice.own = attrs_own(&cap->attrs, told.own, told.n_own);
    add_links(p, row, &told, &slice, capture_slice(cap, &slice));
}

/* Damage ends the row; the next one is read. */
static void read_events(struct xplane_plane *p, const struct xplane_row *row)
{
    struct proto in = proto_of(row->message);
    struct proto_field f;
    uint64_t n = 0;

    while (proto_next(&in, &f)) {
        if (f.number != 4 || f.wire != PROTO_BYTES)
            continue;
        take_event(p, row, f.bytes);
        if (++n % 65536 == 0) {
            input_progress(p->x->i->in, byte_of(p->x, f.bytes), p->x->text.n);
            if (cancelled())
                return;
        }
    }
    if (in.is_bad) {
        struct str rest = {(const char *)in.at, (size_t)(in.end - in.at)};
        import_lose(p->x->i, import_byte(p->x->i, byte_of(p->x, rest)), "xplane.damaged",
                    "damage: the rest of row %.*s, %zu bytes, is skipped", STR_ARGS(row->name),
                    rest.n);
        damage_add(&p->x->i->damage, rest.n, import_byte(p->x->i, byte_of(p->x, rest)));
    }
}

/* ---- the whole ---- */

static void plane_read_rows(struct xplane_plane *p)
{
    struct slices *s = &p->x->cap->slices;
    size_t n = 0;

    for (size_t i = 0; i < p->rows.n; i++)
        n += p->rows.at[i].events;
    slices_reserve(s, s->n + n);
    for (size_t i = 0; i < p->rows.n && !cancelled(); i++) {
        struct xplane_row *row = &p->rows.at[i];
        row->class = plane_class_of(p, row->name);
        if (row->events == 0)
            continue;
        if (row->class != XPLANE_COUNTERS)
            row->lane = capture_lane(p->x->cap, plane_key_of(p, row));
        read_events(p, row);
    }
}

static void free_plane(struct xplane_plane *p)
{
    vec_free(&p->rows);
    vec_free(&p->stats);
    vec_free(&p->stat_names);
    vec_free(&p->event_names);
    id_map_free(&p->stat_ids);
    id_map_free(&p->event_ids);
}

void xplane_read_plane(struct xplane *x, struct str message)
{
    struct xplane_plane p = {.x = x};

    if (index_plane(&p, message)) {
        x->planes++;
        p.kind = xplane_kind_of(p.name, &p.device);
        p.is_gpu = str_starts(p.name, S("/device:GPU:"));
        for (size_t i = 0; i < p.rows.n; i++)
            p.has_streams = p.has_streams || is_stream_row(p.rows.at[i].name);
        bool is_other = p.kind == XPLANE_DEVICE && import_is_other_device(x->i, p.device);
        if (p.kind == XPLANE_TASK)
            read_task(&p);
        if (p.kind == XPLANE_DEVICE && p.rows.n > 0 && !is_other)
            read_device_facts(&p);
        if ((p.kind == XPLANE_DEVICE || p.kind == XPLANE_HOST) && !is_other)
            plane_read_rows(&p);
    } else {
        struct str rest = {(const char *)x->damage,
                           (size_t)(message.at + message.n - (const char *)x->damage)};
        import_lose(x->i, import_byte(x->i, byte_of(x, rest)), "xplane.damaged",
                    "damage: plane %.*s is skipped; its names come last", STR_ARGS(p.name));
        damage_add(&x->i->damage, message.n, import_byte(x->i, byte_of(x, message)));
    }
    free_plane(&p);
}
