/*
 * xplane: what is known of events, as attributes.
 */
#include "input/xla/xplane.h"

/* ---- names ---- */

struct stat_word {
    struct str name;
    enum xplane_role role;
    struct str key; /* its name as an attribute, where that is another one */
};

/* Stats that are not attributes under their own names with a value for each event. */
static const struct stat_word stat_words[] = {
    {S_INIT("correlation_id"), XPLANE_LINK, {0}},
    {S_INIT("kernel_details"), XPLANE_KERNEL, {0}},
    {S_INIT("memcpy_details"), XPLANE_COPY, {0}},
    {S_INIT("memset_details"), XPLANE_COPY, {0}},
    {S_INIT("_p"), XPLANE_FROM, {0}},
    {S_INIT("_pt"), XPLANE_FROM_KIND, {0}},
    {S_INIT("_c"), XPLANE_TO, {0}},
    {S_INIT("_ct"), XPLANE_TO_KIND, {0}},
    {S_INIT("name"), XPLANE_SET, S_INIT("scope")},
    {S_INIT("tf_op"), XPLANE_SET, S_INIT("scope")},
    {S_INIT("hlo_op"), XPLANE_SET, {0}},
    {S_INIT("hlo_module"), XPLANE_SET, {0}},
    {S_INIT("hlo_category"), XPLANE_SET, {0}},
    {S_INIT("program_id"), XPLANE_SET, {0}},
    {S_INIT("flops"), XPLANE_SET, {0}},
    {S_INIT("bytes_accessed"), XPLANE_SET, {0}},
    {S_INIT("source"), XPLANE_SET, {0}},
    {S_INIT("shape_with_layout"), XPLANE_SET, {0}},
    {S_INIT("annotation"), XPLANE_SET, {0}},
    {S_INIT("prefix"), XPLANE_SET, {0}},
    {S_INIT("nvtx_range"), XPLANE_SET, {0}},
    {S_INIT("allocator_name"), XPLANE_SET, {0}},
    {S_INIT("cuda_graph_id"), XPLANE_SET, S_INIT("graph id")},
    /* The profiler's own numbers, and what is said better elsewhere. */
    {S_INIT("device_offset_ps"), XPLANE_SKIP, {0}},
    {S_INIT("device_duration_ps"), XPLANE_SKIP, {0}},
    {S_INIT("group_id"), XPLANE_SKIP, {0}},
    {S_INIT("symbol_id"), XPLANE_SKIP, {0}},
    {S_INIT("flow"), XPLANE_SKIP, {0}},
    {S_INIT("is_eager"), XPLANE_SKIP, {0}},
    {S_INIT("context_id"), XPLANE_SKIP, {0}},
    {S_INIT("device_id"), XPLANE_SKIP, {0}},
    {S_INIT("stream_id"), XPLANE_SKIP, {0}},
    {S_INIT("replica_id"), XPLANE_SKIP, {0}},
    {S_INIT("queue_id"), XPLANE_SKIP, {0}},
    {S_INIT("core_type"), XPLANE_SKIP, {0}},
    {S_INIT("model_flops"), XPLANE_SKIP, {0}},
    {S_INIT("raw_bytes_accessed"), XPLANE_SKIP, {0}},
    {S_INIT("memory_access_breakdown"), XPLANE_SKIP, {0}},
    {S_INIT("theoretical_occupancy_pct"), XPLANE_SKIP, {0}},
    {S_INIT("occupancy_min_grid_size"), XPLANE_SKIP, {0}},
    {S_INIT("occupancy_suggested_block_size"), XPLANE_SKIP, {0}},
};

/* What a stat is for, by its name; "level 0" and the like repeat the scope, "_r" and the like are
 * the profiler's. */
static void know_stat(struct xplane_plane *p, struct xplane_stat_name *s)
{
    struct capture *cap = p->x->cap;
    struct str key = s->name;

    s->role = str_starts(key, S("_")) || str_starts(key, S("level ")) || key.n == 0 ? XPLANE_SKIP
                                                                                    : XPLANE_OWN;
    for (size_t i = 0; i < ARRAY_LEN(stat_words); i++)
        if (str_equal(s->name, stat_words[i].name)) {
            s->role = stat_words[i].role;
            if (stat_words[i].key.n > 0)
                key = stat_words[i].key;
        }
    if (str_equal(s->name, S("hlo_category")))
        s->key = capture_key(cap, KEY_TYPE);
    else if (str_equal(s->name, S("source_stack"))) {
        s->key = capture_key(cap, KEY_STACK);
        s->role = XPLANE_SET;
    } else if (s->role == XPLANE_SET || s->role == XPLANE_OWN) {
        s->key = capture_intern(cap, key);
    }
}

