/*
 * The whole raw trace with rows added; all other bytes are copied.
 */
#include "kernels/incore/files.h"

#include <math.h>
#include <stdlib.h>

#include "base/formats/event_json.h"
#include "base/tables/hash.h"
#include "base/text/num.h"
#include "base/text/text_out.h"
#include "kernels/incore/rows.h"

static const double slack = 1e-9; /* microseconds: below the last digit of any trace */

enum lossless_role {
    PASS,  /* as it is */
    SLICE, /* a complete event of a core */
    BEGIN, /* of a pair: becomes a complete event */
    END,   /* of a pair: goes into its begin */
    FLOW,  /* an end of an arrow */
    ORDER, /* the place of a pipe in the viewer */
};

/* A part of an event's text; n 0: absent. */
struct part {
    uint32_t at, n;
};

struct event {
    uint64_t at, n;
    enum lossless_role role;
    uint32_t group, lane; /* its core and pipe, and the row of that */
    strid id, name;
    double ts, dur;
    struct part tid, ph, ts_text, dur_text, value; /* value: the number of an ORDER */
    uint32_t other;                                /* of a BEGIN: its end, when that is earlier */
};

struct lossless_group {
    struct str pipe; /* as it stands in the text, without quotes */
    uint32_t n, first, rows;
    bool has_order; /* its place was told; what is told again stays as it is */
};

struct trace {
    struct str text;
    struct json json;
    struct intern strings;
    struct hash group_ids, open; /* open: group, name and id -> event + 1 */
    VEC_OF(struct event) events;
    VEC_OF(struct lossless_group) groups;
    VEC_OF(uint32_t) below; /* by event: the begin of the same pair that is open below it, + 1 */
    uint32_t *order;        /* slices by group */
    uint64_t head, tail;    /* where the events begin, and what is behind them */
    struct incore_lossless *told;
};

/* ---- reading ---- */

static struct part lossless_part_of(const struct trace *t, const struct event *e,
                                    const struct event_value *v)
{
    if (v->token == JSON_NONE)
        return (struct part){0};
    bool is_text = v->token == JSON_STRING; /* with its quotes */
    return (struct part){(uint32_t)(v->text.at - t->text.at - (ptrdiff_t)e->at - is_text),
                         (uint32_t)v->text.n + 2 * is_text};
}

static bool lossless_number_of(const struct event_value *v, double *out)
{
    return v->token == JSON_NUMBER && num_f64(v->text, out);
}

/* A text and a number of the same letters are two things. */
static strid lossless_key_of(struct trace *t, const struct event_value *v)
{
    char mark = v->token == JSON_STRING ? '"' : ' ';
    char small[128];

    if (v->token == JSON_NONE || v->text.n > sizeof(small) - 1)
        return intern_put(&t->strings, v->text);
    small[0] = mark;
    memcpy(small + 1, v->text.at, v->text.n);
    return intern_put(&t->strings, (struct str){small, v->text.n + 1});
}

static uint64_t pair_key(const struct event *e)
{
    return hash_mix((uint64_t)e->group << 32 | e->name, e->id);
}

/* Of pairs under one id the last begun ends first. */
static void open_pair(struct trace *t, const struct event *e)
{
    uint32_t below = 0;

    hash_get(&t->open, pair_key(e), &below);
    t->below.at[t->events.n] = below;
    hash_put(&t->open, pair_key(e), (uint32_t)t->events.n + 1);
}

static bool close_pair(struct trace *t, const struct event *end)
{
    uint32_t number = 0;

    if (!hash_get(&t->open, pair_key(end), &number) || number == 0)
        return false;
    struct event *begin = &t->events.at[number - 1];
    if (begin->group != end->group || begin->id != end->id || begin->name != end->name)
        return false;
    hash_put(&t->open, pair_key(end), t->below.at[number - 1]);
    begin->role = BEGIN;
    begin->dur = fabs(end->ts - begin->ts);
    if (end->ts < begin->ts) {
        begin->other = (uint32_t)t->events.n;
        begin->ts = end->ts;
    }
    return true;
}

/* The number of a thread_sort_index. */
static struct part find_order(const struct trace *t, const struct event *e, struct str args)
{
    struct json j;
    struct str key, value;
    int64_t number;

