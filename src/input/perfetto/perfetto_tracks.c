/*
 * Tracks: what is said of them, and which lane or counter each is.
 */
#include "base/formats/json_read.h"
#include "capture/facts_json.h"
#include "input/perfetto/perfetto.h"

enum { DEPTH_MOST = 64 };

uint32_t perfetto_track(struct perfetto *p, enum perfetto_track_kind kind, uint64_t a, uint64_t b)
{
    uint32_t fresh = (uint32_t)p->tracks.n, place;
    uint64_t key = hash_mix(hash_mix(a, (uint64_t)kind), b);

    for (;; key = hash_mix(key, 1)) { /* two tracks with one hash: look further along */
        place = hash_add(&p->track_ids, key, fresh);
        if (place == fresh)
            break;
        const struct perfetto_track *t = &p->tracks.at[place];
        if (t->kind == kind && t->uuid == a && (kind == TRACK_NAMED || t->parent == b))
            return place;
    }
    struct perfetto_track t = {.kind = kind, .uuid = a, .multiplier = 1};
    if (kind != TRACK_NAMED)
        t.parent = b;
    if (kind == TRACK_THREAD) {
        t.has_thread = true;
        t.pid = (int64_t)a;
        t.tid = (int64_t)b;
    }
    vec_push(&p->tracks, t);
    return place;
}

/* ---- descriptions ---- */

static strid text_in(struct perfetto *p, struct str bytes)
{
    return bytes.n > 0 ? capture_intern(p->cap, bytes) : 0;
}

/* Fields: 1 pid, 6 name. */
static void describe_process(struct perfetto *p, struct perfetto_track *t, struct str message)
{
    struct proto in = proto_of(message);
    struct proto_field f;

    t->has_process = true;
    while (proto_next(&in, &f)) {
        if (f.number == 1 && f.wire == PROTO_VARINT)
            t->pid = (int64_t)f.value;
        else if (f.number == 6 && f.wire == PROTO_BYTES)
            t->process = text_in(p, f.bytes);
    }
}

/* Fields: 1 pid, 2 tid, 5 name. */
static void describe_thread(struct perfetto *p, struct perfetto_track *t, struct str message)
{
    struct proto in = proto_of(message);
    struct proto_field f;

    t->has_thread = true;
    while (proto_next(&in, &f)) {
        if (f.number == 1 && f.wire == PROTO_VARINT)
            t->pid = (int64_t)f.value;
        else if (f.number == 2 && f.wire == PROTO_VARINT)
            t->tid = (int64_t)f.value;
        else if (f.number == 5 && f.wire == PROTO_BYTES)
            t->thread = text_in(p, f.bytes);
    }
}

/* Fields: 1 type, 3 unit, 4 multiplier, 5 adds up, 6 name of the unit. */
static void describe_counter(struct perfetto *p, struct perfetto_track *t, struct str message)
{
    static const char *const units[] = {[1] = "ns", [2] = "count", [3] = "B"};
    struct proto in = proto_of(message);
    struct proto_field f;

    t->is_counter = true;
    while (proto_next(&in, &f)) {
        if (f.number == 6 && f.wire == PROTO_BYTES)
            t->unit = text_in(p, f.bytes);
        if (f.wire != PROTO_VARINT)
            continue;
        if (f.number == 1)
            t->counter_type = f.value < 3 ? (uint8_t)f.value : 0;
        else if (f.number == 3 && t->unit == 0 && f.value > 0 && f.value < ARRAY_LEN(units))
            t->unit = capture_intern(p->cap, str_of(units[f.value]));
        else if (f.number == 4)
            t->multiplier = (int64_t)f.value != 0 ? (int64_t)f.value : 1;
        else if (f.number == 5)
            t->is_incremental = f.value != 0;
    }
}

/* ---- what strata writes besides ---- */

static strid json_intern(struct perfetto *p, const struct json *j, struct str text)
{
    struct arena scratch;

    arena_init(&scratch);
    strid id = capture_intern(p->cap, j->has_escapes ? json_text(text, &scratch) : text);
    arena_free(&scratch);
    return id;
}

static enum lane_kind lane_kind_of(struct str text)
{
    for (unsigned k = 0; k < LANE_KINDS; k++)
        if (str_equal(text, str_of(lane_kind_name((enum lane_kind)k))))
            return (enum lane_kind)k;
    return LANE_OTHER;
}