static struct xplane_stat_name *stat_name_of(struct xplane_plane *p, int64_t id)
{
    uint32_t place = id_map_get(&p->stat_ids, id);

    if (place >= p->stat_names.n)
        return NULL;
    struct xplane_stat_name *s = &p->stat_names.at[place];
    if (s->role == XPLANE_UNKNOWN)
        know_stat(p, s);
    return s;
}

/* ---- values ---- */

/* A stat as it lies in the file. */
struct raw_stat {
    int64_t id;
    uint32_t field; /* 0: no value */
    uint64_t value;
    struct str bytes;
};

/* Fields: 1 name, 2 double, 3 unsigned, 4 signed, 5 text, 6 bytes, 7 a text by its number. */
static bool read_stat(struct str message, struct raw_stat *out)
{
    struct proto in = proto_of(message);
    struct proto_field f;

    *out = (struct raw_stat){0};
    while (proto_next(&in, &f)) {
        bool is_text = f.number == 5 || f.number == 6;
        if (f.number == 1 && f.wire == PROTO_VARINT) {
            out->id = (int64_t)f.value;
        } else if (f.number <= 7 && f.wire == (is_text         ? PROTO_BYTES
                                               : f.number == 2 ? PROTO_FIXED64
                                                               : PROTO_VARINT)) {
            out->field = f.number;
            out->value = f.value;
            out->bytes = f.bytes;
        }
    }
    return !in.is_bad && out->field != 0;
}

bool xplane_stat_value(struct xplane_plane *p, struct str message, struct xplane_value *out)
{
    struct raw_stat raw;

    *out = (struct xplane_value){0};
    if (!read_stat(message, &raw))
        return false;
    const struct xplane_stat_name *name = stat_name_of(p, raw.id);
    uint32_t place = id_map_get(&p->stat_ids, (int64_t)raw.value);
    if (name == NULL || (raw.field == 7 && place >= p->stat_names.n))
        return false;
    out->name = name->name;
    if (raw.field == 7)
        out->text = p->stat_names.at[place].name;
    else if (raw.field >= 5)
        out->text = raw.bytes;
    out->is_number = raw.field < 5;
    out->is_unsigned = raw.field == 3;
    out->number = (int64_t)raw.value;
    out->real = raw.field == 2   ? proto_real(raw.value)
                : raw.field == 3 ? (double)raw.value
                                 : (double)(int64_t)raw.value;
    return true;
}

/* The value as a text of the capture; 0: none. */
static strid stat_text_of(struct xplane_plane *p, const struct raw_stat *raw)
{
    struct capture *cap = p->x->cap;

    if (raw->field != 7)
        return raw->field == 5 ? capture_intern(cap, raw->bytes) : 0;
    uint32_t place = id_map_get(&p->stat_ids, (int64_t)raw->value);
    if (place >= p->stat_names.n)
        return 0;
    struct xplane_stat_name *s = &p->stat_names.at[place];
    if (s->text == 0)
        s->text = capture_intern(cap, s->name);
    return s->text;
}

/* An attribute that comes again takes the place of the one before. */
static void put_attr(struct attr *list, size_t *n, size_t most, struct attr attr)
{
    for (size_t i = 0; i < *n; i++)
        if (list[i].key == attr.key) {
            list[i] = attr;
            return;
        }
    if (*n < most)
        list[(*n)++] = attr;
}

static void put_set(struct xplane_told *told, struct attr attr)
{
    put_attr(told->set, &told->n_set, XPLANE_SET_MOST, attr);
}

/* Numbers of the upper half of 64 bits are ids: they stay what they are as texts. */
static struct attr stat_attr_of(struct xplane_plane *p, strid key, const struct raw_stat *raw)
{
    if (raw->field == 2)
        return attr_real(key, proto_real(raw->value));
    if (raw->field == 4 || (raw->field == 3 && raw->value <= INT64_MAX))
        return attr_int(key, (int64_t)raw->value);
    if (raw->field == 3)
        return attr_text(key,
                         capture_intern_format(p->x->cap, "%llu", (unsigned long long)raw->value));
    strid text = stat_text_of(p, raw);
    return text != 0 ? attr_text(key, text) : (struct attr){0};
}

/* ---- details in one text ---- */

/* The number behind "word:"; -1: none. */
static int64_t detail(struct str details, struct str word)
{
    struct str rest = details, part;
    int64_t number;

    while (str_split(&rest, ' ', &part))
        if (str_skip(&part, word) && num_i64(part, &number) && number >= 0)
            return number;
    return -1;
}

static strid detail_text(struct capture *cap, struct str details, struct str word)
{
    struct str rest = details, part;

    while (str_split(&rest, ' ', &part))
        if (str_skip(&part, word))
            return capture_intern(cap, part);
    return 0;
}