    json_open(&j, args, JSON_STRICT);
    if (args.n > 0 && json_next(&j) == JSON_OBJECT)
        while (json_key(&j, &key))
            if (str_equal(key, S("sort_index")) && json_value(&j, &value) &&
                j.token == JSON_NUMBER && num_i64(value, &number) && number > -1000000000 &&
                number < 1000000000)
                return (struct part){(uint32_t)(value.at - t->text.at - (ptrdiff_t)e->at),
                                     (uint32_t)value.n};
    return (struct part){0};
}

static enum lossless_role role_of(struct trace *t, const struct event_json *j, struct event *e)
{
    const struct event_value *pid = &j->member[EVENT_PID], *tid = &j->member[EVENT_TID];
    char ph = event_json_phase(j);
    bool is_core = pid->token == JSON_STRING && str_starts(pid->text, S("core"));
    bool has_ts = lossless_number_of(&j->member[EVENT_TS], &e->ts);

    if (tid->token == JSON_OBJECT || tid->token == JSON_ARRAY)
        return PASS;
    if (ph == 'M') {
        struct lossless_group *group = &t->groups.at[e->group];
        if (!group->has_order && str_equal(j->member[EVENT_NAME].text, S("thread_sort_index")))
            e->value = find_order(t, e, j->member[EVENT_ARGS].text);
        group->has_order = group->has_order || e->value.n > 0;
        return e->value.n > 0 ? ORDER : PASS;
    }
    if (!is_core || !has_ts)
        return PASS;
    e->id = lossless_key_of(t, &j->member[EVENT_ID]);
    e->name = lossless_key_of(t, &j->member[EVENT_NAME]);
    if (ph == 's' || ph == 't' || ph == 'f')
        return FLOW;
    if (ph == 'X') {
        if (!lossless_number_of(&j->member[EVENT_DUR], &e->dur) || e->dur < 0)
            e->dur = 0;
        return SLICE;
    }
    if (ph == 'B')
        open_pair(t, e);
    return ph == 'E' && close_pair(t, e) ? END : PASS;
}

static void add_event(struct trace *t, const struct event_json *j)
{
    struct event e = {.at = j->at, .n = j->end - j->at, .role = PASS};

    vec_push(&t->below, 0);
    if (j->is_object && e.n <= LIMIT_RECORD_BYTES && t->events.n < UINT32_MAX - 1) {
        uint64_t key = (uint64_t)lossless_key_of(t, &j->member[EVENT_PID]) << 32;
        key |= lossless_key_of(t, &j->member[EVENT_TID]);
        e.group = hash_add(&t->group_ids, key, (uint32_t)t->groups.n);
        if (e.group == t->groups.n)
            vec_push(&t->groups, ((struct lossless_group){.pipe = j->member[EVENT_TID].text}));
        e.role = role_of(t, j, &e);
        e.tid = lossless_part_of(t, &e, &j->member[EVENT_TID]);
        e.ph = lossless_part_of(t, &e, &j->member[EVENT_PH]);
        e.ts_text = lossless_part_of(t, &e, &j->member[EVENT_TS]);
        e.dur_text = lossless_part_of(t, &e, &j->member[EVENT_DUR]);
    }
    t->told->pairs += e.role == END;
    t->told->slices += e.role == SLICE;
    vec_push(&t->events, e);
}

static const char *lossless_read_events(struct trace *t)
{
    struct json *j = &t->json;
    struct event_json e;

    if (json_next(j) != JSON_ARRAY)
        return "traceEvents is not an array";
    t->head = json_offset(j);
    while (event_json_next(j, NULL, &e))
        add_event(t, &e);
    if (j->token != JSON_ARRAY_END)
        return j->error != NULL ? j->error : "cut off";
    t->tail = json_offset(j) - 1; /* the bracket */
    return NULL;
}

/* NULL when all is well. */
static const char *read_trace(struct trace *t)
{
    struct json *j = &t->json;
    bool has_events = false;
    struct str key;

    json_open(j, t->text, JSON_STRICT);
    if (json_next(j) != JSON_OBJECT)
        return "it is not an object";
    while (json_key(j, &key)) {
        if (!str_equal(key, S("traceEvents")))
            continue;
        if (has_events)
            return "it has two lists of events";
        has_events = true;
        const char *why = lossless_read_events(t);
        if (why != NULL)
            return why;
    }
    if (j->token != JSON_OBJECT_END || json_next(j) != JSON_END)
        return j->error != NULL ? j->error : "cut off";
    return has_events ? NULL : "it has no list of events";
}

