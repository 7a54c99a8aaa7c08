/*
 * Annotations of events: attributes, and what rocprofv3 says of times and places.
 */
#include "input/perfetto/perfetto.h"
#include "input/rocprof/rocprof.h"

/* An annotation: 1 or 10 key; 2 bool, 3 unsigned, 4 whole, 5 real, 6 text, 7 address, 9 JSON, 17
 * interned text, 11 members, 12 elements. */
struct note {
    struct str key, text;
    uint64_t key_id, value;
    uint32_t field; /* of the value; 0: none */
};

static bool read_note(struct str message, struct note *n)
{
    struct proto in = proto_of(message);
    struct proto_field f;

    *n = (struct note){.key = S(""), .text = S("")};
    while (proto_next(&in, &f)) {
        if (f.number == 1 && f.wire == PROTO_VARINT)
            n->key_id = f.value;
        else if (f.number == 10 && f.wire == PROTO_BYTES)
            n->key = f.bytes;
        else if (f.number == 6 || f.number == 9 || f.number == 17 ||
                 (f.number >= 2 && f.number <= 5) || f.number == 7) {
            n->field = f.number;
            n->value = f.value;
            n->text = f.wire == PROTO_BYTES ? f.bytes : S("");
        }
    }
    return !in.is_bad;
}

static void put_set(struct perfetto_notes *notes, struct attr attr)
{
    if (notes->n_set < PERFETTO_NOTES)
        notes->set[notes->n_set++] = attr;
}

static void put_own(struct perfetto_notes *notes, struct attr attr)
{
    if (notes->n_own < PERFETTO_NOTES)
        notes->own[notes->n_own++] = attr;
}

/* What rocprofv3 says of times, devices and streams; true when it was that. */
static bool take_rocprof(struct perfetto *p, struct perfetto_notes *notes, strid key,
                         int64_t number, struct str text)
{
    if (key == p->key_begin) {
        notes->begin = number;
        notes->has_begin = true;
    } else if (key == p->key_end) {
        notes->end = number;
        notes->has_end = true;
    } else if (key == p->key_agent) {
        notes->agent = rocprof_device(text);
        notes->has_agent = true;
    } else if (key == p->key_to) {
        notes->to = rocprof_device(text);
        notes->has_copy = true;
    } else if (key == p->key_from) {
        notes->from = rocprof_device(text);
        notes->has_copy = true;
    } else if (key == p->key_stream) {
        notes->stream = capture_intern_format(p->cap, "%lld", (long long)number);
    } else {
        return false;
    }
    return true;
}

/* Names that other readers have for the same things. */
static strid note_key(const struct perfetto *p, strid key)
{
    struct str name = capture_text(p->cap, key);

    if (p->is_own)
        return str_equal(name, S("Task Type")) && capture_is_ascend(p->cap)
                   ? capture_key(p->cap, KEY_CORE)
                   : key;
    if (str_equal(name, S("corr_id")) || str_equal(name, S("correlation")) ||
        str_equal(name, S("correlation_id")))
        return capture_key(p->cap, KEY_LINK);
    if (str_equal(name, S("copy_bytes")))
        return p->key_bytes;
    return key;
}

/* strata writes times as numbers whose names end in _ns. */
static struct attr number_attr(const struct perfetto *p, strid key, int64_t number)
{
    struct str name = capture_text(p->cap, key);

    if (!p->is_own || !str_ends(name, S("_ns")))
        return attr_int(key, number);
    strid plain = capture_intern(p->cap, str_part(name, 0, name.n - 3));
    return attr_time(plain, number);
}

/* An annotation becomes a place or time of rocprofv3, or an attribute. */
static void put_note(struct perfetto *p, const struct perfetto_sequence *s, const struct note *n,
                     strid key, struct perfetto_notes *notes)
{
    struct str text = n->text;
    strid interned = n->field == 17 ? perfetto_text(s, LIST_TEXTS, n->value) : 0;

    if (interned != 0)
        text = capture_text(p->cap, interned);
    if (!p->is_own && take_rocprof(p, notes, key, (int64_t)n->value, text))
        return;
    key = note_key(p, key);
    if (n->field == 2)
        put_set(notes, attr_int(key, n->value != 0));
    else if (n->field == 5)
        put_own(notes, attr_real(key, proto_real(n->value)));
    else if (n->field == 6 || n->field == 9)
        put_set(notes, attr_text(key, capture_intern(p->cap, text)));
    else if (n->field == 17 && interned != 0)
        put_set(notes, attr_text(key, interned));
    else if (n->field == 3 && n->value > INT64_MAX)
        put_set(notes, attr_text(key, capture_intern_format(p->cap, "%llu",
                                                            (unsigned long long)n->value)));
    else if (n->field == 3 || n->field == 4 || n->field == 7)
        put_own(notes, number_attr(p, key, (int64_t)n->value));
}

static strid key_of_note(struct perfetto *p, const struct perfetto_sequence *s,
                         const struct note *n)
{
    return n->key.n > 0 ? capture_intern(p->cap, n->key) : perfetto_text(s, LIST_KEYS, n->key_id);
}

/* Members of an annotation that is a dictionary, as "key.member"; deeper ones are left out. */
static void put_members(struct perfetto *p, const struct perfetto_sequence *s, struct str message,
                        strid key, struct perfetto_notes *notes)
{
    struct proto in = proto_of(message);
    struct proto_field f;
    struct note n;

    while (proto_next(&in, &f)) {
        if (f.number != 11 || f.wire != PROTO_BYTES || !read_note(f.bytes, &n) || n.field == 0)
            continue;
        strid member = key_of_note(p, s, &n);
        struct str outer = capture_text(p->cap, key), inner = capture_text(p->cap, member);
        strid whole = capture_intern_format(p->cap, "%.*s.%.*s", STR_ARGS(outer), STR_ARGS(inner));
        put_note(p, s, &n, whole, notes);
    }
}

void perfetto_take_notes(struct perfetto *p, const struct perfetto_sequence *s,
                         const struct str *messages, size_t count, struct perfetto_notes *notes)
{
    struct note n;

    notes->n_set = notes->n_own = 0;
    notes->has_begin = notes->has_end = notes->has_agent = notes->has_copy = false;
    notes->agent = notes->to = notes->from = -1;
    notes->stream = 0;
    for (size_t i = 0; i < count; i++) {
        if (!read_note(messages[i], &n))
            continue;
        strid key = key_of_note(p, s, &n);
        if (n.field != 0 && key != 0)
            put_note(p, s, &n, key, notes);
        else if (key != 0)
            put_members(p, s, messages[i], key, notes);
    }
}