/* "regs:38 shm:0 grid:160,1,1 block:1024,1,1", with variations. AMD's registers are garbage at
 * times, and so is the memory beside them then. */
static void read_details(struct capture *cap, struct str details, struct xplane_details *out)
{
    enum { REGISTERS_MOST = 1024 };
    int64_t registers = detail(details, S("regs:")), fixed = detail(details, S("static_shared:"));
    int64_t dynamic = detail(details, S("dynamic_shared:")),
            local = detail(details, S("private_mem:"));
    int64_t shared = fixed >= 0 && dynamic >= 0   ? nanos_add(fixed, dynamic)
                     : fixed >= 0 || dynamic >= 0 ? (fixed >= 0 ? fixed : dynamic)
                                                  : detail(details, S("shm:"));
    strid grid = detail_text(cap, details, S("grid:")),
          block = detail_text(cap, details, S("block:"));

    if (shared < 0)
        shared = detail(details, S("group_mem:"));
    if (grid != 0)
        out->list[out->n++] = attr_text(capture_intern(cap, S("grid")), grid);
    if (block != 0)
        out->list[out->n++] = attr_text(capture_intern(cap, S("block")), block);
    if (registers > REGISTERS_MOST)
        return;
    if (registers >= 0)
        out->list[out->n++] = attr_int(capture_intern(cap, S("registers per thread")), registers);
    if (shared >= 0)
        out->list[out->n++] = attr_int(capture_intern(cap, S("shared memory")), shared);
    if (local > 0)
        out->list[out->n++] = attr_int(capture_intern(cap, S("local memory per thread")), local);
}

/* The same texts come again and again. */
static void tell_kernel(struct xplane_plane *p, strid text, struct xplane_told *told)
{
    struct xplane *x = p->x;
    uint32_t fresh = (uint32_t)x->details.n, place;

    if (text == 0)
        return;
    place = hash_add(&x->details_of, text, fresh);
    if (place == fresh) {
        struct xplane_details one = {0};
        read_details(x->cap, capture_text(x->cap, text), &one);
        vec_push(&x->details, one);
    }
    const struct xplane_details *d = &x->details.at[place];
    for (size_t i = 0; i < d->n; i++)
        put_set(told, d->list[i]);
}

static struct str view_of(struct xplane_plane *p, const struct raw_stat *raw)
{
    uint32_t place = raw->field == 7 ? id_map_get(&p->stat_ids, (int64_t)raw->value) : 0;

    if (raw->field == 5)
        return raw->bytes;
    return raw->field == 7 && place < p->stat_names.n ? p->stat_names.at[place].name : S("");
}

/* ---- one stat ---- */

/* What is no attribute, or several. */
static void tell_special(struct xplane_plane *p, enum xplane_role role, const struct raw_stat *raw,
                         struct xplane_told *told)
{
    struct capture *cap = p->x->cap;

    switch (role) {
    case XPLANE_LINK:
        if (raw->field == 3 || raw->field == 4) {
            put_attr(told->own, &told->n_own, XPLANE_OWN_MOST,
                     attr_int(capture_key(cap, KEY_LINK), (int64_t)raw->value));
            told->link = (int64_t)raw->value;
        }
        return;
    case XPLANE_KERNEL:
        tell_kernel(p, stat_text_of(p, raw), told);
        return;
    case XPLANE_COPY: {
        int64_t bytes = detail(view_of(p, raw), S("size:"));
        if (bytes >= 0)
            put_attr(told->own, &told->n_own, XPLANE_OWN_MOST,
                     attr_int(capture_intern(cap, S("bytes")), bytes));
        return;
    }
    case XPLANE_FROM:
        told->from = raw->value;
        told->has_from = true;
        return;
    case XPLANE_FROM_KIND:
        told->from_kind = raw->value;
        return;
    case XPLANE_TO:
        told->to = raw->value;
        told->has_to = true;
        return;
    case XPLANE_TO_KIND:
        told->to_kind = raw->value;
        return;
    default:
        return;
    }
}

/* Adds what a stat tells. */
static void tell_stat(struct xplane_plane *p, struct str message, struct xplane_told *told)
{
    struct raw_stat raw;

    if (!read_stat(message, &raw))
        return;
    const struct xplane_stat_name *s = stat_name_of(p, raw.id);
    if (s == NULL || s->role == XPLANE_SKIP)
        return;
    if (s->role != XPLANE_SET && s->role != XPLANE_OWN) {
        tell_special(p, s->role, &raw, told);
        return;
    }
    /* "XlaModule:" is no scope; on a GPU another stat has it. */
    if (raw.field >= 5 && s->key == p->x->scope && str_ends(view_of(p, &raw), S("XlaModule:")))
        return;
    struct attr attr = stat_attr_of(p, s->key, &raw);
    if (attr.key == 0)
        return;
    if (s->role == XPLANE_SET || told->is_shared)
        put_set(told, attr);
    else
        put_attr(told->own, &told->n_own, XPLANE_OWN_MOST, attr);
}

