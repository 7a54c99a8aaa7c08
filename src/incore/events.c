/*
 * The reader of in-core traces, and the same trace filled from what is in memory.
 */
#include "incore/events.h"

#include <inttypes.h>
#include <math.h>

#include "base/char.h"
#include "base/json_read.h"
#include "base/num.h"

enum { TELL_EVERY = 16 << 20 }; /* bytes between two words to the watch */

/* One event as it is read. */
struct event {
    uint64_t at, end;
    struct str name, ts, dur, args; /* raw; empty: absent */
    struct str plain_name;          /* without quotes; NULL when it is no string */
    char ph;
    bool has_ts, has_dur, is_broken; /* the times are numbers; pid or tid is no value */
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
    struct str last_pid, last_tid;             /* raw, to spare look-ups */
    incore_value last_pid_value, last_tid_value;
    struct str reason;
};

static uint64_t pair_key(incore_value a, incore_value b)
{
    return (uint64_t)a << 32 | b;
}

static incore_value value_of(struct incore_trace *t, struct str text, bool is_raw)
{
    return intern_put(&t->strings, text) << 1 | (is_raw ? 1 : 0);
}

static struct str fail(struct reader *r)
{
    const struct json *j = &r->json;

    return arena_format(&r->t->arena, "%s at byte %" PRIu64,
                        j->error != NULL ? j->error : "cut off",
                        j->error != NULL ? j->error_at : json_offset(j));
}

/* The raw text of the value that comes; false when reading stops. */
static bool take_raw(struct reader *r, struct str *out)
{
    uint64_t from = json_offset(&r->json);

    if (!json_skip(&r->json))
        return false;
    *out = str_trim(str_part(r->t->text, from, json_offset(&r->json) - from));
    return true;
}

/* A text or number. `raw` is with quotes. */
static bool take_scalar(struct reader *r, struct str *raw, struct str *text)
{
    struct json *j = &r->json;

    *text = (struct str){0};
    if (!json_value(j, text)) {
        if (j->token != JSON_OBJECT && j->token != JSON_ARRAY)
            return false;
        return take_raw(r, raw);
    }
    *raw = *text;
    if (j->token == JSON_STRING) {
        *raw = (struct str){text->at - 1, text->n + 2};
        if (j->has_escapes)
            *text = json_text(*text, &r->t->arena);
    } else {
        *text = (struct str){0};
    }
    return true;
}

static bool take_id(struct reader *r, struct str *last, incore_value *last_value, struct event *e,
                    incore_value *out)
{
    struct str raw, text;

    if (!take_scalar(r, &raw, &text))
        return false;
    if (last->at != NULL && str_equal(raw, *last)) {
        *out = *last_value;
        return true;
    }
    if (raw.n > 0 && (*raw.at == '{' || *raw.at == '['))
        e->is_broken = true;
    *out = text.at != NULL ? value_of(r->t, text, false) : value_of(r->t, raw, true);
    *last = raw;
    *last_value = *out;
    return true;
}

static bool is_number(struct str raw)
{
    return raw.n > 0 && (*raw.at == '-' || char_is_digit(*raw.at));
}

/* What does not fit a double is as far away as can be. */
static double number_of(struct str raw)
{
    double value;

    if (!is_number(raw))
        return 0;
    if (num_f64(raw, &value))
        return value;
    return *raw.at == '-' ? -HUGE_VAL : HUGE_VAL;
}

static bool read_member(struct reader *r, struct str key, struct event *e)
{
    struct str raw, text;

    if (str_equal(key, S("args")))
        return take_raw(r, &e->args);
    if (str_equal(key, S("pid")))
        return take_id(r, &r->last_pid, &r->last_pid_value, e, &e->pid);
    if (str_equal(key, S("tid")))
        return take_id(r, &r->last_tid, &r->last_tid_value, e, &e->tid);
    if (str_equal(key, S("name")))
        return take_scalar(r, &e->name, &e->plain_name);
    if (str_equal(key, S("ts")))
        return take_scalar(r, &e->ts, &text);
    if (str_equal(key, S("dur")))
        return take_scalar(r, &e->dur, &text);
    if (str_equal(key, S("ph"))) {
        if (!take_scalar(r, &raw, &text))
            return false;
        e->ph = text.n == 1 ? *text.at : '\0';
        return true;
    }
    return json_skip(&r->json);
}

static bool read_event(struct reader *r, struct event *e)
{
    struct json *j = &r->json;
    struct str key;

    e->at = json_offset(j);
    if (json_next(j) != JSON_OBJECT)
        return false;
    while (json_key(j, &key)) {
        struct str name = j->has_escapes ? json_text(key, &r->t->arena) : key;
        if (!read_member(r, name, e))
            return false;
    }
    e->end = json_offset(j);
    return j->token == JSON_OBJECT_END;
}

static incore_value pipe_of(struct incore_trace *t, incore_value tid)
{
    if (!t->rules.is_compat && str_equal(incore_value_text(t, tid), S("FIXP")) &&
        !incore_value_is_raw(tid))
        return value_of(t, S("FIXPIPE"), false);
    return tid;
}

static uint32_t group_of(struct incore_trace *t, incore_value pid, incore_value tid)
{
    uint32_t fresh = (uint32_t)t->groups.n;
    uint32_t group = hash_add(&t->group_ids, pair_key(pid, tid), fresh);

    if (group == fresh) {
        bool is_scalar = str_equal(incore_value_text(t, tid), S("SCALAR"));
        vec_push(&t->groups,
                 ((struct incore_group){
                     .pid = pid, .tid = tid, .is_kept = !is_scalar || t->rules.keep_scalar}));
    }
    return group;
}

