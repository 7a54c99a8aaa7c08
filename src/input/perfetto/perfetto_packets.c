/*
 * Packets: sequences, interned texts, clocks.
 */
#include "base/files/unpack.h"
#include "base/run/cancel.h"
#include "input/perfetto/perfetto.h"

/* Fields of a packet. */
enum {
    PACKET_SNAPSHOT = 6,
    PACKET_TIME = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_CLEARED = 41,
    PACKET_DROPPED = 42,
    PACKET_THREAD = 44,
    PACKET_ZLIB = 50,
    PACKET_GPU_COUNTERS = 52,
    PACKET_STAGE = 53,
    PACKET_CLOCK = 58,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK = 60,
    PACKET_MACHINE = 98,
    PACKET_GPU_INFO = 128,
    PACKET_ZSTD = 133,
};

enum { FLAG_CLEARED = 1, FLAG_NEEDS = 2, CLOCK_MONOTONIC = 3, SEQUENCES_MOST = 1 << 20 };

/* A packet with its members as they lie in the file. */
struct packet {
    struct str snapshot, event, interned, thread, zlib, zstd, gpu_counters, stage, defaults, track,
        gpu_info;
    uint64_t time, sequence, flags, clock, machine;
    bool has_time, is_cleared, is_dropped, has_snapshot, has_event, has_interned, has_thread,
        has_zlib, has_zstd, has_gpu_counters, has_stage, has_defaults, has_track, has_gpu_info;
};

/* Members that are messages. */
static void packet_bytes(struct packet *k, const struct proto_field *f)
{
#define PACKET_MEMBER(number_, member_)                                                            \
    case number_:                                                                                  \
        k->member_ = f->bytes;                                                                     \
        k->has_##member_ = true;                                                                   \
        return
    switch (f->number) {
        PACKET_MEMBER(PACKET_SNAPSHOT, snapshot);
        PACKET_MEMBER(PACKET_EVENT, event);
        PACKET_MEMBER(PACKET_INTERNED, interned);
        PACKET_MEMBER(PACKET_THREAD, thread);
        PACKET_MEMBER(PACKET_ZLIB, zlib);
        PACKET_MEMBER(PACKET_ZSTD, zstd);
        PACKET_MEMBER(PACKET_GPU_COUNTERS, gpu_counters);
        PACKET_MEMBER(PACKET_STAGE, stage);
        PACKET_MEMBER(PACKET_DEFAULTS, defaults);
        PACKET_MEMBER(PACKET_TRACK, track);
        PACKET_MEMBER(PACKET_GPU_INFO, gpu_info);
    default:
        return;
    }
#undef PACKET_MEMBER
}

/* Members that are numbers. */
static void packet_number(struct packet *k, const struct proto_field *f)
{
    switch (f->number) {
    case PACKET_TIME:
        k->time = f->value;
        k->has_time = true;
        return;
    case PACKET_SEQUENCE:
        k->sequence = f->value;
        return;
    case PACKET_FLAGS:
        k->flags = f->value;
        return;
    case PACKET_CLEARED:
        k->is_cleared = f->value != 0;
        return;
    case PACKET_DROPPED:
        k->is_dropped = f->value != 0;
        return;
    case PACKET_CLOCK:
        k->clock = f->value;
        return;
    case PACKET_MACHINE:
        k->machine = f->value;
        return;
    default:
        return;
    }
}

/* ---- sequences ---- */

static struct perfetto_sequence *sequence_of(struct perfetto *p, uint64_t machine, uint64_t id)
{
    uint64_t key = hash_mix(machine, id);
    uint32_t fresh = (uint32_t)p->sequences.n, place;

    for (;; key = hash_mix(key, 1)) { /* two sequences with one hash: look further along */
        place = hash_add(&p->sequence_ids, key, fresh);
        if (place == fresh)
            break;
        struct perfetto_sequence *s = &p->sequences.at[place];
        if (s->machine == machine && s->id == id)
            return s;
    }
    vec_push(&p->sequences,
             ((struct perfetto_sequence){.machine = machine, .id = id, .is_valid = true}));
    return &p->sequences.at[place];
}

/* All that it has interned, and its defaults, count no longer. */
static void sequence_clear(struct perfetto_sequence *s)
{
    for (size_t i = 0; i < PERFETTO_LISTS; i++)
        id_map_clear(&s->lists[i]);
    s->has_clock = s->has_track = false;
    s->n_extra = s->n_extra_real = 0;
    s->thread_us = 0;
    s->generation++;
    s->is_valid = true;
}

strid perfetto_text(const struct perfetto_sequence *s, enum perfetto_list list, uint64_t id)
{
    uint32_t place = id_map_get(&s->lists[list], (int64_t)id);

    return place != ID_MAP_NONE ? place : 0;
}

