/* Events of an in-core trace into slices, pairs and arrows; what their text looks like. */
#include "input/incore/incore_events.h"

#include <stdlib.h>

#include "base/formats/event_json.h"
#include "base/tables/hash.h"
#include "base/text/char.h"

enum {
    MAX_ARGS = 24,
    BIND_REACH = 64, /* slices that are looked at for the end of an arrow between their ends */
};

static const struct str marker = S_INIT("ph");

/* One argument: its value as text, or none of our business. */
struct arg {
    struct str key, text;
    enum json_token token;
};

struct event {
    struct str name, pid, tid, id, ts, dur, group;
    char ph;
    uint64_t offset;
    size_t n_args;
    struct arg args[MAX_ARGS];
};

/* A B that waits for its E. */
struct open {
    lane_id lane;
    strid name, id;
    nanos ts;
    attr_run set, own;
    uint32_t below; /* the one opened before on the same lane under the same name, plus one */
    bool is_closed;
};

/* An end of an arrow. */
struct end {
    strid id;
    lane_id lane;
    nanos ts;
    uint32_t nth; /* of the slices that end there */
    bool is_begin;
};

struct reader {
    const struct incore_text *t;
    struct import *i;
    struct capture *cap;
    struct json json;
    struct arena arena; /* texts of one event */
    struct hash lanes;  /* process and name -> lane */
    struct hash stacks; /* lane and name -> open, plus one */
    struct hash by_id;  /* lane, name and id -> open, plus one */
    struct hash pipes;  /* number of a process -> name of its pipe */
    VEC_OF(struct open) open;
    VEC_OF(struct end) ends;
    struct event *event; /* being read */
    size_t first;        /* slice that this trace brought first */
    strid key_pc, key_code, key_group, key_bytes;
};

static struct where events_place(const struct reader *r, uint64_t offset)
{
    return import_byte(r->i, r->t->offset + offset);
}

/* ---- one event ---- */

static struct str events_text_of(struct reader *r, const struct event_value *v)
{
    if (v->token != JSON_STRING && v->token != JSON_NUMBER)
        return S("");
    return v->has_escapes ? json_text(v->text, &r->arena) : v->text;
}

static bool events_take_args(void *ctx)
{
    struct reader *r = ctx;
    struct event *e = r->event;
    struct json *j = &r->json;
    struct event_value value;
    struct str key;

    if (json_value(j, &key))
        return true;
    if (j->token != JSON_OBJECT)
        return j->token == JSON_ARRAY && json_skip(j);
    json_next(j);
    while (json_key(j, &key)) {
        if (j->has_escapes)
            key = json_text(key, &r->arena);
        if (!event_json_value(j, &value))
            return false;
        if (e->n_args < MAX_ARGS && (value.token == JSON_STRING || value.token == JSON_NUMBER))
            e->args[e->n_args++] = (struct arg){key, events_text_of(r, &value), value.token};
    }
    return j->token == JSON_OBJECT_END;
}

/* False when reading stops. What is no object has no ph. */
static bool take_event(struct reader *r, struct event *e)
{
    struct event_args args = {events_take_args, r, NULL};
    struct event_json json;

    *e = (struct event){0};
    r->event = e;
    if (!event_json_read(&r->json, &args, &json))
        return false;
    e->offset = json.at;
    e->ph = event_json_phase(&json);
    e->name = events_text_of(r, &json.member[EVENT_NAME]);
    e->pid = events_text_of(r, &json.member[EVENT_PID]);
    e->tid = events_text_of(r, &json.member[EVENT_TID]);
    e->ts = events_text_of(r, &json.member[EVENT_TS]);
    e->dur = events_text_of(r, &json.member[EVENT_DUR]);
    e->id = events_text_of(r, &json.member[EVENT_ID]);
    e->group = events_text_of(r, &json.member[EVENT_GROUP]);
    return true;
}

static void lose(struct reader *r, const struct event *e, const char *code, const char *why)
{
    import_lose(r->i, events_place(r, e->offset), code, "event '%.*s' skipped: %s",
                STR_ARGS(e->name), why);
}

