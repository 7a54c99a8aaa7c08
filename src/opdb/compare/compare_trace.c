/*
 * What is compared: the trace a model predicts, and the rows that were measured.
 */
#include "opdb/compare/compare_trace.h"

#include <math.h>

#include "base/formats/event_json.h"
#include "base/run/cancel.h"
#include "base/text/num.h"
#include "opdb/rows/cell.h"
#include "opdb/rows/columns.h"

static const struct str arg_names[TRACE_ARGS] = {
    S_INIT("kernel_type"),   S_INIT("simulation_shapes"), S_INIT("source"),
    S_INIT("confidence"),    S_INIT("composite"),         S_INIT("sub_kernel_durations"),
    S_INIT("kernel_shapes"), S_INIT("shape_match_rule"),  S_INIT("sub_kernel_shapes"),
    S_INIT("zero_cost"),
};

struct reader {
    struct predicted *p;
    struct json j;
    struct str text;
    struct predicted_event event; /* being read */
    struct str process_name;      /* of it */
    uint64_t odd;                 /* elements that are no events */
};

static struct str trace_text_of(struct reader *r, const struct event_value *v)
{
    switch (v->token) {
    case JSON_STRING:
        return json_text(v->text, &r->p->arena);
    case JSON_TRUE:
        return S("True");
    case JSON_FALSE:
        return S("False");
    case JSON_NULL:
    case JSON_NONE:
        return S("");
    default:
        return v->text;
    }
}

/* Arguments of a complete event, and the one of a process_name event. Anything but an object holds
 * none. */
static bool read_args(void *ctx)
{
    struct reader *r = ctx;
    struct event_value value;
    struct str key;

    memset(r->event.args, 0, sizeof(r->event.args));
    if (json_value(&r->j, &key))
        return true;
    if (r->j.token == JSON_ARRAY)
        return json_skip(&r->j);
    if (json_next(&r->j) != JSON_OBJECT)
        return false;
    while (json_key(&r->j, &key)) {
        if (r->j.has_escapes)
            key = json_text(key, &r->p->arena);
        size_t arg = 0;
        while (arg < TRACE_ARGS && !str_equal(key, arg_names[arg]))
            arg++;
        bool is_name = str_equal(key, S("name"));
        if (arg == TRACE_ARGS && !is_name)
            continue;
        if (!event_json_value(&r->j, &value))
            return false;
        if (is_name)
            r->process_name = trace_text_of(r, &value);
        else
            r->event.args[arg] = trace_text_of(r, &value);
    }
    return r->j.token == JSON_OBJECT_END;
}

static uint32_t find_process(struct reader *r, const struct event_value *v)
{
    struct predicted *p = r->p;
    bool is_text = v->token == JSON_STRING,
         is_none = v->token == JSON_NONE || v->token == JSON_NULL;
    struct str pid = is_none ? S("None") : trace_text_of(r, v);

    if (p->last < p->processes.n && p->processes.at[p->last].is_text == is_text &&
        str_equal(p->processes.at[p->last].pid, pid))
        return p->last;
    struct arena_mark mark = arena_mark(&p->arena);
    struct str key = arena_format(&p->arena, "%d%.*s", is_text, STR_ARGS(pid));
    p->last = intern_put(&p->pids, key) - 1;
    arena_rewind(&p->arena, mark);
    if (p->last == p->processes.n)
        vec_push(&p->processes, ((struct predicted_process){.pid = pid, .is_text = is_text}));
    return p->last;
}

/* The first process whose name says that it holds measured times is the one compared; a process
 * is created by any event of it, so the name may come late. */
static void keep_event(struct reader *r, const struct event_json *e)
{
    const struct event_value *dur = &e->member[EVENT_DUR], *pid = &e->member[EVENT_PID];
    struct predicted_event *event = &r->event;
    struct predicted *p = r->p;

    event->name = trace_text_of(r, &e->member[EVENT_NAME]);
    event->dur_text = dur->token == JSON_NONE ? S("0") : trace_text_of(r, dur);
    if (dur->token != JSON_NUMBER || !num_f64(dur->text, &event->dur))
        event->dur = 0;
    if (e->member[EVENT_PH].token != JSON_STRING)
        return;
    struct str phase = trace_text_of(r, &e->member[EVENT_PH]);
    if (str_equal(phase, S("M")) && str_equal(event->name, S("process_name"))) {
        struct str name = r->process_name;
        uint32_t process = find_process(r, pid);
        if (p->processes.at[process].name.n == 0)
            p->processes.at[process].name = name;
        if (p->named < 0 && (str_contains_nocase(name, S("profiling")) ||
                             str_contains_nocase(name, S("empirical"))))
            p->named = (int)process;
    } else if (str_equal(phase, S("X"))) {
        event->process = find_process(r, pid);
        p->processes.at[event->process].events++;
        vec_push(&p->events, *event);
    }
}

