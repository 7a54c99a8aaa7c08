/*
 * Events of one piece: taken apart, sorted into rows, arrows, samples and names. One file, as
 * all of it is compiled into one loop.
 */
#include "input/trace/trace_chunk.h"

#include "base/tables/hash.h"
#include "base/text/char.h"
#include "capture/classify.h"
#include "input/import.h"

enum { /* more than these are forgotten after a piece */
       KEEP_STRINGS = 16 << 10,
       KEEP_SETS = 128 << 10, /* bytes */
       KEEP_COLUMNS = 1 << 10,
       KEEP_LANES = 1 << 10,
};

static const struct str marker = S_INIT("ph");

/* "None" of an id in Ascend traces. */
static const int64_t no_id = 4294967295;

void trace_chunk_init(struct trace_chunk *c, enum trace_dialect dialect)
{
    memset(c, 0, sizeof(*c));
    c->dialect = dialect;
    trace_strings_init(&c->strings);
    attrs_init(&c->sets);
    attrs_init(&c->owns);
    arena_init(&c->arena);
    c->paths = mem_grow(NULL, sizeof(*c->paths), 1);
    trace_paths_init(c->paths, PATHS_BEST);
}

void trace_chunk_fini(struct trace_chunk *c)
{
    mem_free(c->buffer);
    mapwindow_leave(&c->window);
    trace_strings_fini(&c->strings);
    vec_free(&c->lanes);
    attrs_fini(&c->sets);
    attrs_fini(&c->owns);
    vec_free(&c->rows);
    vec_free(&c->ends);
    vec_free(&c->flow_cats);
    vec_free(&c->samples);
    vec_free(&c->metas);
    hash_free(&c->lane_ids);
    arena_free(&c->arena);
    mem_free(c->kept);
    vec_free(&c->map.strings);
    vec_free(&c->map.keys);
    vec_free(&c->map.lanes);
    vec_free(&c->map.sets);
    vec_free(&c->map.own.shapes);
    mem_free(c->paths);
}

static void clear(struct trace_chunk *c)
{
    if (!c->is_merged || (c->strings.at.n > KEEP_STRINGS || c->sets.bytes.n > KEEP_SETS ||
                          c->sets.columns.n > KEEP_COLUMNS || c->owns.columns.n > KEEP_COLUMNS ||
                          c->lanes.n > KEEP_LANES)) {
        /* Forgets all numbers. */
        trace_strings_clear(&c->strings);
        attrs_clear(&c->sets);
        attrs_clear(&c->owns);
        hash_clear(&c->lane_ids);
        c->lanes.n = 0;
        c->map.strings.n = c->map.keys.n = c->map.lanes.n = c->map.sets.n = c->map.own.shapes.n = 0;
        trace_paths_forget(c->paths);
        c->n_kept = 0;
    }
    c->is_merged = false;
    attrs_clear_runs(&c->owns);
    c->rows.n = c->ends.n = c->flow_cats.n = c->samples.n = c->metas.n = 0;
    memset(c->troubles, 0, sizeof(c->troubles));
    c->damage = (struct damage){0};
    memset(c->keys, 0, sizeof(c->keys));
    memset(c->last_lane, 0, sizeof(c->last_lane));
    memset(c->cats, 0, sizeof(c->cats));
    memset(&c->last_task, 0, sizeof(c->last_task));
    c->events = 0;
    c->shift = INT64_MAX;
    trace_paths_renew(c->paths);
    arena_free(&c->arena);
}

static void trouble(struct trace_chunk *c, enum trace_trouble kind, uint64_t offset)
{
    struct trace_tally *t = &c->troubles[kind];

    if (t->count++ == 0)
        t->first = offset;
}

static strid chunk_put(struct trace_chunk *c, struct str raw)
{
    return trace_strings_put(&c->strings, raw, FORM_TEXT);
}

enum trace_form trace_form(struct trace_arg arg, bool is_json)
{
    if (arg.action == ARG_CORE)
        return FORM_CORE;
    if (arg.action == ARG_KEY && arg.key != KEY_STACK)
        return is_json ? FORM_TENSORS_JSON : FORM_TENSORS;
    return is_json ? FORM_JSON : FORM_TEXT;
}

