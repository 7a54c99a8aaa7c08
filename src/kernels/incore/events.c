/*
 * The reader of in-core traces, and the same trace filled from what is in memory.
 */
#include "kernels/incore/events.h"

#include <inttypes.h>
#include <math.h>

#include "base/formats/event_json.h"
#include "base/text/num.h"

enum { TELL_EVERY = 16 << 20 }; /* bytes between two words to the watch */

/* One event as it is read. */
struct event {
    const struct event_json *json;
    struct str plain_name; /* without quotes; NULL when it is no string */
    char ph;
    bool is_broken; /* pid or tid is no value */
    incore_value pid, tid;
};

/* Flags that have begun, as stacks in one array. */
struct open_flag {
    uint32_t below; /* index + 1 of the one beneath */
    double begin;
    struct str detail;
};

struct reader {
    struct incore_trace *t;
    struct json json;
    struct incore_watch watch;
    uint64_t told;
    VEC_OF(struct open_flag) open;
    VEC_OF(uint32_t) tops;                     /* per stack: index + 1 of the uppermost */
    struct hash stacks[2 * INCORE_FLAG_KINDS]; /* pid and tid -> stack */
    struct last_id {
        struct str raw;
        incore_value value;
    } last_pid, last_tid; /* to spare look-ups */
    struct str reason;
};

static uint64_t pair_key(incore_value a, incore_value b)
{
    return (uint64_t)a << 32 | b;
}

static incore_value events_value_of(struct incore_trace *t, struct str text, bool is_raw)
{
    return intern_put(&t->strings, text) << 1 | (is_raw ? 1 : 0);
}

bool incore_read_raw(struct json *j, struct str text, struct str *out)
{
    uint64_t from = json_offset(j);

    if (!json_skip(j))
        return false;
    *out = str_trim(str_part(text, from, json_offset(j) - from));
    return true;
}

/* The text of a string; NULL when it is none. */
static struct str incore_events_text_of(struct reader *r, const struct event_value *v)
{
    if (v->token != JSON_STRING)
        return (struct str){0};
    return v->has_escapes ? json_text(v->text, &r->t->arena) : v->text;
}

static incore_value id_of(struct reader *r, struct last_id *last, const struct event_value *v,
                          struct event *e)
{
    struct str raw = event_value_raw(v);

    if (v->token == JSON_NONE)
        return events_value_of(r->t, S(""), false);
    if (last->raw.at == NULL || !str_equal(raw, last->raw)) {
        struct str text = incore_events_text_of(r, v);
        e->is_broken = e->is_broken || event_value_is_json(v);
        last->value =
            text.at != NULL ? events_value_of(r->t, text, false) : events_value_of(r->t, raw, true);
        last->raw = raw;
    }
    return last->value;
}

/* What does not fit a double is as far away as can be. */
static double events_number_of(const struct event_value *v)
{
    double value;

    if (v->token != JSON_NUMBER)
        return 0;
    if (num_f64(v->text, &value))
        return value;
    return *v->text.at == '-' ? -HUGE_VAL : HUGE_VAL;
}

static struct event event_of(struct reader *r, const struct event_json *j)
{
    const struct event_value *m = j->member;
    struct str ph = incore_events_text_of(r, &m[EVENT_PH]);
    struct event e = {.json = j,
                      .plain_name = incore_events_text_of(r, &m[EVENT_NAME]),
                      .ph = ph.n == 1 ? *ph.at : '\0'};

    e.pid = id_of(r, &r->last_pid, &m[EVENT_PID], &e);
    e.tid = id_of(r, &r->last_tid, &m[EVENT_TID], &e);
    return e;
}

static struct incore_part events_part_of(const struct incore_trace *t, const struct event_json *j,
                                         enum event_member m)
{
    struct str raw = event_value_raw(&j->member[m]);

    if (raw.n == 0)
        return (struct incore_part){0};
    return (struct incore_part){(uint32_t)(raw.at - t->text.at - (ptrdiff_t)j->at),
                                (uint32_t)raw.n};
}