static struct incore_part part_of(const struct incore_trace *t, const struct event *e,
                                  struct str raw)
{
    if (raw.n == 0)
        return (struct incore_part){0};
    return (struct incore_part){(uint32_t)(raw.at - t->text.at - (ptrdiff_t)e->at),
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
    in.group = group_of(t, pid, pipe_of(t, tid));
    t->groups.at[in.group].n++;
    vec_push(&t->instrs, in);
}

static void take_instr(struct incore_trace *t, const struct event *e)
{
    if (is_passed_over(t, e->tid, e->plain_name))
        return;
    if (e->name.n == 0 || !is_number(e->ts)) {
        t->without_name += e->name.n == 0;
        t->without_time += e->name.n > 0;
        return;
    }
    add_instr(t, e->pid, e->tid,
              (struct incore_instr){.at = e->at,
                                    .ts = number_of(e->ts),
                                    .dur = number_of(e->dur),
                                    .name = part_of(t, e, e->name),
                                    .ts_text = part_of(t, e, e->ts),
                                    .dur_text = part_of(t, e, e->dur),
                                    .args = part_of(t, e, e->args)});
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

static void take_flag(struct reader *r, const struct event *e, int sort)
{
    struct incore_trace *t = r->t;
    uint32_t fresh = (uint32_t)r->tops.n;
    uint32_t stack = hash_add(&r->stacks[sort], pair_key(e->pid, e->tid), fresh);

    if (stack == fresh)
        vec_push(&r->tops, 0);
    if (e->ph == 'B') {
        struct str detail = member_text(e->args, S("detail"), &t->arena);
        vec_push(&r->open,
                 ((struct open_flag){r->tops.at[stack], number_of(e->ts), keep_detail(t, detail)}));
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
                                  .end = number_of(e->ts)});
    r->tops.at[stack] = top->below;
    t->open_flags--;
}

static void take_event(struct reader *r, const struct event *e)
{
    struct incore_trace *t = r->t;
    int sort;

    if (e->is_broken || e->end - e->at > LIMIT_RECORD_BYTES || t->instrs.n >= UINT32_MAX - 1) {
        t->not_objects++;
        return;
    }
    if (e->ph == 'X')
        take_instr(t, e);
    else if (e->ph == 'C' && t->rules.keep_counters)
        vec_push(&t->counters, ((struct incore_raw){e->at, e->end - e->at}));
    else if ((e->ph == 'B' || e->ph == 'E') && e->plain_name.n > 0 &&
             (sort = flag_sort(e->plain_name, t->rules.is_compat)) >= 0)
        take_flag(r, e, sort);
}

static void forget(struct reader *r)
{
    struct incore_trace *t = r->t;

    t->instrs.n = t->groups.n = t->sets.n = t->waits.n = t->counters.n = 0;
    t->without_name = t->without_time = t->not_objects = t->open_flags = 0;
    hash_clear(&t->group_ids);
    r->open.n = r->tops.n = 0;
    for (size_t i = 0; i < ARRAY_LEN(r->stacks); i++)
        hash_clear(&r->stacks[i]);
}

static bool read_events(struct reader *r)
{
    struct json *j = &r->json;
    incore_value none = value_of(r->t, (struct str){"", 0}, false);

    forget(r); /* of two arrays of that name the last one counts */
    if (json_next(j) != JSON_ARRAY) {
        if (j->token != JSON_ERROR && j->token != JSON_END)
            r->reason = S("traceEvents is not an array");
        return false;
    }
    while (json_element(j)) {
        uint64_t offset = json_offset(j);
        if (offset < r->t->text.n && r->t->text.at[offset] != '{') {
            r->t->not_objects++;
            continue;
        }
        struct event e = {.pid = none, .tid = none};
        if (!read_event(r, &e))
            return false;
        take_event(r, &e);
        if (r->watch.done != NULL && e.end - r->told >= TELL_EVERY) {
            r->watch.done(r->watch.ctx, e.end);
            r->told = e.end;
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
            ok = read_events(r);
        else if (str_equal(name, S("profilingType")))
            ok = take_raw(r, &r->t->profiling_type);
        else if (str_equal(name, S("schemaVersion")))
            ok = take_raw(r, &r->t->schema_version);
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
    incore_value tid = value_of(t, pipe, false);

    if (t->instrs.n >= UINT32_MAX - 1)
        t->not_objects++;
    else if (!is_passed_over(t, tid, name))
        add_instr(t, value_of(t, core, false), tid, in);
}

void incore_trace_flag(struct incore_trace *t, struct str core, struct str pipe, struct str name,
                       struct incore_flag flag)
{
    int sort = flag_sort(name, t->rules.is_compat);

    flag.pid = value_of(t, core, false);
    flag.tid = value_of(t, pipe, false);
    flag.detail = keep_detail(t, flag.detail);
    if (sort >= 0)
        add_flag(t, sort, flag);
}

enum status incore_trace_read(struct incore_trace *t, struct str text, struct incore_rules rules,
                              struct incore_watch watch, struct str *reason)
{
    struct reader r = {.t = t, .watch = watch};

    incore_trace_init(t, rules);
    t->text = text;
    t->watch = watch;
    json_open(&r.json, text, JSON_STRICT);
    bool ok = read_top(&r);
    if (!ok)
        *reason = r.reason.n > 0 ? r.reason : fail(&r);
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