static void lose_many(struct reader *r, const char *code, uint64_t n, const char *what)
{
    if (n == 0)
        return;
    r->i->lost += n - 1;
    import_lose(r->i, events_place(r, 0), code, "%llu %s", (unsigned long long)n, what);
}

/* ---- lanes ---- */

/* In a trace of one core processes are pipes, by these numbers. */
static struct str pipe_name(struct reader *r, struct str pid)
{
    static const char *const pipes[] = {
        "SCALAR", "SCALARLDST", "VECTOR",   "CUBE", "MTE1",      "MTE2",
        "MTE3",   "FIXP",       "FLOWCTRL", "ALL",  "CACHEMISS", "USERMARK",
    };
    int64_t number;
    uint32_t named;

    if (!num_i64(pid, &number))
        return pid;
    if (hash_get(&r->pipes, (uint64_t)number, &named))
        return capture_text(r->cap, named);
    if (number >= 10 && number <= 120 && number % 10 == 0)
        return str_of(pipes[number / 10 - 1]);
    return arena_format(&r->arena, "WARP_%lld", (long long)number);
}

static lane_id find_lane(struct reader *r, const struct event *e)
{
    bool is_one_core = r->t->core.n > 0;
    strid process = capture_intern(r->cap, is_one_core ? r->t->core : e->pid);
    strid name = capture_intern(r->cap, is_one_core ? pipe_name(r, e->pid) : e->tid);
    uint64_t key = (uint64_t)process << 32 | name;
    lane_id lane;

    if (hash_get(&r->lanes, key, &lane))
        return lane;
    lane = capture_lane(
        r->cap,
        (struct lane_key){.kind = LANE_PIPE, .device = -1, .process = process, .name = name});
    hash_put(&r->lanes, key, lane);
    return lane;
}

static enum slice_kind events_kind_of(struct str lane, struct str name)
{
    if (str_starts(name, S("SET_FLAG")) || str_starts(name, S("SET_INTRA_BLOCK")) ||
        str_equal(name, S("set_event")))
        return SLICE_CONTROL;
    if (str_starts(name, S("WAIT_FLAG")) || str_starts(name, S("WAIT_INTRA_BLOCK")) ||
        str_equal(name, S("wait_event")))
        return SLICE_WAIT;
    if (str_equal(lane, S("USERMARK")))
        return SLICE_ANNOTATION;
    if (str_equal(lane, S("CACHEMISS")) || str_equal(name, S("cache_time")) ||
        str_equal(name, S("ccu_time")))
        return SLICE_OTHER;
    return SLICE_INSTR;
}

/* ---- attributes ---- */

static struct attr attr_of(struct reader *r, strid key, const struct arg *arg)
{
    int64_t number;
    double real;

    if ((arg->token == JSON_NUMBER || key == r->key_bytes) && num_i64(arg->text, &number))
        return attr_int(key, number);
    if (arg->token == JSON_NUMBER && num_f64(arg->text, &real))
        return attr_real(key, real);
    return attr_text(key, capture_intern(r->cap, arg->text));
}

/* The place of an instruction in the program is shared by its runs, the rest is their own. */
static void keep_args(struct reader *r, const struct event *e, attr_run *set, attr_run *own)
{
    struct attr shared[MAX_ARGS], owned[MAX_ARGS + 1];
    size_t n_shared = 0, n_owned = 0;

    for (size_t i = 0; i < e->n_args; i++) {
        if (e->args[i].text.n == 0)
            continue;
        strid key = capture_intern(r->cap, e->args[i].key);
        struct attr attr = attr_of(r, key, &e->args[i]);
        if (key == r->key_pc || key == r->key_code)
            shared[n_shared++] = attr;
        else
            owned[n_owned++] = attr;
    }
    if (e->group.n > 0)
        owned[n_owned++] = attr_text(r->key_group, capture_intern(r->cap, e->group));
    *set = attrs_set(&r->cap->attrs, shared, n_shared);
    *own = n_owned > 0 ? attrs_own(&r->cap->attrs, owned, n_owned) : 0;
}

/* ---- kinds of events ---- */