/* From a small table of those met before. */
const struct trace_key *trace_chunk_key(struct trace_chunk *c, struct str key)
{
    unsigned char first = key.n > 0 ? (unsigned char)key.at[0] : 0;
    unsigned char last = key.n > 0 ? (unsigned char)key.at[key.n - 1] : 0;
    struct trace_key *k = &c->keys[(key.n * 37 + first * 5 + last * 3) % TRACE_KEYS];

    if (!k->is_used || !trace_same(k->key, key)) {
        k->is_used = true;
        k->key = key;
        k->arg = trace_argument(c->dialect, key);
        k->id = !trace_is_skipped(k->arg.action) ? chunk_put(c, key) : 0;
    }
    return k;
}

static void add_arg(struct trace_event *e, const struct trace_key *k,
                    const struct event_value *value)
{
    uint32_t n = 0;

    while (n < e->n_args && e->args[n].key != k->id)
        n++;
    if (n == TRACE_ARGS) {
        e->has_many_args = true;
        return;
    }
    e->args[n].key = k->id;
    e->args[n].arg = k->arg;
    e->args[n].value = *value;
    e->args[n].guess = (struct trace_guess){0, NULL};
    e->n_args += n == e->n_args;
}

static bool chunk_take_args(struct trace_chunk *c, struct trace_event *e)
{
    struct json *j = &c->json;
    struct str key;
    struct event_value value;

    if (json_value(j, &value.text))
        return true; /* "args": null */
    if (j->token == JSON_ARRAY)
        return json_skip(j);
    if (j->token != JSON_OBJECT || json_next(j) != JSON_OBJECT)
        return false;
    for (;;) {
        struct json_run run = json_run_begin(j);
        value.has_escapes = false;
        while (json_run_member(&run, &key, &value.text, &value.token)) {
            const struct trace_key *k = trace_chunk_key(c, key);
            if (!trace_is_skipped(k->arg.action))
                add_arg(e, k, &value);
        }
        json_run_end(j, &run);
        if (!json_key(j, &key))
            break;
        const struct trace_key *k = trace_chunk_key(c, key);
        if (trace_is_skipped(k->arg.action))
            continue;
        if (!event_json_value(j, &value))
            return false;
        if (value.token != JSON_NULL)
            add_arg(e, k, &value);
    }
    return j->token == JSON_OBJECT_END;
}

/* An event on its way. */
struct taking {
    struct trace_chunk *c;
    struct trace_event *e;
};

static inline void put_member(void *ctx, enum event_member m, const struct event_value *value)
{
    struct trace_event *e = ((struct taking *)ctx)->e;

    if (m == EVENT_PH)
        e->ph = value->token == JSON_STRING && value->text.n == 1 ? value->text.at[0] : '?';
    else
        e->field[m < EVENT_OTHER ? m : EVENT_OTHER] = value->text;
}

static inline bool put_args(void *ctx)
{
    const struct taking *t = ctx;

    t->e->n_args = 0;
    /* Python's own ids and nothing else. */
    return trace_same(t->e->field[EVENT_CAT], S("python_function")) ? json_skip(&t->c->json)
                                                                    : chunk_take_args(t->c, t->e);
}

static uint32_t find_lane(struct trace_chunk *c, const struct trace_event *e)
{
    struct str pid = e->field[EVENT_PID], tid = e->field[EVENT_TID];
    unsigned char a = pid.n > 0 ? (unsigned char)pid.at[pid.n - 1] : 0;
    unsigned char b = tid.n > 0 ? (unsigned char)tid.at[tid.n - 1] : 0;
    size_t i = (size_t)(a + b * 3 + tid.n) % ARRAY_LEN(c->last_lane);

    if (c->last_lane[i].pid.at == NULL || !trace_same(c->last_lane[i].pid, pid) ||
        !trace_same(c->last_lane[i].tid, tid)) {
        struct trace_lane_key key = {chunk_put(c, e->field[EVENT_PID]),
                                     chunk_put(c, e->field[EVENT_TID])};
        uint32_t fresh = (uint32_t)c->lanes.n;
        uint32_t lane = hash_add(&c->lane_ids, (uint64_t)key.pid << 32 | key.tid, fresh);
        if (lane == fresh)
            vec_push(&c->lanes, key);
        c->last_lane[i].lane = lane;
        c->last_lane[i].pid = pid.at != NULL ? pid : S("");
        c->last_lane[i].tid = tid;
    }
    return c->last_lane[i].lane;
}