/* ---- rows ---- */

static bool is_drawn(const struct event *e)
{
    return e->role == SLICE || e->role == BEGIN;
}

static int by_begin(const void *a, const void *b, void *ctx)
{
    const struct trace *t = ctx;
    uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
    const struct event *x = &t->events.at[p], *y = &t->events.at[q];

    return ORDER(x->ts, y->ts) ?: ORDER(y->dur, x->dur) ?: ORDER(p, q);
}

static void lossless_pack(struct trace *t)
{
    struct incore_rows rows = {0};
    uint32_t at = 0;

    for (size_t i = 0; i < t->events.n; i++)
        if (is_drawn(&t->events.at[i]))
            t->groups.at[t->events.at[i].group].n++;
    for (size_t g = 0; g < t->groups.n; g++) {
        t->groups.at[g].first = at;
        at += t->groups.at[g].n;
        t->groups.at[g].n = 0;
    }
    t->order = mem_grow(NULL, sizeof(*t->order), (size_t)at + 1);
    for (size_t i = 0; i < t->events.n; i++)
        if (is_drawn(&t->events.at[i])) {
            struct lossless_group *group = &t->groups.at[t->events.at[i].group];
            t->order[group->first + group->n++] = (uint32_t)i;
        }
    for (size_t g = 0; g < t->groups.n; g++) {
        struct lossless_group *group = &t->groups.at[g];
        if (group->n == 0)
            continue;
        qsort_r(t->order + group->first, group->n, sizeof(*t->order), by_begin, t);
        incore_rows_begin(&rows);
        for (uint32_t i = 0; i < group->n; i++) {
            struct event *e = &t->events.at[t->order[group->first + i]];
            e->lane = incore_rows_place(&rows, e->ts, e->dur, slack);
        }
        group->rows = rows.n;
        t->told->rows += rows.n;
    }
    incore_rows_free(&rows);
}

/* Arrows go where the flag of their id is; the begin of one rather to the flag that is set. */
static void place_flows(struct trace *t)
{
    struct hash flags = {0}, sets = {0};

    for (size_t i = 0; i < t->events.n; i++) {
        const struct event *e = &t->events.at[i];
        if (e->role != BEGIN || e->id == 0)
            continue;
        struct str name = intern_get(&t->strings, e->name);
        bool is_set = str_starts(name, S("\"SET")) || str_starts(name, S("\"set"));
        hash_put(is_set ? &sets : &flags, (uint64_t)e->group << 32 | e->id, e->lane);
    }
    for (size_t i = 0; i < t->events.n; i++) {
        struct event *e = &t->events.at[i];
        uint64_t key = (uint64_t)e->group << 32 | e->id;
        char ph = e->ph.n == 3 ? t->text.at[e->at + e->ph.at + 1] : '\0'; /* in quotes */
        t->told->unpaired += e->role == PASS && (ph == 'B' || ph == 'E');
        if (e->role != FLOW)
            continue;
        bool begins = ph == 's';
        if (!hash_get(begins ? &sets : &flags, key, &e->lane))
            hash_get(begins ? &flags : &sets, key, &e->lane);
    }
    hash_free(&flags);
    hash_free(&sets);
}

/* ---- writing ---- */

struct lossless_writer {
    const struct trace *t;
    struct text_out *out;
};

static void put_tid(struct lossless_writer *w, const struct lossless_group *group, uint32_t lane)
{
    text_out_put(w->out, S("\""));
    text_out_put(w->out, group->pipe); /* raw: escaped already */
    text_out_put(w->out, S("#"));
    text_out_u64(w->out, lane);
    text_out_put(w->out, S("\""));
}

static struct str lossless_text_of(const struct trace *t, const struct event *e, struct part part)
{
    return str_part(t->text, e->at + part.at, part.n);
}

/* What replaces a part of an event. */
enum patch { PATCH_TID, PATCH_PH, PATCH_TS, PATCH_DUR, PATCH_ORDER, PATCHES };

/* PATCH_ORDER: a pipe's order times 100 leaves room for its rows before those of the next pipe. */
static void put_patch(struct lossless_writer *w, const struct event *e, uint32_t lane,
                      enum patch what)
{
    const struct trace *t = w->t;
    int64_t order = 0;