bool perfetto_entry(struct str message, uint64_t *id, struct str *text)
{
    struct proto in = proto_of(message);
    struct proto_field f;

    *id = 0;
    *text = S("");
    while (proto_next(&in, &f)) {
        if (f.number == 1 && f.wire == PROTO_VARINT)
            *id = f.value;
        else if (f.number == 2 && f.wire == PROTO_BYTES)
            *text = f.bytes;
    }
    return !in.is_bad;
}

static void intern_text(struct perfetto *p, struct id_map *list, struct str message)
{
    struct str text;
    uint64_t id;

    if (perfetto_entry(message, &id, &text))
        id_map_put(list, (int64_t)id, capture_intern(p->cap, text));
}

/* Fields: 1 categories, 2 names, 3 keys of annotations, 29 texts; those of GPUs elsewhere. */
static void take_interned(struct perfetto *p, struct perfetto_sequence *s, struct str message)
{
    struct proto in = proto_of(message);
    struct proto_field f;

    while (proto_next(&in, &f)) {
        if (f.wire != PROTO_BYTES)
            continue;
        if (f.number <= 3)
            intern_text(p, &s->lists[LIST_CATEGORIES + f.number - 1], f.bytes);
        else if (f.number == 29)
            intern_text(p, &s->lists[LIST_TEXTS], f.bytes);
        else
            perfetto_intern_gpu(p, s, f.number, f.bytes);
    }
}

static void add_extra(uint64_t *list, size_t *n, const struct proto_field *f)
{
    struct str left = f->bytes;
    uint64_t value = f->value;

    if (f->wire == PROTO_VARINT) {
        if (*n < PERFETTO_EXTRA)
            list[(*n)++] = value;
        return;
    }
    while (f->wire == PROTO_BYTES && proto_packed(&left, &value))
        if (*n < PERFETTO_EXTRA)
            list[(*n)++] = value;
}

/* Fields: 58 clock, 11 events: 11 track, 31 and 45 tracks of counters. */
static void take_defaults(struct perfetto_sequence *s, struct str message)
{
    struct proto in = proto_of(message);
    struct str event = S("");
    struct proto_field f;

    s->has_clock = s->has_track = false;
    s->n_extra = s->n_extra_real = 0;
    while (proto_next(&in, &f)) {
        if (f.number == PACKET_CLOCK && f.wire == PROTO_VARINT) {
            s->clock = (uint32_t)f.value;
            s->has_clock = true;
        } else if (f.number == PACKET_EVENT && f.wire == PROTO_BYTES) {
            event = f.bytes;
        }
    }
    in = proto_of(event);
    while (proto_next(&in, &f)) {
        if (f.number == 11 && f.wire == PROTO_VARINT) {
            s->track = f.value;
            s->has_track = true;
        } else if (f.number == 31) {
            add_extra(s->extra, &s->n_extra, &f);
        } else if (f.number == 45) {
            add_extra(s->extra_real, &s->n_extra_real, &f);
        }
    }
}

/* The old description of a thread: 1 pid, 2 tid, 6 microseconds. */
static void take_thread(struct perfetto *p, struct perfetto_sequence *s, struct str message)
{
    struct proto in = proto_of(message);
    struct str name = S("");
    struct proto_field f;

    s->has_thread = true;
    s->has_thread_track = false;
    while (proto_next(&in, &f)) {
        if (f.number == 1 && f.wire == PROTO_VARINT)
            s->pid = (int32_t)f.value;
        else if (f.number == 2 && f.wire == PROTO_VARINT)
            s->tid = (int32_t)f.value;
        else if (f.number == 5 && f.wire == PROTO_BYTES)
            name = f.bytes;
        else if (f.number == 6 && f.wire == PROTO_VARINT)
            s->thread_us = (int64_t)f.value;
    }
    uint32_t track = perfetto_track(p, TRACK_THREAD, (uint64_t)s->pid, (uint64_t)s->tid);
    if (name.n > 0)
        p->tracks.at[track].name = capture_intern(p->cap, name);
}

/* ---- clocks ---- */

enum { CLOCK_OWN = 64, CLOCK_GLOBAL = 128 }; /* those from CLOCK_OWN on belong to a sequence */

static uint64_t domain_key(const struct perfetto *p, const struct perfetto_sequence *s,
                           uint32_t clock)
{
    bool is_own = clock >= CLOCK_OWN && clock < CLOCK_GLOBAL;

    return is_own ? (uint64_t)(s - p->sequences.at + 1) << 32 | clock : clock;
}