static inline uint32_t chunk_lane_of(struct trace_chunk *c, const struct trace_event *e)
{
    struct path_node *path = e->path;

    if (path == NULL || !path->has_lane)
        return find_lane(c, e);
    if (path->lane_round != c->paths->round) {
        path->lane = find_lane(c, e);
        path->lane_round = c->paths->round;
    }
    return path->lane;
}

static void find_category(struct trace_chunk *c, struct str cat)
{
    unsigned char first = cat.n > 0 ? (unsigned char)cat.at[0] : 0;
    struct trace_cat *known = &c->cats[(cat.n + first) % ARRAY_LEN(c->cats)];

    c->cat = known;
    if (!known->is_used || !trace_same(known->text, cat))
        *known = (struct trace_cat){cat, chunk_put(c, cat), trace_category(cat), 0, true};
}

static inline void see_category(struct trace_chunk *c, const struct trace_event *e)
{
    struct path_node *path = e->path;

    if (path == NULL || !path->has_cat) {
        find_category(c, e->field[EVENT_CAT]);
        return;
    }
    if (path->cat_round != c->paths->round) {
        find_category(c, e->field[EVENT_CAT]);
        path->cat = *c->cat;
        path->cat.text = S(""); /* the piece goes, the number stays */
        path->cat_round = c->paths->round;
    }
    c->cat = &path->cat;
}

static enum trace_name chunk_name_of(struct trace_chunk *c, strid name)
{
    struct trace_string *s = &c->strings.at.at[name];

    if (s->name == 0)
        s->name = (uint8_t)(1 + trace_name(s->raw));
    return (enum trace_name)(s->name - 1);
}

/* What a task of an Ascend device is. */
static enum trace_hint task_hint(struct trace_chunk *c, strid name, struct str task)
{
    struct trace_string *s = &c->strings.at.at[name];

    if (!trace_same(c->last_task.text, task)) {
        c->last_task.text = task;
        c->last_task.hint = trace_hint_of(classify_task(task));
        c->last_task.is_aicpu = str_equal(classify_core(task), S("AI_CPU"));
    }
    if (c->last_task.hint == HINT_COMM && chunk_name_of(c, name) == NAME_COLLECTIVE)
        return HINT_COMM;
    if (c->last_task.hint == HINT_CONTROL || c->last_task.hint == HINT_COMM)
        return str_contains_nocase(s->raw, S("wait")) ? HINT_WAIT : HINT_CONTROL;
    if (c->last_task.hint == HINT_TASK_COPY && !str_contains_nocase(s->raw, S("memcpy")))
        return HINT_CONTROL; /* a transfer of a collective, which has a slice of its own */
    if (c->last_task.hint != HINT_COMPUTE)
        return c->last_task.hint;
    uint8_t *known = &s->task[c->last_task.is_aicpu];
    if (*known == 0)
        *known = (uint8_t)(1 + trace_hint_of(classify_kernel(VENDOR_ASCEND, classify_core(task),
                                                             s->raw, S(""))));
    return (enum trace_hint)(*known - 1);
}