/* Adds what all events of a name share, where the event does not say otherwise. */
static void join_shared(struct xplane_told *told, const struct xplane_told *shared)
{
    size_t n = told->n_set;

    for (size_t i = 0; i < shared->n_set; i++) {
        bool is_there = false;
        for (size_t k = 0; k < n; k++)
            is_there = is_there || told->set[k].key == shared->set[i].key;
        if (!is_there && told->n_set < XPLANE_SET_MOST)
            told->set[told->n_set++] = shared->set[i];
    }
}

/* What all events of a name share; NULL: nothing. */
static const struct xplane_told *shared_of(struct xplane_plane *p, struct xplane_event_name *e)
{
    struct proto in = proto_of(e->message);
    struct proto_field f;
    struct xplane_told told = {.is_shared = true};
    bool has_stats = false;

    if (e->is_known)
        return e->shared;
    e->is_known = true;
    if (e->display.n > 0 && !str_equal(e->display, e->name) && p->kind == XPLANE_DEVICE) {
        put_set(&told, attr_text(p->x->long_name, capture_intern(p->x->cap, e->name)));
        has_stats = true;
    }
    while (proto_next(&in, &f))
        if (f.number == 5 && f.wire == PROTO_BYTES) {
            tell_stat(p, f.bytes, &told);
            has_stats = true;
        }
    if (has_stats) {
        e->shared = ARENA_NEW(&p->x->scratch, struct xplane_told);
        *e->shared = told;
        e->set = attrs_set(&p->x->cap->attrs, told.set, told.n_set);
    }
    return e->shared;
}

/* ---- all stats of an event ---- */

/* The stat's number comes first. */
static enum xplane_role role_of(struct xplane_plane *p, struct str message)
{
    struct proto in = proto_of(message);
    struct proto_field f;

    if (!proto_next(&in, &f) || f.number != 1 || f.wire != PROTO_VARINT)
        return XPLANE_OWN; /* looked at in full */
    const struct xplane_stat_name *s = stat_name_of(p, (int64_t)f.value);
    return s != NULL ? s->role : XPLANE_SKIP;
}

/* The bytes from the first to the last stat of a list; they lie one after the other. */
static struct str span_of(const struct str *list, size_t n)
{
    const char *begin = list[0].at, *end = list[0].at + list[0].n;

    for (size_t i = 1; i < n; i++)
        end = list[i].at + list[i].n;
    return (struct str){begin, (size_t)(end - begin)};
}

/* Where a set with these stats is remembered. */
static struct xplane_memo *memo_of(struct xplane_plane *p, struct str bytes, uint32_t name)
{
    if (p->memos == NULL)
        p->memos = ARENA_ARRAY(&p->x->scratch, struct xplane_memo, XPLANE_MEMOS);
    return &p->memos[hash_mix(hash_bytes(bytes), name) % XPLANE_MEMOS];
}

attr_run xplane_stats_tell(struct xplane_plane *p, const struct xplane_stats *stats,
                           struct xplane_event_name *e, struct xplane_told *told)
{
    const struct xplane_told *shared = e != NULL ? shared_of(p, e) : NULL;
    struct str list[XPLANE_STATS_MOST];
    size_t n = 0;

    told->n_set = told->n_own = 0;
    told->has_from = told->has_to = told->is_shared = false;
    told->from_kind = told->to_kind = 0;
    told->link = 0;
    for (size_t i = 0; i < stats->n; i++) {
        enum xplane_role role = role_of(p, stats->at[i]);
        if (role == XPLANE_SET || role == XPLANE_KERNEL)
            list[n++] = stats->at[i];
        else if (role != XPLANE_SKIP)
            tell_stat(p, stats->at[i], told);
    }
    if (n == 0 && told->n_set == 0)
        return e != NULL ? e->set : 0;
    struct str bytes = n > 0 ? span_of(list, n) : S("");
    uint32_t name = e != NULL ? (uint32_t)(e - p->event_names.at) : UINT32_MAX;
    struct xplane_memo *memo = memo_of(p, bytes, name);
    bool is_plain = told->n_set == 0 && bytes.n > 0;
    if (is_plain && memo->name == name && str_equal(memo->bytes, bytes))
        return memo->set;
    for (size_t i = 0; i < n; i++)
        tell_stat(p, list[i], told);
    if (shared != NULL)
        join_shared(told, shared);
    attr_run set = attrs_set(&p->x->cap->attrs, told->set, told->n_set);
    if (is_plain)
        *memo = (struct xplane_memo){bytes, name, set};
    return set;
}