static struct perfetto_domain *domain_of(struct perfetto *p, uint64_t key)
{
    uint32_t place;

    return hash_get(&p->domain_ids, key, &place) ? &p->domains.at[place] : NULL;
}

static struct perfetto_clock *clock_of(struct perfetto_sequence *s, uint32_t id)
{
    for (size_t i = 0; i < s->n_clocks; i++)
        if (s->clocks[i].id == id)
            return &s->clocks[i];
    return NULL;
}

static int64_t times(uint64_t value, uint64_t factor)
{
    uint64_t product;

    if (__builtin_mul_overflow(value, factor, &product) || product > INT64_MAX)
        return INT64_MAX;
    return (int64_t)product;
}

/* A clock of a snapshot: 1 number, 2 time, 3 counts from the time before, 4 nanoseconds of a tick.
 */
struct reading {
    uint32_t id;
    int64_t at;
};

static struct reading take_clock(struct perfetto_sequence *s, struct str message)
{
    struct perfetto_clock c = {.multiplier = 1};
    struct proto in = proto_of(message);
    struct proto_field f;
    uint64_t at = 0;

    while (proto_next(&in, &f)) {
        if (f.wire != PROTO_VARINT)
            continue;
        if (f.number == 1)
            c.id = (uint32_t)f.value;
        else if (f.number == 2)
            at = f.value;
        else if (f.number == 3)
            c.is_incremental = f.value != 0;
        else if (f.number == 4 && f.value > 0)
            c.multiplier = f.value;
    }
    c.last = times(at, c.multiplier);
    struct perfetto_clock *known = clock_of(s, c.id);
    if (known != NULL)
        *known = c;
    else if (s->n_clocks < PERFETTO_CLOCKS)
        s->clocks[s->n_clocks++] = c;
    return (struct reading){c.id, c.last};
}

/* What the clocks of a snapshot showed at one moment: 1 clocks, 2 which is the trace's own. */
static void take_snapshot(struct perfetto *p, struct perfetto_sequence *s, struct str message)
{
    enum { CLOCKS_MOST = 32, CLOCK_REAL = 1 };
    struct reading readings[CLOCKS_MOST];
    struct proto in = proto_of(message);
    int64_t trace = 0, real = 0;
    bool has_trace = false, has_real = false, is_nothing = true;
    struct proto_field f;
    size_t n = 0;

    while (proto_next(&in, &f)) {
        if (f.number == 2 && f.wire == PROTO_VARINT && f.value != 0)
            p->primary = (uint32_t)f.value;
        else if (f.number == 1 && f.wire == PROTO_BYTES && n < CLOCKS_MOST)
            readings[n++] = take_clock(s, f.bytes);
    }
    for (size_t i = 0; i < n; i++) {
        if (readings[i].id == p->primary) {
            trace = readings[i].at;
            has_trace = true;
        }
        if (readings[i].id == CLOCK_REAL) {
            real = readings[i].at;
            has_real = true;
        }
        is_nothing = is_nothing && readings[i].at == 0;
    }
    p->has_snapshot = true;
    if (!has_trace)
        return;
    if (has_real && !is_nothing && !p->cap->clock.has_unix) {
        p->cap->clock.has_unix = true;
        p->cap->clock.to_unix = nanos_sub(real, trace);
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t key = domain_key(p, s, readings[i].id);
        struct perfetto_domain *d = domain_of(p, key);
        if (d == NULL) {
            hash_put(&p->domain_ids, key, (uint32_t)p->domains.n);
            vec_push(&p->domains, ((struct perfetto_domain){{0}}));
            d = &p->domains.at[p->domains.n - 1];
        }
        vec_push(&d->pairs, ((struct perfetto_pair){readings[i].at, trace}));
    }
}

/* The last snapshot that is not after a time, else the first. */
static const struct perfetto_pair *pair_at(const struct perfetto_domain *d, int64_t at)
{
    size_t place;

    vec_bisect(place, d->pairs.n, i, d->pairs.at[i].clock <= at);
    return &d->pairs.at[place > 0 ? place - 1 : 0];
}

bool perfetto_time(struct perfetto *p, struct perfetto_sequence *s, uint64_t at, uint32_t clock,
                   nanos *out)
{
    int64_t time = at < INT64_MAX ? (int64_t)at : INT64_MAX;

    if (clock == 0 || clock == p->primary) {
        *out = time;
        return true;
    }
    struct perfetto_clock *c = clock_of(s, clock);
    if (c != NULL) {
        time = times(at, c->multiplier);
        if (c->is_incremental)
            time = c->last = nanos_add(c->last, time);
    }
    const struct perfetto_domain *d = domain_of(p, domain_key(p, s, clock));
    if (d == NULL || d->pairs.n == 0) {
        *out = time;
        return !p->has_snapshot;
    }
    const struct perfetto_pair *pair = pair_at(d, time);
    *out = nanos_add(nanos_sub(time, pair->clock), pair->trace);
    return true;
}