/* What the event is, as far as it tells itself. `task` is the task type of an Ascend device. */
static enum trace_hint hint_of(struct trace_chunk *c, const struct trace_event *e, strid name,
                               const struct event_value *task)
{
    enum trace_hint hint = e->field[EVENT_CAT].n > 0 ? c->cat->hint : HINT_PLAIN;

    if (task != NULL)
        return task_hint(c, name, task->text);
    if (hint == HINT_COMPUTE) {
        struct trace_string *s = &c->strings.at.at[name];
        if (s->gpu == 0)
            s->gpu =
                (uint8_t)(1 + trace_hint_of(classify_kernel(VENDOR_NVIDIA, S(""), s->raw, S(""))));
        return (enum trace_hint)(s->gpu - 1);
    }
    if (hint == HINT_PLAIN || hint == HINT_HOST_OP || hint == HINT_ANNOTATION) {
        enum trace_name known = chunk_name_of(c, name);
        if (known == NAME_STEP || known == NAME_ITERATION ||
            (known == NAME_RANGE && hint == HINT_ANNOTATION))
            return HINT_STEP;
        if (known == NAME_COLLECTIVE && hint == HINT_PLAIN)
            return HINT_COLLECTIVE;
        if (known == NAME_CALL && hint == HINT_PLAIN)
            return HINT_RUNTIME;
    }
    return hint;
}

/* A number: whole if it can be. One of digits only that no 64-bit integer holds is none, since a
 * real would not be the same. */
static bool number_attr(strid key, struct str text, struct attr *out)
{
    int64_t whole;
    double real;
    enum num_kind kind = num_short(text, &whole, &real);

    if (kind == NUM_OTHER && num_i64(text, &whole))
        kind = NUM_WHOLE;
    else if (kind == NUM_OTHER && str_digits(text) < text.n && num_f64(text, &real))
        kind = NUM_REAL;
    if (kind == NUM_OTHER)
        return false;
    *out = kind == NUM_REAL ? attr_real(key, real) : attr_int(key, whole);
    return true;
}

/* The text of an argument. */
static strid chunk_text_of(struct trace_chunk *c, const struct trace_event *e, uint32_t i)
{
    const struct event_value *v = &e->args[i].value;
    strid id = e->args[i].guess.id;

    if (id == 0) {
        id = trace_strings_put(&c->strings, v->text,
                               trace_form(e->args[i].arg, event_value_is_json(v)));
        trace_paths_teach(&e->args[i].guess, id);
    }
    return id;
}

static strid name_of_event(struct trace_chunk *c, const struct trace_event *e)
{
    strid id = e->name.id;

    if (id == 0) {
        id = chunk_put(c, e->field[EVENT_NAME]);
        trace_paths_teach(&e->name, id);
    }
    c->paths->names = c->paths->names << 16 ^ id;
    return id;
}

/* Sorts the arguments into the set and the own values. The keys of KEY_ arguments are told by
 * their names in the file, which the merge translates. */
static void take_attrs(struct trace_chunk *c, const struct trace_event *e, struct trace_row *row,
                       const struct event_value **task)
{
    struct attr set[TRACE_ARGS + 1], own[TRACE_ARGS];
    size_t n_set = 0, n_own = 0;

    *task = NULL;
    if (e->n_args == 0 && e->field[EVENT_CAT].n > 0 && c->cat->set != 0) {
        row->set = c->cat->set;
        return;
    }
    if (e->field[EVENT_CAT].n > 0)
        set[n_set++] = attr_text(0, c->cat->id);
    for (uint32_t i = 0; i < e->n_args; i++) {
        enum trace_action action = e->args[i].arg.action;
        strid key = e->args[i].key;
        const struct event_value *v = &e->args[i].value;
        struct attr attr;
        bool is_number = v->token == JSON_NUMBER || trace_is_id(action);
        if (action == ARG_CORE)
            *task = v;
        if (action == ARG_BEGIN || action == ARG_END)
            continue;
        if (is_number && number_attr(key, v->text, &attr)) {
            if (action == ARG_WAIT && attr.type == ATTR_INT)
                attr = attr_time(key, attr.number);
            if (c->dialect == TRACE_ASCEND && attr.type == ATTR_INT && attr.number == no_id)
                continue;
            if (action == ARG_SET || action == ARG_KEY)
                set[n_set++] = attr;
            else
                own[n_own++] = attr;
        } else if (v->text.n > 0) {
            set[n_set++] = attr_text(key, chunk_text_of(c, e, i));
        }
    }
    row->set = attrs_set(&c->sets, set, n_set);
    row->own = attrs_own(&c->owns, own, n_own);
    if (e->n_args == 0 && e->field[EVENT_CAT].n > 0)
        c->cat->set = row->set;
}