static bool trace_read_events(struct reader *r)
{
    struct event_args args = {read_args, r, &r->p->arena};
    struct event_json e;

    while (!cancelled()) {
        r->event = (struct predicted_event){0};
        r->process_name = S("");
        if (!event_json_next(&r->j, &args, &e))
            return r->j.token == JSON_ARRAY_END;
        if (e.is_object)
            keep_event(r, &e);
        else
            r->odd++;
    }
    return false;
}

/* The list of events is the document itself or its member traceEvents. */
static bool read_document(struct reader *r, bool *has_events)
{
    struct str key;

    enum json_token token = json_next(&r->j);
    *has_events = token == JSON_ARRAY;
    if (token == JSON_ARRAY)
        return trace_read_events(r);
    if (token != JSON_OBJECT)
        return token != JSON_ERROR && token != JSON_END;
    while (json_key(&r->j, &key)) {
        struct str ignored;
        if (!str_equal(key, S("traceEvents")))
            continue;
        *has_events = false;
        if (json_value(&r->j, &ignored))
            continue;
        *has_events = r->j.token == JSON_ARRAY;
        if (*has_events && (json_next(&r->j) != JSON_ARRAY || !trace_read_events(r)))
            return false;
    }
    return r->j.token == JSON_OBJECT_END;
}

static enum status trace_refuse(const struct reader *r, struct diag *d)
{
    uint64_t line = 0, column = 0;
    uint64_t at = r->j.token == JSON_ERROR ? r->j.error_at : json_offset(&r->j);

    if (cancelled())
        return ST_CANCELLED;
    struct where where = {.path = r->p->path, .byte = at + 1};
    if (json_line(&r->j, at, &line, &column))
        where = (struct where){.path = r->p->path, .line = line};
    enum status st = diag_fail(d, r->j.token == JSON_ERROR ? r->j.status : ST_FORMAT,
                               "perfdb.trace-json", where, "not a JSON trace: %s (column %llu)",
                               r->j.token == JSON_ERROR ? r->j.error : "unexpected end of text",
                               (unsigned long long)column);
    if (str_starts(r->text, S("version https://git-lfs.github.com/spec/")))
        diag_hint(d, "try", "git lfs pull: this is a Git LFS pointer");
    return st;
}

static void predicted_init(struct predicted *p, const char *path)
{
    *p = (struct predicted){.path = path, .named = -1};
    arena_init(&p->arena);
    intern_init(&p->pids);
}

static enum status trace_parse(struct predicted *p, struct str text, struct diag *d)
{
    struct reader r = {.p = p, .text = text};
    bool has_events = false;

    str_skip(&r.text, S("\xef\xbb\xbf"));
    json_open(&r.j, r.text, JSON_STRICT);
    if (!read_document(&r, &has_events) || json_next(&r.j) != JSON_END)
        return trace_refuse(&r, d);
    if (!has_events)
        diag_add(d, SEV_WARN, "perfdb.trace-no-events", (struct where){.path = p->path},
                 "no list traceEvents; the trace is treated as empty");
    if (r.odd > 0)
        diag_add(d, SEV_LOSS, "perfdb.trace-odd-event", (struct where){.path = p->path},
                 "%llu elements of traceEvents are not events", (unsigned long long)r.odd);
    return ST_OK;
}

enum status predicted_parse(struct predicted *p, const char *path, struct str text, struct diag *d)
{
    predicted_init(p, path);
    return trace_parse(p, text, d);
}

enum status predicted_read(struct predicted *p, const char *path, struct diag *d)
{
    predicted_init(p, path);
    TRY(mapfile_open(&p->map, path, d));
    return trace_parse(p, p->map.text, d);
}

void predicted_free(struct predicted *p)
{
    vec_free(&p->events);
    vec_free(&p->processes);
    mapfile_close(&p->map);
    intern_fini(&p->pids);
    arena_free(&p->arena);
}

struct str compare_trace_operator(struct str name)
{
    str_skip(&name, S("torch.ops."));
    return name;
}

size_t compare_trace_kernels(struct arena *arena, struct str kernel_type, struct str **out)
{
    struct str rest = kernel_type, part;
    size_t n = 0, commas = 0;

    for (size_t i = 0; i < rest.n; i++)
        commas += rest.at[i] == ',';
    *out = ARENA_ARRAY(arena, struct str, commas + 1);
    while (rest.n > 0 && str_split(&rest, ',', &part)) {
        part = str_trim(part);
        if (part.n > 0)
            (*out)[n++] = part;
    }
    return n;
}

static enum status trace_find_columns(struct measured *m, struct diag *d)
{
    const char *path = m->table.path;