static void events_add_slice(struct reader *r, struct slice slice)
{
    const struct capture *cap = r->cap;

    slice.kind = events_kind_of(capture_text(cap, cap->lanes.at[slice.lane].key.name),
                                capture_text(cap, slice.name));
    capture_slice(r->cap, &slice);
    r->i->rows++;
}

static void add_whole(struct reader *r, const struct event *e, lane_id lane, nanos ts)
{
    struct slice slice = {.begin = ts, .lane = lane, .name = capture_intern(r->cap, e->name)};

    if (e->dur.n > 0 && (!num_us(e->dur, &slice.dur) || !import_lasts(slice.dur))) {
        lose(r, e, "incore.bad-time", "its duration is not a number of microseconds");
        return;
    }
    keep_args(r, e, &slice.set, &slice.own);
    events_add_slice(r, slice);
}

static uint64_t stack_key(lane_id lane, strid name)
{
    return (uint64_t)lane << 32 | name;
}

static void open_pair(struct reader *r, const struct event *e, lane_id lane, nanos ts)
{
    struct open open = {.lane = lane, .ts = ts, .name = capture_intern(r->cap, e->name)};
    uint32_t number = (uint32_t)r->open.n + 1;

    open.id = e->id.n > 0 ? capture_intern(r->cap, e->id) : 0;
    keep_args(r, e, &open.set, &open.own);
    if (open.id != 0) {
        hash_put(&r->by_id, hash_mix(stack_key(lane, open.name), open.id), number);
    } else {
        hash_get(&r->stacks, stack_key(lane, open.name), &open.below);
        hash_put(&r->stacks, stack_key(lane, open.name), number);
    }
    vec_push(&r->open, open);
}

static void close_pair(struct reader *r, const struct event *e, lane_id lane, nanos ts)
{
    strid name = capture_intern(r->cap, e->name);
    strid id = e->id.n > 0 ? capture_intern(r->cap, e->id) : 0;
    uint64_t stack = stack_key(lane, name);
    uint32_t number = 0;

    if (id != 0)
        hash_get(&r->by_id, hash_mix(stack, id), &number);
    else
        hash_get(&r->stacks, stack, &number);
    struct open *open = number > 0 ? &r->open.at[number - 1] : NULL;
    if (open == NULL || open->is_closed || open->lane != lane || open->name != name ||
        open->id != id) {
        lose(r, e, "incore.unpaired", "end without a begin");
        return;
    }
    open->is_closed = true;
    if (id == 0)
        hash_put(&r->stacks, stack, open->below);
    nanos begin = open->ts < ts ? open->ts : ts, end = open->ts < ts ? ts : open->ts;
    events_add_slice(r, (struct slice){.begin = begin,
                                       .dur = nanos_sub(end, begin),
                                       .lane = lane,
                                       .name = name,
                                       .set = open->set,
                                       .own = open->own});
}

static void add_end(struct reader *r, const struct event *e, lane_id lane, nanos ts)
{
    struct end end = {.lane = lane, .ts = ts, .is_begin = e->ph == 's'};
    uint64_t nth;

    for (size_t i = 0; i < e->n_args; i++)
        if (str_equal(e->args[i].key, S("nth")) && num_u64(e->args[i].text, &nth) &&
            nth <= UINT32_MAX)
            end.nth = (uint32_t)nth;
    end.id = capture_intern(r->cap, e->id);
    vec_push(&r->ends, end);
}

static void add_samples(struct reader *r, const struct event *e, nanos ts)
{
    struct capture *cap = r->cap;
    double value;

    for (size_t i = 0; i < e->n_args; i++)
        if (num_f64(e->args[i].text, &value))
            capture_sample(cap,
                           capture_series(cap, capture_intern(cap, e->pid),
                                          capture_intern(cap, e->name),
                                          capture_intern(cap, e->args[i].key)),
                           ts, value);
    r->i->rows++;
}