static bool take_time(struct trace_chunk *c, const struct trace_event *e, nanos *at)
{
    *at = e->ts;
    if (e->has_ts || num_us(e->field[EVENT_TS], at))
        return true;
    trouble(c, TROUBLE_NO_TIME, e->offset);
    return false;
}

/* Exact times among the arguments, if there are both, instead of the event's own. */
static void take_exact(struct trace_chunk *c, const struct trace_event *e, struct trace_row *row)
{
    int64_t begin = INT64_MIN, end = INT64_MIN;

    for (uint32_t i = 0; i < e->n_args; i++) {
        if (e->args[i].arg.action == ARG_BEGIN)
            num_i64(e->args[i].value.text, &begin);
        else if (e->args[i].arg.action == ARG_END)
            num_i64(e->args[i].value.text, &end);
    }
    if (begin < 0 || end < begin || !import_lasts(nanos_sub(end, begin)))
        return;
    nanos shift = nanos_sub(begin, row->begin);
    c->shift = shift < c->shift ? shift : c->shift;
    row->begin = begin;
    row->dur = end - begin;
}

static void take_slice(struct trace_chunk *c, struct trace_event *e)
{
    struct trace_row row = {0};
    const struct event_value *task;

    if (!take_time(c, e, &row.begin))
        return;
    if (e->ph == 'X') {
        row.dur = e->dur;
        if (!e->has_dur && !num_us(e->field[EVENT_DUR], &row.dur)) {
            trouble(c, TROUBLE_NO_DURATION, e->offset);
            return;
        }
        if (!import_lasts(row.dur)) {
            trouble(c, TROUBLE_BAD_DURATION, e->offset);
            return;
        }
    }
    if (c->dialect == TRACE_ROCPROF)
        take_exact(c, e, &row);
    c->events++;
    if (e->field[EVENT_CAT].n > 0) {
        see_category(c, e);
        if (c->cat->hint == HINT_SKIP)
            return;
    }
    row.lane = chunk_lane_of(c, e);
    row.name = name_of_event(c, e);
    take_attrs(c, e, &row, &task);
    row.hint = (uint8_t)hint_of(c, e, row.name, task);
    if (e->ph == 'B' || e->ph == 'E')
        row.edge = (uint8_t)e->ph;
    vec_push(&c->rows, row);
}

static uint16_t flow_cat(struct trace_chunk *c, strid cat)
{
    for (size_t i = c->flow_cats.n; i > 0; i--)
        if (c->flow_cats.at[i - 1] == cat)
            return (uint16_t)(i - 1);
    if (c->flow_cats.n == 256) /* no profiler has a dozen */
        return 0;
    vec_push(&c->flow_cats, cat);
    return (uint16_t)(c->flow_cats.n - 1);
}

static inline uint16_t arrow_cat(struct trace_chunk *c, struct path_node *path, strid cat)
{
    if (path == NULL || !path->has_cat)
        return flow_cat(c, cat);
    if (path->arrow_piece != c->paths->piece) {
        path->arrow = flow_cat(c, cat);
        path->arrow_piece = c->paths->piece;
    }
    return path->arrow;
}

static void take_flow(struct trace_chunk *c, const struct trace_event *e)
{
    struct trace_end end = {.is_start = e->ph == 's'};

    if (!take_time(c, e, &end.at))
        return;
    c->events++;
    if (!num_u64(e->field[EVENT_ID], &end.id)) {
        end.id = hash_stable_bytes(e->field[EVENT_ID]);
        end.is_text = 1;
    }
    see_category(c, e);
    end.cat = arrow_cat(c, e->path, c->cat->id);
    end.lane = chunk_lane_of(c, e);
    vec_push(&c->ends, end);
}