    switch (what) {
    case PATCH_TID:
        put_tid(w, &t->groups.at[e->group], lane);
        break;
    case PATCH_PH:
        text_out_put(w->out, S("\"X\""));
        break;
    case PATCH_TS:
        text_out_put(w->out,
                     lossless_text_of(t, &t->events.at[e->other], t->events.at[e->other].ts_text));
        break;
    case PATCH_DUR:
        text_out_f64(w->out, e->dur);
        break;
    case PATCH_ORDER:
        num_i64(lossless_text_of(t, e, e->value), &order);
        if (__builtin_mul_overflow(order, 100, &order) ||
            __builtin_add_overflow(order, lane, &order))
            order = INT64_MAX;
        text_out_i64(w->out, order);
        break;
    case PATCHES:
        break;
    }
}

/* The event with some parts replaced, in the order they stand in it. */
static void lossless_put_event(struct lossless_writer *w, const struct event *e, uint32_t lane)
{
    bool is_split = e->role != PASS && w->t->groups.at[e->group].rows > 1;
    bool is_pair = e->role == BEGIN;
    struct part parts[PATCHES] = {
        [PATCH_TID] = is_split ? e->tid : (struct part){0},
        [PATCH_PH] = is_pair ? e->ph : (struct part){0},
        [PATCH_TS] = is_pair && e->other > 0 ? e->ts_text : (struct part){0},
        [PATCH_DUR] = is_pair ? e->dur_text : (struct part){0},
        [PATCH_ORDER] = e->role == ORDER ? e->value : (struct part){0},
    };
    struct str text = str_part(w->t->text, e->at, e->n);
    uint32_t done = 0;

    for (;;) {
        int next = -1;
        for (int i = 0; i < PATCHES; i++)
            if (parts[i].n > 0 && (next < 0 || parts[i].at < parts[next].at))
                next = i;
        if (next < 0)
            break;
        text_out_put(w->out, str_part(text, done, parts[next].at - done));
        put_patch(w, e, lane, (enum patch)next);
        done = parts[next].at + parts[next].n;
        parts[next].n = 0;
    }
    bool adds = (is_split && e->tid.n == 0) || (is_pair && e->dur_text.n == 0);
    text_out_put(w->out, str_part(text, done, text.n - done - adds));
    if (is_split && e->tid.n == 0) {
        text_out_put(w->out, S(",\"tid\":"));
        put_tid(w, &w->t->groups.at[e->group], lane);
    }
    if (is_pair && e->dur_text.n == 0) {
        text_out_put(w->out, S(",\"dur\":"));
        text_out_f64(w->out, e->dur);
    }
    text_out_put(w->out, adds ? S("}") : S(""));
}

static void put_trace(const struct trace *t, struct sink sink)
{
    struct lossless_writer w = {.t = t, .out = mem_grow(NULL, sizeof(*w.out), 1)};
    bool is_first = true;

    text_out_open(w.out, sink);
    text_out_put(w.out, str_part(t->text, 0, t->head));
    for (size_t i = 0; i < t->events.n; i++) {
        const struct event *e = &t->events.at[i];
        uint32_t rows = e->role == ORDER ? t->groups.at[e->group].rows : 1;
        if (e->role == END)
            continue;
        for (uint32_t k = 0; k < (rows > 0 ? rows : 1); k++) {
            text_out_put(w.out, is_first ? S("\n") : S(",\n"));
            lossless_put_event(&w, e, e->role == ORDER ? k : e->lane);
            is_first = false;
        }
    }
    text_out_put(w.out, str_part(t->text, t->tail, t->text.n));
    text_out_close(w.out);
    mem_free(w.out);
}

enum status incore_lossless_write(struct str text, struct sink sink, struct incore_lossless *told,
                                  const char **reason)
{
    struct trace *t = mem_grow(NULL, sizeof(*t), 1);

    memset(t, 0, sizeof(*t));
    *told = (struct incore_lossless){0};
    t->text = text;
    t->told = told;
    intern_init(&t->strings);
    *reason = read_trace(t);
    if (*reason == NULL) {
        lossless_pack(t);
        place_flows(t);
        put_trace(t, sink);
    }
    hash_free(&t->group_ids);
    hash_free(&t->open);
    intern_fini(&t->strings);
    vec_free(&t->events);
    vec_free(&t->groups);
    vec_free(&t->below);
    mem_free(t->order);
    bool is_fine = *reason == NULL;
    mem_free(t);
    return is_fine ? ST_OK : ST_FORMAT;
}