/* Lanes and names that are no instructions. */
static bool is_passed_over(const struct incore_trace *t, incore_value tid, struct str name)
{
    static const struct str lanes[] = {S_INIT("CACHEMISS"), S_INIT("FLOWCTRL"), S_INIT("ALL")};
    static const struct str flags[] = {S_INIT("SET_FLAG"), S_INIT("WAIT_FLAG"), S_INIT("BAR")};
    static const struct str heads[] = {S_INIT("cache_time"), S_INIT("ccu_time")};

    return str_is_one_of(incore_value_text(t, tid), lanes, ARRAY_LEN(lanes)) ||
           str_is_one_of(name, flags, ARRAY_LEN(flags)) ||
           (!t->rules.is_compat && !t->rules.keep_head &&
            str_is_one_of(name, heads, ARRAY_LEN(heads)));
}

static void add_instr(struct incore_trace *t, incore_value pid, incore_value tid,
                      struct incore_instr in)
{
    uint32_t fresh = (uint32_t)t->groups.n;
    if (!t->rules.is_compat && str_equal(incore_value_text(t, tid), S("FIXP")) &&
        !incore_value_is_raw(tid))
        tid = events_value_of(t, S("FIXPIPE"), false);
    in.group = hash_add(&t->group_ids, pair_key(pid, tid), fresh);
    if (in.group == fresh) {
        bool is_scalar = str_equal(incore_value_text(t, tid), S("SCALAR"));
        vec_push(&t->groups,
                 ((struct incore_group){
                     .pid = pid, .tid = tid, .is_kept = !is_scalar || t->rules.keep_scalar}));
    }
    t->groups.at[in.group].n++;
    vec_push(&t->instrs, in);
}

static void read_instr(struct incore_trace *t, const struct event *e)
{
    const struct event_json *j = e->json;
    const struct event_value *m = j->member;

    if (is_passed_over(t, e->tid, e->plain_name))
        return;
    bool has_name = m[EVENT_NAME].token != JSON_NONE;
    if (!has_name || m[EVENT_TS].token != JSON_NUMBER) {
        t->without_name += !has_name;
        t->without_time += has_name;
        return;
    }
    add_instr(t, e->pid, e->tid,
              (struct incore_instr){.at = j->at,
                                    .ts = events_number_of(&m[EVENT_TS]),
                                    .dur = events_number_of(&m[EVENT_DUR]),
                                    .name = events_part_of(t, j, EVENT_NAME),
                                    .ts_text = events_part_of(t, j, EVENT_TS),
                                    .dur_text = events_part_of(t, j, EVENT_DUR),
                                    .args = events_part_of(t, j, EVENT_ARGS)});
}

/* SET and WAIT of a kind are two neighbours, SET first; -1: no flag. */
static int flag_sort(struct str name, bool is_compat)
{
    static const struct str names[] = {S_INIT("SET_FLAG"),        S_INIT("WAIT_FLAG"),
                                       S_INIT("set_event"),       S_INIT("wait_event"),
                                       S_INIT("SET_INTRA_BLOCK"), S_INIT("WAIT_INTRA_BLOCK")};
    size_t count = is_compat ? 2 : ARRAY_LEN(names);

    for (size_t i = 0; i < count; i++)
        if (str_equal(name, names[i]) || (i >= 4 && name.n == names[i].n + 1 &&
                                          str_starts(name, names[i]) && name.at[name.n - 1] == 'I'))
            return (int)i;
    return -1;
}

static struct str member_text(struct str object, struct str wanted, struct arena *arena)
{
    struct json j;
    struct str key, value, found = {0};

    json_open(&j, object, JSON_STRICT);
    if (object.n == 0 || json_next(&j) != JSON_OBJECT)
        return found;
    while (json_key(&j, &key)) {
        if (!str_equal(key, wanted))
            continue;
        if (json_value(&j, &value) && j.token == JSON_STRING)
            found = j.has_escapes ? json_text(value, arena) : value;
        else
            found = (struct str){0};
    }
    return found;
}