/* "strata: {...}": the lane that a track is part of, exactly. "strata capture: {...}": facts. */
static void describe_own(struct perfetto *p, struct perfetto_track *t, struct str text)
{
    struct str key, value;
    struct json j;
    int64_t number;

    if (str_skip(&text, S("strata capture: "))) {
        p->is_own = true;
        p->shift = facts_json_read(p->cap, text);
        return;
    }
    if (!str_skip(&text, S("strata: ")))
        return;
    json_open(&j, text, JSON_LENIENT);
    if (json_next(&j) != JSON_OBJECT)
        return;
    p->is_own = true;
    t->is_own = true;
    t->key = (struct lane_key){.device = -1};
    while (json_key(&j, &key)) {
        if (!json_value(&j, &value))
            continue;
        bool is_number = num_i64(value, &number);
        if (str_equal(key, S("kind")))
            t->key.kind = lane_kind_of(value);
        else if (str_equal(key, S("device")) && is_number && number <= INT32_MAX && number >= -1)
            t->key.device = (int32_t)number;
        else if (str_equal(key, S("process")))
            t->key.process = json_intern(p, &j, value);
        else if (str_equal(key, S("name")))
            t->key.name = json_intern(p, &j, value);
        else if (str_equal(key, S("pid")) && is_number)
            t->key.pid = number;
        else if (str_equal(key, S("tid")) && is_number)
            t->key.tid = number;
    }
}

/* Fields: 1 uuid, 2, 10 and 13 name, 3 process, 4 thread, 5 parent, 8 counter, 14 description. A
 * later description adds to an earlier one. Events that name no track are on the thread that their
 * sequence has described last. */
void perfetto_describe_track(struct perfetto *p, struct perfetto_sequence *s, struct str message)
{
    struct str process = S(""), thread = S(""), counter = S(""), note = S("");
    bool has_process = false, has_thread = false, has_counter = false, has_parent = false;
    struct proto in = proto_of(message);
    struct proto_field f;
    uint64_t uuid = 0, parent = 0;
    strid name = 0;

    while (proto_next(&in, &f)) {
        if (f.wire == PROTO_VARINT) {
            if (f.number == 1)
                uuid = f.value;
            else if (f.number == 5) {
                parent = f.value;
                has_parent = true;
            }
        } else if (f.wire == PROTO_BYTES) {
            if ((f.number == 2 || f.number == 10 || f.number == 13) && f.bytes.n > 0)
                name = capture_intern(p->cap, f.bytes);
            else if (f.number == 14)
                note = f.bytes;
            else if (f.number == 3) {
                process = f.bytes;
                has_process = true;
            } else if (f.number == 4) {
                thread = f.bytes;
                has_thread = true;
            } else if (f.number == 8) {
                counter = f.bytes;
                has_counter = true;
            }
        }
    }
    uint32_t track = perfetto_track(p, TRACK_NAMED, uuid, 0);
    struct perfetto_track *t = &p->tracks.at[track];
    if (name != 0)
        t->name = name;
    if (has_parent)
        t->parent = parent;
    if (has_process)
        describe_process(p, t, process);
    if (has_thread) {
        describe_thread(p, t, thread);
        if (s->is_valid) {
            s->thread_track = uuid;
            s->has_thread_track = true;
        }
    }
    if (has_counter)
        describe_counter(p, t, counter);
    if (note.n > 0)
        describe_own(p, t, note);
}

/* ---- names and lanes ---- */

static strid own_name(struct perfetto *p, const struct perfetto_track *t)
{
    struct capture *cap = p->cap;

    if (t->name != 0)
        return t->name;
    if (t->has_thread)
        return t->thread != 0 ? t->thread
                              : capture_intern_format(cap, "thread %lld", (long long)t->tid);
    if (t->has_process)
        return t->process != 0 ? t->process
                               : capture_intern_format(cap, "process %lld", (long long)t->pid);
    if (t->is_counter && t->counter_type != 0)
        return capture_intern(cap, t->counter_type == 1 ? S("thread_time")
                                                        : S("thread_instruction_count"));
    if (t->kind == TRACK_SEQUENCE)
        return capture_intern_format(cap, "sequence %llu", (unsigned long long)t->uuid);
    if (t->kind == TRACK_ASYNC) /* known by its events' name */
        return (strid)t->parent;
    return capture_intern_format(cap, "track %llu", (unsigned long long)t->uuid);
}