static void add_event(struct reader *r, const struct event *e)
{
    int64_t number;
    nanos ts;

    if (e->ph == 'M') {
        if (str_equal(e->name, S("process_name")) && e->n_args > 0 && num_i64(e->pid, &number))
            hash_put(&r->pipes, (uint64_t)number, capture_intern(r->cap, e->args[0].text));
        return;
    }
    if (e->ph == 0 || memchr("XBEstfC", e->ph, 7) == NULL) {
        lose(r, e, "incore.unknown-event", "unknown ph");
        return;
    }
    if (!num_us(e->ts, &ts)) {
        lose(r, e, "incore.bad-time", "its ts is not a number of microseconds");
        return;
    }
    if (e->ph == 'C') {
        add_samples(r, e, ts);
        return;
    }
    lane_id lane = find_lane(r, e);
    if (e->ph == 'X')
        add_whole(r, e, lane, ts);
    else if (e->ph == 'B')
        open_pair(r, e, lane, ts);
    else if (e->ph == 'E')
        close_pair(r, e, lane, ts);
    else
        add_end(r, e, lane, ts);
}

/* ---- arrows ---- */

/* A slice by where it ends. */
struct stop {
    nanos end;
    lane_id lane;
    uint32_t slice;
    bool is_flag;
};

ORDER_BY(by_stop, struct stop,
         ORDER(x->lane, y->lane) ?: ORDER(x->end, y->end) ?: ORDER(y->is_flag, x->is_flag)
         ?: ORDER(x->slice, y->slice));

struct stops {
    VEC_OF(struct stop) list;
};

static void list_stops(const struct reader *r, struct stops *stops)
{
    const struct slices *s = &r->cap->slices;

    vec_reserve(&stops->list, s->n - r->first);
    for (size_t i = r->first; i < s->n; i++)
        vec_push(&stops->list, ((struct stop){.end = slices_end(s, i),
                                              .lane = s->lane[i],
                                              .slice = (uint32_t)i,
                                              .is_flag = s->kind[i] == SLICE_WAIT ||
                                                         s->kind[i] == SLICE_CONTROL}));
    if (stops->list.n > 0)
        qsort(stops->list.at, stops->list.n, sizeof(*stops->list.at), by_stop);
}

/* The slice an end of an arrow belongs to: one that ends there, else one around it. */
static bool bind(const struct reader *r, const struct stops *stops, const struct end *e,
                 uint32_t *slice)
{
    const struct stop *at = stops->list.at;
    size_t i, n = stops->list.n;

    /* The first slice of the lane that does not end before. */
    vec_bisect(i, n, k, at[k].lane < e->lane || (at[k].lane == e->lane && at[k].end < e->ts));
    if (i < n && at[i].lane == e->lane && at[i].end == e->ts) {
        bool has_nth =
            e->nth < n - i && at[i + e->nth].lane == e->lane && at[i + e->nth].end == e->ts;
        *slice = at[has_nth ? i + e->nth : i].slice;
        return true;
    }
    for (size_t k = i; k < n && k - i < BIND_REACH && at[k].lane == e->lane; k++)
        if (r->cap->slices.begin[at[k].slice] <= e->ts) {
            *slice = at[k].slice;
            return true;
        }
    return false;
}

/* Joins each end to the last begin of the same id. */
static void add_flows(struct reader *r)
{
    struct stops stops = {0};
    struct hash begins = {0};
    uint64_t lost = 0, begun = 0, joined = 0;

    if (r->ends.n > 0)
        list_stops(r, &stops);
    for (size_t i = 0; i < r->ends.n; i++) {
        const struct end *e = &r->ends.at[i];
        uint32_t from, to, begin;
        if (e->is_begin) {
            begun++;
            hash_put(&begins, e->id, (uint32_t)i);
        } else if (hash_get(&begins, e->id, &begin) && bind(r, &stops, &r->ends.at[begin], &from) &&
                   bind(r, &stops, e, &to)) {
            capture_flow(r->cap, FLOW_FLAG, from, to);
            joined++;
        } else {
            lost++;
        }
    }
    lost += begun > joined ? begun - joined : 0;
    lose_many(r, "incore.unbound", lost, "arrow ends without a partner or a slice");
    hash_free(&begins);
    vec_free(&stops.list);
}