static void take_counter(struct trace_chunk *c, const struct trace_event *e)
{
    struct trace_sample sample = {0};
    const struct event_value *label = NULL;

    if (!take_time(c, e, &sample.at))
        return;
    c->events++;
    for (uint32_t i = 0; i < e->n_args; i++)
        if (e->args[i].arg.action == ARG_LABEL)
            label = &e->args[i].value;
    sample.lane = chunk_lane_of(c, e);
    sample.name = chunk_put(c, e->field[EVENT_NAME]);
    if (label != NULL)
        sample.name =
            chunk_put(c, arena_format(&c->arena, "%.*s %.*s", STR_ARGS(e->field[EVENT_NAME]),
                                      STR_ARGS(label->text)));
    for (uint32_t i = 0; i < e->n_args; i++) {
        if (e->args[i].arg.action == ARG_LABEL || !num_f64(e->args[i].value.text, &sample.value))
            continue;
        sample.unit = e->args[i].key;
        vec_push(&c->samples, sample);
    }
}

static void take_meta(struct trace_chunk *c, const struct trace_event *e)
{
    struct trace_meta meta;
    enum trace_action wanted = ARG_NAME;

    c->events++;
    if (str_equal(e->field[EVENT_NAME], S("process_name"))) {
        meta.kind = META_PROCESS_NAME;
    } else if (str_equal(e->field[EVENT_NAME], S("process_labels"))) {
        meta.kind = META_PROCESS_LABELS;
        wanted = ARG_LABELS;
    } else if (str_equal(e->field[EVENT_NAME], S("thread_name"))) {
        meta.kind = META_THREAD_NAME;
    } else if (str_equal(e->field[EVENT_NAME], S("strata_row_of"))) {
        meta.kind = META_ROW_OF;
    } else {
        return;
    }
    for (uint32_t i = 0; i < e->n_args; i++)
        if (e->args[i].arg.action == wanted) {
            meta.lane = chunk_lane_of(c, e);
            meta.text = chunk_put(c, e->args[i].value.text);
            vec_push(&c->metas, meta);
        }
}

static void add_event(struct trace_chunk *c, struct trace_event *e)
{
    if (e->has_many_args)
        trouble(c, TROUBLE_MANY_ARGS, e->offset);
    switch (e->ph) {
    case 'X':
    case 'B':
    case 'E':
    case 'i':
    case 'I':
        take_slice(c, e);
        break;
    case 's':
    case 't':
    case 'f':
        take_flow(c, e);
        break;
    case 'C':
        take_counter(c, e);
        break;
    case 'M':
        take_meta(c, e);
        break;
    case 0:
        if (c->dialect == TRACE_ROCPROF && e->n_args == 0 && e->field[EVENT_NAME].n == 0)
            break; /* the list begins with an empty object */
        trouble(c, TROUBLE_NO_PHASE, e->offset);
        break;
    default:
        trouble(c, TROUBLE_UNKNOWN_PHASE, e->offset);
        break;
    }
}

static void stop_at(struct trace_chunk *c, enum trace_stop why, uint64_t offset)
{
    c->why = why;
    c->stop = offset;
}

/* Goes on behind a damaged event; false when the piece ends there. */
static bool recover(struct trace_chunk *c, uint64_t damaged)
{
    switch (json_resync(&c->json, marker)) {
    case JSON_NONE:
        trouble(c, TROUBLE_DAMAGED, damaged);
        damage_add(&c->damage, json_offset(&c->json) - damaged,
                   (struct where){.byte = damaged + 1});
        return true;
    case JSON_MORE:
        stop_at(c, STOP_CUT, damaged);
        return false;
    default:
        trouble(c, TROUBLE_DAMAGED, damaged);
        stop_at(c, STOP_LOST, damaged);
        return false;
    }
}