/* The track above; a thread without one belongs to the process with its number. UINT32_MAX: none.
 */
static uint32_t track_above(struct perfetto *p, uint32_t track)
{
    const struct perfetto_track *t = &p->tracks.at[track];
    uint32_t place = UINT32_MAX;

    if (t->kind != TRACK_NAMED)
        return UINT32_MAX;
    if (t->parent != 0) {
        place = perfetto_track(p, TRACK_NAMED, t->parent, 0);
        return place != track ? place : UINT32_MAX;
    }
    if (t->has_thread && hash_get(&p->processes, (uint64_t)t->pid, &place) && place != track)
        return place;
    return UINT32_MAX;
}

/* The names above a track, the outermost first: "process/outer/inner". */
static strid path_above(struct perfetto *p, uint32_t track)
{
    struct str names[DEPTH_MOST];
    struct arena scratch;
    size_t n = 0;

    for (uint32_t up = track_above(p, track); up != UINT32_MAX && n < DEPTH_MOST;
         up = track_above(p, up))
        names[DEPTH_MOST - ++n] = capture_text(p->cap, own_name(p, &p->tracks.at[up]));
    if (n == 0)
        return 0;
    arena_init(&scratch);
    strid path = capture_intern(p->cap, arena_join(&scratch, names + DEPTH_MOST - n, n, S("/")));
    arena_free(&scratch);
    return path;
}

/* "SM_042" of "SM_042" and "SM 42": a multiprocessor, whose tracks are its warps. */
static bool is_multiprocessor(struct str process)
{
    struct str rest = process;

    return (str_skip(&rest, S("SM_")) || str_skip(&rest, S("SM "))) && rest.n > 0 &&
           str_digits(rest) == rest.n;
}

/* "blk0_g1" and "block_0": a group of warps of a block. */
static bool is_block(struct str name)
{
    return str_starts(name, S("blk")) || str_starts(name, S("block_")) ||
           str_starts(name, S("group_"));
}

static void resolve(struct perfetto *p, uint32_t track)
{
    struct perfetto_track *t = &p->tracks.at[track];

    if (t->is_resolved)
        return;
    strid name = own_name(p, t), process = path_above(p, track);
    t = &p->tracks.at[track]; /* looking up may have added tracks */
    t->is_resolved = true;
    if (t->is_own)
        return;
    t->key = (struct lane_key){.kind = LANE_THREAD,
                               .device = -1,
                               .process = process,
                               .name = name,
                               .pid = t->pid,
                               .tid = t->tid};
    if (t->kind == TRACK_QUEUE)
        t->key = (struct lane_key){.kind = LANE_STREAM,
                                   .device = t->uuid <= INT32_MAX ? (int32_t)t->uuid : -1,
                                   .name = (strid)t->parent};
    if (t->kind == TRACK_ASYNC)
        t->key.tid = (int64_t)t->uuid;
    t->is_warp =
        is_multiprocessor(capture_text(p->cap, process)) && is_block(capture_text(p->cap, name));
    if (t->is_warp) {
        t->key.kind = LANE_PIPE;
        t->key.pid = t->key.tid = 0;
    }
    if (t->key.process == 0 && t->has_thread && !t->is_warp)
        t->key.process = capture_intern_format(p->cap, "process %lld", (long long)t->pid);
}

bool perfetto_is_warp(struct perfetto *p, uint32_t track)
{
    resolve(p, track);
    return p->tracks.at[track].is_warp;
}

lane_id perfetto_lane(struct perfetto *p, uint32_t track)
{
    resolve(p, track);
    struct perfetto_track *t = &p->tracks.at[track];
    if (!t->has_lane) {
        t->lane = capture_lane(p->cap, t->key);
        t->has_lane = true;
    }
    return t->lane;
}

series_id perfetto_series(struct perfetto *p, uint32_t track)
{
    struct perfetto_track *t = &p->tracks.at[track];

    if (t->series == 0) {
        strid name = t->is_own ? t->key.name : own_name(p, t);
        strid process = t->is_own ? t->key.process : path_above(p, track);
        series_id series = capture_series(p->cap, process, name, p->tracks.at[track].unit);
        t = &p->tracks.at[track];
        t->series = series + 1;
    }
    return t->series - 1;
}