/* ---- the document ---- */

static void events_read(struct reader *r)
{
    struct json *j = &r->json;
    struct arena_mark mark = arena_mark(&r->arena);
    struct event e;

    for (;;) {
        json_mark(j);
        uint64_t at = json_offset(j);
        bool is_element = json_element(j);
        if (is_element && take_event(r, &e)) {
            add_event(r, &e);
        } else if (!is_element && j->token == JSON_ARRAY_END) {
            break;
        } else {
            bool has_error = j->token == JSON_ERROR;
            import_lose(r->i, events_place(r, has_error ? j->error_at : at), "incore.damaged", "%s",
                        has_error ? j->error : "the list of events is truncated or damaged");
            bool has_more = json_resync(j, marker) == JSON_NONE;
            uint64_t end = has_more ? json_offset(j) : r->t->text.n;
            damage_add(&r->i->damage, end - at, events_place(r, at));
            if (!has_more)
                break;
        }
        arena_rewind(&r->arena, mark);
    }
}

static enum status read_document(struct reader *r)
{
    struct json *j = &r->json;
    struct str what = r->t->block;
    bool is_cut;

    json_open(j, r->t->text, JSON_LENIENT);
    if (!event_json_enter(j)) {
        uint64_t at = j->token == JSON_ERROR ? j->error_at : json_offset(j);
        const char *why = j->token == JSON_ERROR ? j->error : "no list of events";
        size_t border = json_border(r->t->text, 0, marker, &is_cut);
        if (border == r->t->text.n || is_cut)
            return diag_fail(r->i->in->diag, ST_FORMAT, "incore.no-events", events_place(r, at),
                             "%.*s%s%s", STR_ARGS(what), what.n > 0 ? ": " : "", why);
        import_lose(r->i, events_place(r, at), "incore.damaged", "%s", why);
        json_begin_inside(j, JSON_LENIENT, border);
        json_window(j, str_part(r->t->text, border, r->t->text.n), true);
    }
    events_read(r);
    return ST_OK;
}

enum status incore_events(const struct incore_text *t)
{
    struct reader *r = mem_grow(NULL, sizeof(*r), 1);
    struct capture *cap = t->i->cap;

    memset(r, 0, sizeof(*r));
    r->t = t;
    r->i = t->i;
    r->cap = cap;
    r->first = cap->slices.n;
    r->key_pc = capture_intern(cap, S("pc_addr"));
    r->key_code = capture_intern(cap, S("code"));
    r->key_group = capture_intern(cap, S("group_id"));
    r->key_bytes = capture_intern(cap, S("process_bytes"));
    arena_init(&r->arena);
    enum status st = read_document(r);
    if (st == ST_OK) {
        uint64_t open = 0;
        for (size_t i = 0; i < r->open.n; i++)
            open += !r->open.at[i].is_closed;
        lose_many(r, "incore.unpaired", open, "begin events without an end");
        add_flows(r);
    }
    arena_free(&r->arena);
    hash_free(&r->lanes);
    hash_free(&r->stacks);
    hash_free(&r->by_id);
    hash_free(&r->pipes);
    vec_free(&r->open);
    vec_free(&r->ends);
    mem_free(r);
    return st;
}

/* ---- probing ---- */

enum incore_form incore_probe(struct str head)
{
    struct str text = str_trim(head);
    struct str top = str_part(text, 0, str_find_char(text, '['));

    if (text.n == 0 || text.at[0] != '{' || !str_contains(top, S("\"profilingType\"")) ||
        !str_contains(top, S("\"op\"")) || !str_contains(top, S("\"traceEvents\"")))
        return INCORE_NONE;
    /* The first process of a trace of one core is a number. */
    struct str events = str_part(text, top.n, text.n);
    struct str pid = str_trim(str_part(events, str_find(events, S("\"pid\"")) + 5, 8));
    if (!str_skip(&pid, S(":")))
        return INCORE_CORES;
    pid = str_trim(pid);
    return pid.n > 0 && char_is_digit(pid.at[0]) ? INCORE_ONE_CORE : INCORE_CORES;
}