    if (m->table.columns.n == 0)
        return diag_fail(d, ST_FORMAT, "perfdb.no-header", (struct where){.path = path},
                         "the file has no header");
    m->type = table_column(&m->table, S("Type"));
    m->start = table_column(&m->table, S("Start Time(us)"));
    m->duration = table_column(&m->table, COL_DURATION);
    m->shapes = table_column(&m->table, COL_INPUT_SHAPES);
    if (m->type < 0 || m->duration < 0) {
        enum status st =
            diag_fail(d, ST_FORMAT, "perfdb.no-column", (struct where){.path = path, .line = 1},
                      "no column %s", m->type < 0 ? "Type" : "Duration(us)");
        diag_hint(d, "try", "a kernel_details.csv, or a part of one with its header");
        return st;
    }
    return ST_OK;
}

enum status measured_read(struct measured *m, const char *path, struct diag *d)
{
    *m = (struct measured){0};
    TRY(table_read(&m->table, path, d));
    return trace_find_columns(m, d);
}

enum status measured_parse(struct measured *m, const char *path, struct str text, struct diag *d)
{
    *m = (struct measured){0};
    TRY(table_parse(&m->table, path, text, d));
    return trace_find_columns(m, d);
}

void measured_free(struct measured *m)
{
    table_free(&m->table);
}

struct measured_row measured_row(const struct measured *m, size_t i)
{
    return (struct measured_row){
        .type = cell_trim(table_cell(&m->table, i, m->type)),
        .start = cell_trim(table_cell(&m->table, i, m->start)),
        .duration = cell_trim(table_cell(&m->table, i, m->duration)),
        .shapes = cell_trim(table_cell(&m->table, i, m->shapes)),
        .line = m->table.lines.at[i],
    };
}

bool measured_is_helper(struct str type)
{
    return str_ends(type, S("AicpuKernel"));
}

bool measured_time(struct str text, double *us)
{
    *us = 0;
    return text.n == 0 || (cell_number(text, us) && isfinite(*us));
}

void twins_init(struct twins *t)
{
    *t = (struct twins){0};
    intern_init(&t->names);
}

void twins_free(struct twins *t)
{
    vec_free(&t->at);
    intern_fini(&t->names);
}

double twins_put(struct twins *t, double start, struct str type, struct str key, double us)
{
    struct arena scratch;

    /* Adding 0 makes one zero of the two. */
    arena_init(&scratch);
    struct str name = arena_format(&scratch, "%.0f:%zu:%.*s%.*s", trunc(start) + 0.0, type.n,
                                   STR_ARGS(type), STR_ARGS(key));
    size_t i = intern_put(&t->names, name) - 1;
    arena_free(&scratch);
    if (i == t->at.n) {
        vec_push(&t->at, ((struct twin){type, key, us}));
        return us;
    }
    double more = us > t->at.at[i].us ? us - t->at.at[i].us : 0;
    if (more > 0)
        t->at.at[i].us = us;
    return more;
}

/* Columns of the table, members of the document. Values are copied as they stand. */
static const struct field event_fields[] = {
    FIELD(struct predicted_event, name, "op_name"),
    FIELD(struct predicted_event, args[TRACE_KERNEL_TYPE], "kernel_type"),
    FIELD(struct predicted_event, args[TRACE_SHAPES], "simulation_shapes"),
    FIELD(struct predicted_event, dur_text, "dur_us"),
    FIELD(struct predicted_event, args[TRACE_SOURCE], "source"),
    FIELD(struct predicted_event, args[TRACE_CONFIDENCE], "confidence"),
    FIELD(struct predicted_event, args[TRACE_COMPOSITE], "composite"),
    FIELD(struct predicted_event, args[TRACE_SUB_DURATIONS], "sub_kernel_durations"),
    FIELD(struct predicted_event, args[TRACE_KERNEL_SHAPES], "kernel_shapes"),
    FIELD(struct predicted_event, args[TRACE_MATCH_RULE], "shape_match_rule"),
    FIELD(struct predicted_event, args[TRACE_SUB_SHAPES], "sub_kernel_shapes"),
};

const struct schema compare_trace_schema = {
    .name = "strata.db-trace-csv/1",
    .title = "the events of a predicted trace; values as text",
    .record = &(const struct record)RECORD(struct predicted_event, event_fields),
    .is_list = true,
};

void compare_trace_fill(const struct predicted *p, struct op_table *t)
{
    struct str names[ARRAY_LEN(event_fields)];

    table_init(t, p->path);
    for (size_t c = 0; c < ARRAY_LEN(names); c++)
        names[c] = str_of(event_fields[c].key);
    table_arrange(t, names, ARRAY_LEN(names));
    for (size_t i = 0; i < p->events.n; i++) {
        const char *event = (const char *)&p->events.at[i];
        size_t row = table_add_row(t);
        for (size_t c = 0; c < ARRAY_LEN(names); c++)
            table_set(t, row, (int)c, *(const struct str *)(event + event_fields[c].offset));
    }
}