/* Few different ones; a view of the text would call back the page of each. */
static struct str keep_detail(struct incore_trace *t, struct str detail)
{
    strid kept = intern_put(&t->strings, detail);

    return detail.at != NULL ? intern_get(&t->strings, kept) : detail;
}

static void add_flag(struct incore_trace *t, int sort, struct incore_flag flag)
{
    struct incore_flags *list = sort % 2 == 0 ? &t->sets : &t->waits;

    flag.kind = (enum incore_flag_kind)(sort / 2);
    vec_push(list, flag);
}

/* B and E of a (pid, tid) pair like brackets: each stack is a list through `below`. `open_flags`
 * counts those without partner: every B at first, and an E on an empty stack. */
static void read_flag(struct reader *r, const struct event *e, int sort)
{
    struct incore_trace *t = r->t;
    uint32_t fresh = (uint32_t)r->tops.n;
    uint32_t stack = hash_add(&r->stacks[sort], pair_key(e->pid, e->tid), fresh);

    if (stack == fresh)
        vec_push(&r->tops, 0);
    if (e->ph == 'B') {
        struct str args = event_value_raw(&e->json->member[EVENT_ARGS]);
        vec_push(&r->open, ((struct open_flag){
                               r->tops.at[stack], events_number_of(&e->json->member[EVENT_TS]),
                               keep_detail(t, member_text(args, S("detail"), &t->arena))}));
        r->tops.at[stack] = (uint32_t)r->open.n;
        t->open_flags++;
        return;
    }
    if (r->tops.at[stack] == 0) {
        t->open_flags++;
        return;
    }
    const struct open_flag *top = &r->open.at[r->tops.at[stack] - 1];
    add_flag(t, sort,
             (struct incore_flag){.pid = e->pid,
                                  .tid = e->tid,
                                  .detail = top->detail,
                                  .begin = top->begin,
                                  .end = events_number_of(&e->json->member[EVENT_TS])});
    r->tops.at[stack] = top->below;
    t->open_flags--;
}

static void read_trace_event(struct reader *r, const struct event *e)
{
    struct incore_trace *t = r->t;
    int sort;

    if (e->is_broken || e->json->end - e->json->at > LIMIT_RECORD_BYTES ||
        t->instrs.n >= UINT32_MAX - 1) {
        t->not_objects++;
        return;
    }
    if (e->ph == 'X')
        read_instr(t, e);
    else if (e->ph == 'C' && t->rules.keep_counters)
        vec_push(&t->counters, ((struct incore_raw){e->json->at, e->json->end - e->json->at}));
    else if ((e->ph == 'B' || e->ph == 'E') && e->plain_name.n > 0 &&
             (sort = flag_sort(e->plain_name, t->rules.is_compat)) >= 0)
        read_flag(r, e, sort);
}

static void events_forget(struct reader *r)
{
    struct incore_trace *t = r->t;

    t->instrs.n = t->groups.n = t->sets.n = t->waits.n = t->counters.n = 0;
    t->without_name = t->without_time = t->not_objects = t->open_flags = 0;
    hash_clear(&t->group_ids);
    r->open.n = r->tops.n = 0;
    for (size_t i = 0; i < ARRAY_LEN(r->stacks); i++)
        hash_clear(&r->stacks[i]);
}

static bool incore_events_read(struct reader *r)
{
    struct json *j = &r->json;
    struct event_args args = {.arena = &r->t->arena};
    struct event_json json;

    events_forget(r); /* of two arrays of that name the last one counts */
    if (json_next(j) != JSON_ARRAY) {
        if (j->token != JSON_ERROR && j->token != JSON_END)
            r->reason = S("traceEvents is not an array");
        return false;
    }
    while (event_json_next(j, &args, &json)) {
        if (!json.is_object) {
            r->t->not_objects++;
            continue;
        }
        struct event e = event_of(r, &json);
        read_trace_event(r, &e);
        if (r->watch.done != NULL && json.end - r->told >= TELL_EVERY) {
            r->watch.done(r->watch.ctx, json.end);
            r->told = json.end;
        }
    }
    return j->token == JSON_ARRAY_END;
}