/* The value at hand is no event. */
static bool pass_over(struct trace_chunk *c, uint64_t at)
{
    struct event_value value;

    if (!event_json_value(&c->json, &value))
        return false;
    trouble(c, TROUBLE_NOT_AN_EVENT, at);
    damage_add(&c->damage, json_offset(&c->json) - at, (struct where){.byte = at + 1});
    return true;
}

/* The place of the next event when nothing but a comma stands before it; else NULL. */
static const char *next_event(const char *p, const char *end)
{
    if (p == end || *p++ != ',')
        return NULL;
    while (p < end && char_is_blank(*p))
        p++;
    return p < end && *p == '{' ? p : NULL;
}

/* Reads events from `at` on while their layouts are known. Returns the end of the last one, or `at`
 * when there was none. */
static uint64_t read_known(struct trace_chunk *c, uint64_t at, struct trace_event *e)
{
    const char *end = c->text.at + c->text.n, *behind = c->text.at + (at - c->offset);
    const char *p = behind, *limit = end;

    if (c->limit - c->offset < c->text.n)
        limit = c->text.at + (c->limit - c->offset);
    while (p != NULL && p < limit && c->paths->credit > 0) {
        trace_event_start(e, c->offset + (uint64_t)(p - c->text.at));
        p = trace_paths_read(c, p, end, e);
        if (p == NULL)
            break;
        add_event(c, e);
        behind = p;
        p = next_event(p, end);
    }
    return c->offset + (uint64_t)(behind - c->text.at);
}

/* Reads the event at `at` and those behind it that are quickly read. */
static bool read_event(struct trace_chunk *c, uint64_t at, struct trace_event *e)
{
    struct json *j = &c->json;
    uint64_t behind = read_known(c, at, e);

    if (behind != at) {
        json_jump(j, behind);
        return true;
    }
    trace_event_start(e, at);
    struct taking t = {c, e};
    if (json_next(j) != JSON_OBJECT || !event_json_each(&c->json, put_member, put_args, &t))
        return false;
    add_event(c, e);
    if (c->paths->credit > 0)
        trace_paths_learn(
            c->paths, c->dialect,
            str_part(c->text, (size_t)(at - c->offset), (size_t)(json_offset(j) - at)), e->ph);
    return true;
}

static void chunk_read_events(struct trace_chunk *c)
{
    struct json *j = &c->json;
    struct trace_event e;

    for (;;) {
        json_mark(j);
        uint64_t at = json_offset(j);
        bool is_read = json_element(j);
        if (is_read) {
            at = json_offset(j);
            if (at >= c->limit) {
                stop_at(c, STOP_LIMIT, at);
                return;
            }
            json_mark(j);
            is_read = c->text.at[at - c->offset] == '{' ? read_event(c, at, &e) : pass_over(c, at);
        }
        if (is_read)
            continue;
        if (j->token == JSON_ERROR) {
            if (!recover(c, at))
                return;
            continue;
        }
        if (j->token == JSON_MORE)
            stop_at(c, STOP_CUT, at);
        else if (j->token == JSON_ARRAY_END)
            stop_at(c, STOP_END, json_offset(j));
        else
            stop_at(c, STOP_TRUNCATED, at);
        return;
    }
}

void trace_chunk_read(struct trace_chunk *c, uint64_t start)
{
    size_t at = (size_t)(start - c->offset); /* in the text; text.n when there is no event */
    bool is_cut;

    clear(c);
    if (start == TRACE_NOWHERE) {
        at = json_border(c->text, (size_t)(c->from - c->offset), marker, &is_cut);
    } else {
        while (at < c->text.n && char_is_blank(c->text.at[at]))
            at++;
        if (at < c->text.n && c->text.at[at] == ',')
            at++;
        while (at < c->text.n && char_is_blank(c->text.at[at]))
            at++;
    }
    c->start = start == TRACE_NOWHERE ? c->offset + at : start;
    json_begin_inside(&c->json, JSON_LENIENT, c->offset + at);
    json_window(&c->json, str_part(c->text, at, c->text.n), c->is_last);
    chunk_read_events(c);
    memcpy(c->recovered, c->json.recovered, sizeof(c->recovered));
}