/* ---- packets ---- */

/* Packets inside a packet; unpacked they are bounded, and they are not nested further. */
static void take_packed(struct perfetto *p, enum unpack_codec codec, struct str packed)
{
    enum { TIMES_MOST = 64, DEPTH_MOST = 2 };
    struct text text = {0};

    if (p->depth >= DEPTH_MOST ||
        !unpack_append(codec, packed, TIMES_MOST * packed.n + 4096, &text)) {
        import_lose(p->i, import_byte(p->i, p->member), "perfetto.damaged",
                    "compressed packets are damaged, nested, or unpack to over 64 times their "
                    "size; skipped");
        text_free(&text);
        return;
    }
    p->depth++;
    perfetto_read_packets(p, text_view(&text));
    p->depth--;
    text_free(&text);
}

static void take_data(struct perfetto *p, struct perfetto_sequence *s, const struct packet *k)
{
    uint32_t clock = k->clock != 0 ? (uint32_t)k->clock : s->has_clock ? s->clock : 0;
    nanos at = 0;

    if (k->has_event) {
        perfetto_take_event(p, s, k->event, k->time, k->has_time, clock);
        return;
    }
    if (!k->has_stage && !k->has_gpu_counters)
        return;
    bool has_time = k->has_time && perfetto_time(p, s, k->time, clock, &at);
    if (k->has_gpu_counters)
        perfetto_take_gpu_counters(p, s, k->gpu_counters, at, has_time);
    if (k->has_stage && has_time)
        perfetto_take_stage(p, s, k->stage, at);
    p->skipped += k->has_stage && !has_time;
}

/* State first, then descriptions, then data. */
static void take_packet(struct perfetto *p, const struct packet *k)
{
    struct perfetto_sequence *s;

    p->packets++;
    if (k->has_zlib || k->has_zstd) {
        take_packed(p, k->has_zlib ? UNPACK_ZLIB : UNPACK_ZSTD, k->has_zlib ? k->zlib : k->zstd);
        return;
    }
    if (p->sequences.n > SEQUENCES_MOST)
        return;
    s = sequence_of(p, k->machine, k->sequence);
    if ((k->flags & FLAG_CLEARED) != 0 || k->is_cleared)
        sequence_clear(s);
    else if (k->is_dropped)
        s->is_valid = false;
    if (k->has_interned)
        take_interned(p, s, k->interned);
    if (k->has_defaults)
        take_defaults(s, k->defaults);
    if (k->has_snapshot)
        take_snapshot(p, s, k->snapshot);
    if ((k->flags & FLAG_NEEDS) != 0 && !s->is_valid) {
        p->skipped++;
        return;
    }
    if (k->has_track)
        perfetto_describe_track(p, s, k->track);
    if (k->has_thread)
        take_thread(p, s, k->thread);
    if (k->has_gpu_info)
        perfetto_gpu_info(p, k->gpu_info);
    take_data(p, s, k);
}

static bool read_packet(struct str message, struct packet *k)
{
    struct proto in = proto_of(message);
    struct proto_field f;

    memset(k, 0, sizeof(*k));
    while (proto_next(&in, &f)) {
        if (f.wire == PROTO_BYTES)
            packet_bytes(k, &f);
        else if (f.wire == PROTO_VARINT)
            packet_number(k, &f);
    }
    return !in.is_bad;
}

void perfetto_read_packets(struct perfetto *p, struct str text)
{
    struct proto in = proto_of(text);
    struct proto_field f;
    struct packet k;
    uint64_t n = 0;

    while (proto_next(&in, &f)) {
        if (f.number != 1 || f.wire != PROTO_BYTES)
            continue;
        if (p->depth == 0)
            p->member = (uint64_t)(f.bytes.at - text.at);
        if (read_packet(f.bytes, &k))
            take_packet(p, &k);
        else
            import_lose(p->i, import_byte(p->i, p->member), "perfetto.damaged",
                        "damaged packet skipped");
        if (++n % 65536 == 0) {
            input_progress(p->i->in, p->member, p->text.n);
            if (cancelled())
                return;
        }
    }
    if (in.is_bad) {
        uint64_t at = p->depth == 0 ? (uint64_t)((const char *)in.at - text.at) : p->member;
        import_lose(p->i, import_byte(p->i, at), "perfetto.damaged",
                    "damaged, or cut short: %llu bytes from here on are skipped",
                    (unsigned long long)(in.end - in.at));
    }
}