static bool read_top(struct reader *r)
{
    struct json *j = &r->json;
    struct str key;

    enum json_token token = json_next(j);
    if (token != JSON_OBJECT) {
        if (token != JSON_ERROR && token != JSON_END)
            r->reason = S("it is not an object");
        return false;
    }
    while (json_key(j, &key)) {
        struct str name = j->has_escapes ? json_text(key, &r->t->arena) : key;
        bool ok = true;
        if (str_equal(name, S("traceEvents")))
            ok = incore_events_read(r);
        else if (str_equal(name, S("profilingType")))
            ok = incore_read_raw(j, r->t->text, &r->t->profiling_type);
        else if (str_equal(name, S("schemaVersion")))
            ok = incore_read_raw(j, r->t->text, &r->t->schema_version);
        if (!ok)
            return false;
    }
    return j->token == JSON_OBJECT_END && json_next(j) == JSON_END;
}

void incore_trace_init(struct incore_trace *t, struct incore_rules rules)
{
    *t = (struct incore_trace){.rules = rules};
    arena_init(&t->arena);
    intern_init(&t->strings);
}

void incore_trace_instr(struct incore_trace *t, struct str core, struct str pipe, struct str name,
                        struct incore_instr in)
{
    incore_value tid = events_value_of(t, pipe, false);

    if (t->instrs.n >= UINT32_MAX - 1)
        t->not_objects++;
    else if (!is_passed_over(t, tid, name))
        add_instr(t, events_value_of(t, core, false), tid, in);
}

void incore_trace_flag(struct incore_trace *t, struct str core, struct str pipe, struct str name,
                       struct incore_flag flag)
{
    int sort = flag_sort(name, t->rules.is_compat);

    flag.pid = events_value_of(t, core, false);
    flag.tid = events_value_of(t, pipe, false);
    flag.detail = keep_detail(t, flag.detail);
    if (sort >= 0)
        add_flag(t, sort, flag);
}

enum status incore_trace_read(struct incore_trace *t, struct str text, struct incore_rules rules,
                              struct incore_watch watch, struct str *reason)
{
    struct reader r = {.t = t, .watch = watch};
    const struct json *j = &r.json;

    incore_trace_init(t, rules);
    t->text = text;
    t->watch = watch;
    json_open(&r.json, text, JSON_STRICT);
    bool ok = read_top(&r);
    if (!ok)
        *reason = r.reason.n > 0 ? r.reason
                                 : arena_format(&t->arena, "%s at byte %" PRIu64,
                                                j->error != NULL ? j->error : "cut off",
                                                j->error != NULL ? j->error_at : json_offset(j));
    if (!ok && rules.salvage && t->instrs.n > 0) {
        t->cut = *reason;
        ok = true;
    }
    vec_free(&r.open);
    vec_free(&r.tops);
    for (size_t i = 0; i < ARRAY_LEN(r.stacks); i++)
        hash_free(&r.stacks[i]);
    return ok ? ST_OK : ST_FORMAT;
}

void incore_trace_free(struct incore_trace *t)
{
    vec_free(&t->instrs);
    vec_free(&t->groups);
    vec_free(&t->sets);
    vec_free(&t->waits);
    vec_free(&t->counters);
    hash_free(&t->group_ids);
    intern_fini(&t->strings);
    arena_free(&t->arena);
}

uint32_t incore_group_find(const struct incore_trace *t, incore_value pid, struct str pipe)
{
    strid id = intern_find(&t->strings, pipe);
    uint32_t group;

    if ((id == 0 && pipe.n > 0) || !hash_get(&t->group_ids, pair_key(pid, id << 1), &group))
        return UINT32_MAX;
    return group;
}
