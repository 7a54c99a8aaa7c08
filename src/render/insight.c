/*
 * insight: visualize_data.bin, as MindStudio Insight opens it.
 *
 * A block begins with its length, so each payload is produced twice: first into nothing, to be
 * counted, then into the file.
 * Format reference: docs/formats/visualize-data.md
 */
#include <math.h>
#include <stdlib.h>

#include "base/bin_blocks.h"
#include "base/hash.h"
#include "capture/title.h"
#include "render/insight_table.h"
#include "render/timeline.h"

enum {
    MAX_ARGS = 64,
    BETWEEN_TICKS = 4096, /* slices between two looks at the clock and the user */
};

/* A slice by where it ends. */
struct stop {
    nanos end;
    uint32_t lane, slice;
    bool is_other; /* no flag */
};

/* A process and its slices: a part of `order`. */
struct core {
    struct str name;
    size_t first, n;
};

struct writer {
    struct text_out out;
    const struct cut *cut;
    const struct timeline_options *options;
    struct arena arena;
    VEC_OF(struct core) cores;
    uint32_t *core_of;         /* by lane */
    struct str *lane_names;    /* by lane */
    VEC_OF(struct stop) order; /* by core and end */
    VEC_OF(struct stop) stops; /* by lane and end, flags first; only when there are arrows */
    strid key_group, key_bytes;
    bool has_events, is_stopped;
};

/* ---- what Insight knows of lanes ---- */

struct look {
    struct str lane;
    int order;
    const char *color;
};

static const struct look looks[] = {
    {S_INIT("SCALAR"), 1, "startup"},
    {S_INIT("FLOWCTRL"), 2, "cq_build_passed"},
    {S_INIT("MTE1"), 3, "thread_state_running"},
    {S_INIT("CUBE"), 4, "background_memory_dump"},
    {S_INIT("FIXP"), 5, "thread_state_unknown"},
    {S_INIT("MTE2"), 6, "thread_state_iowait"},
    {S_INIT("VECTOR"), 7, "cq_build_failed"},
    {S_INIT("MTE3"), 8, "rail_response"},
    {S_INIT("CACHEMISS"), 9, "thread_state_runnable"},
    {S_INIT("SCALARLDST"), 10, "startup"},
    {S_INIT("ALL"), 11, "good"},
    {S_INIT("USERMARK"), 12, "rail_load"},
    {S_INIT("EVENT"), 13, "rail_animation"},
    {S_INIT("RVECEX"), 18, "thread_state_running"},
    {S_INIT("RVECLP"), 19, "thread_state_iowait"},
    {S_INIT("RVECST"), 20, "thread_state_runnable"},
    {S_INIT("RVECLD"), 21, "startup"},
    {S_INIT("PUSHQ"), 22, "thread_state_unknown"},
    {S_INIT("RVECSU"), 23, "yellow"},
};

static const struct look *look_of(struct str lane)
{
    for (size_t i = 0; i < ARRAY_LEN(looks); i++)
        if (str_equal(looks[i].lane, lane))
            return &looks[i];
    return NULL;
}

static const char *color_of(struct str lane, enum slice_kind kind)
{
    const struct look *look = look_of(lane);

    if (kind == SLICE_CONTROL)
        return "black";
    if (kind == SLICE_WAIT)
        return "yellow";
    if (look != NULL)
        return look->color;
    return str_starts(lane, S("WARP_")) ? "thread_state_unknown" : "thread_state_stopped";
}

/* The place of a lane in the viewer; false when it has none. */
static bool order_of(struct str lane, int64_t *out)
{
    const struct look *look = look_of(lane);
    int64_t warp;

    if (look != NULL) {
        *out = look->order;
        return true;
    }
    if (!str_starts(lane, S("WARP_")) || !num_i64(str_part(lane, 5, lane.n), &warp) || warp < -1 ||
        warp > INT32_MAX)
        return false;
    *out = 100 + warp;
    return true;
}

/* Digits at the front of a text. */
static bool take_number(struct str *text, int64_t *out)
{
    size_t n = 0;

    while (n < text->n && n < 9 && text->at[n] >= '0' && text->at[n] <= '9')
        n++;
    if (n == 0 || !num_i64(str_part(*text, 0, n), out))
        return false;
    *text = str_part(*text, n, text->n);
    return true;
}

/* core<N>.cubecore<M> is 3N+1, core<N>.veccore<M> is 3N+2+M; others go by their number. */
static int64_t core_order(struct str name, size_t number)
{
    struct str rest = str_part(name, 4, name.n);
    int64_t n, m;

    if (!str_starts(name, S("core")) || !take_number(&rest, &n))
        return (int64_t)number;
    if (str_starts(rest, S(".cubecore")))
        return 3 * n + 1;
    if (str_starts(rest, S(".veccore"))) {
        rest = str_part(rest, 8, rest.n);
        if (take_number(&rest, &m))
            return 3 * n + 2 + m;
    }
    return 3 * n;
}

/* Insight pairs B and E for these only. */
static bool is_pair(struct str name)
{
    return str_equal(name, S("SET_FLAG")) || str_equal(name, S("WAIT_FLAG")) ||
           str_equal(name, S("set_event")) || str_equal(name, S("wait_event"));
}

/* ---- getting ready ---- */

/* A time in nanoseconds. */
static nanos to_ns(const struct writer *w, nanos ticks)
{
    int64_t hz = w->cut->cap->clock.hz;
    __int128 ns = ticks;

    if (hz != 1000000000 && hz > 0) {
        ns = ns * 1000000000;
        ns = (ns >= 0 ? ns + hz / 2 : ns - hz / 2) / hz;
    }
    return ns > INT64_MAX ? INT64_MAX : ns < INT64_MIN ? INT64_MIN : (nanos)ns;
}

static struct str kept(struct writer *w, struct str title, const char *otherwise)
{
    return title.n > 0 ? arena_str(&w->arena, title) : str_of(otherwise);
}

/* A pipe keeps its names; other lanes get what people call them. Neither may be empty. */
static void name_lanes(struct writer *w)
{
    const struct capture *cap = w->cut->cap;
    struct intern names;
    struct hash ids = {0};
    char buf[TITLE_TEXT];

    intern_init(&names);
    w->core_of = ARENA_ARRAY(&w->arena, uint32_t, cap->lanes.n);
    w->lane_names = ARENA_ARRAY(&w->arena, struct str, cap->lanes.n);
    for (lane_id i = 0; i < cap->lanes.n; i++) {
        const struct lane_key *key = &cap->lanes.at[i].key;
        if (!w->cut->lanes[i])
            continue;
        bool is_pipe = key->kind == LANE_PIPE && key->process != 0 && key->name != 0;
        struct str process = is_pipe ? capture_text(cap, key->process)
                                     : kept(w, title_process(cap, i, buf), "process");
        w->lane_names[i] =
            is_pipe ? capture_text(cap, key->name) : kept(w, title_lane(cap, i, buf), "lane");
        w->core_of[i] = hash_add(&ids, intern_put(&names, process), (uint32_t)w->cores.n);
        if (w->core_of[i] == w->cores.n)
            vec_push(&w->cores, ((struct core){.name = process}));
    }
    hash_free(&ids);
    intern_fini(&names);
}

static int by_end(const void *a, const void *b)
{
    const struct stop *x = a, *y = b;

    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    if (x->is_other != y->is_other)
        return x->is_other ? 1 : -1;
    return x->slice < y->slice ? -1 : x->slice > y->slice;
}

/* Each core's slices by the time they end, and where arrows may end on each lane. */
static void sort_slices(struct writer *w)
{
    const struct cut *cut = w->cut;

    for (size_t i = 0; i < cut->cap->slices.n; i++) {
        if (!cut_has(cut, i))
            continue;
        struct slice s = cut_slice(cut, i);
        struct stop stop = {.end = to_ns(w, nanos_add(s.begin, s.dur)), .slice = (uint32_t)i};
        stop.lane = w->core_of[s.lane];
        vec_push(&w->order, stop);
        w->cores.at[stop.lane].n++;
        stop.lane = s.lane;
        stop.is_other = s.kind != SLICE_WAIT && s.kind != SLICE_CONTROL;
        if (cut->flows > 0)
            vec_push(&w->stops, stop);
    }
    if (w->order.n > 0)
        qsort(w->order.at, w->order.n, sizeof(*w->order.at), by_end);
    if (w->stops.n > 0)
        qsort(w->stops.at, w->stops.n, sizeof(*w->stops.at), by_end);
    for (size_t i = 1; i < w->cores.n; i++)
        w->cores.at[i].first = w->cores.at[i - 1].first + w->cores.at[i - 1].n;
}

/* How many slices of the lane end at the same time and come before this one. */
static uint64_t nth_of(const struct writer *w, const struct slice *s, uint32_t number, nanos end)
{
    struct stop key = {.end = end, .lane = s->lane, .slice = number};
    size_t low = 0, high = w->stops.n, at;

    key.is_other = s->kind != SLICE_WAIT && s->kind != SLICE_CONTROL;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_end(&w->stops.at[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (at = low; at > 0 && w->stops.at[at - 1].lane == s->lane && w->stops.at[at - 1].end == end;)
        at--;
    return low - at;
}

/* ---- events ---- */

static void put(struct writer *w, struct str text)
{
    text_out_put(&w->out, text);
}

static void begin_event(struct writer *w, struct str text)
{
    if (w->has_events)
        put(w, S(","));
    w->has_events = true;
    put(w, text);
}

/* `,"key":"text"` */
static void put_text(struct writer *w, struct str key, struct str text)
{
    put(w, key);
    text_out_quoted(&w->out, text);
}

static void put_order(struct writer *w, struct str what, int64_t order, struct str pid,
                      struct str tid)
{
    begin_event(w, S("{\"args\":{\"sort_index\":"));
    text_out_i64(&w->out, order);
    put(w, S("},\"name\":\""));
    put(w, what);
    put_text(w, S("\",\"ph\":\"M\",\"pid\":"), pid);
    put_text(w, S(",\"tid\":"), tid);
    put(w, S("}"));
}

struct arg {
    struct str key;
    struct attr attr; /* ATTR_NONE: an empty text */
};

static int by_key(const void *a, const void *b)
{
    const struct arg *x = a, *y = b;

    return str_compare(x->key, y->key);
}

static void put_value(struct writer *w, const struct attr *a)
{
    const struct capture *cap = w->cut->cap;
    bool is_bytes = a->key == w->key_bytes && a->key != 0;

    switch ((enum attr_type)a->type) {
    case ATTR_NONE:
        put(w, S("\"\""));
        break;
    case ATTR_TEXT:
        text_out_quoted(&w->out, capture_text(cap, a->text));
        break;
    case ATTR_INT:
    case ATTR_TIME:
        put(w, is_bytes ? S("\"") : S(""));
        text_out_i64(&w->out, a->number);
        put(w, is_bytes ? S("\"") : S(""));
        break;
    case ATTR_REAL:
        text_out_f64(&w->out, a->real);
        if (a->real == floor(a->real) && fabs(a->real) <= 1e15)
            put(w, S(".0")); /* so that it stays a real */
        break;
    }
}

/* The arguments, by key. Those that Insight looks for are there even when they are empty. */
static void put_args(struct writer *w, const struct slice *s, struct attr *group)
{
    static const struct str always[] = {S_INIT("code"), S_INIT("detail"), S_INIT("pc_addr")};
    const struct capture *cap = w->cut->cap;
    const attr_run runs[] = {s->set, s->own};
    struct arg args[MAX_ARGS];
    size_t n = 0;

    for (size_t r = 0; r < ARRAY_LEN(runs); r++) {
        struct attr_walk walk = attrs_walk(&cap->attrs, runs[r]);
        struct attr a;
        while (attrs_next(&walk, &a)) {
            if (a.key == w->key_group && a.key != 0)
                *group = a;
            else if (n < MAX_ARGS - ARRAY_LEN(always) && timeline_shows(cap, s, r == 0, &a) &&
                     (a.type != ATTR_REAL || isfinite(a.real)))
                args[n++] = (struct arg){timeline_key(cap, s, a.key), a};
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(always); i++) {
        size_t k = 0;
        while (k < n && !str_equal(args[k].key, always[i]))
            k++;
        if (k == n)
            args[n++] = (struct arg){.key = always[i]};
    }
    qsort(args, n, sizeof(*args), by_key);
    put(w, S("{"));
    for (size_t i = 0; i < n; i++) {
        put(w, i > 0 ? S(",") : S(""));
        text_out_quoted(&w->out, args[i].key);
        put(w, S(":"));
        put_value(w, &args[i].attr);
    }
    put(w, S("}"));
}

static void put_lane(struct writer *w, lane_id lane, nanos ts)
{
    put_text(w, S(",\"pid\":"), w->cores.at[w->core_of[lane]].name);
    put_text(w, S(",\"tid\":"), w->lane_names[lane]);
    put(w, S(",\"ts\":"));
    text_out_us(&w->out, ts);
    put(w, S("}"));
}

/* An id for the two halves of a flag: no other pair has it. */
static void put_pair_id(struct writer *w, struct str core, uint32_t slice)
{
    put(w, S(",\"id\":\""));
    text_out_escaped(&w->out, core);
    put(w, S("_p"));
    text_out_u64(&w->out, slice);
    put(w, S("\""));
}

static void put_slice(struct writer *w, uint32_t number)
{
    struct slice s = cut_slice(w->cut, number);
    struct str name = capture_text(w->cut->cap, s.name), lane = w->lane_names[s.lane];
    struct str core = w->cores.at[w->core_of[s.lane]].name;
    nanos begin = to_ns(w, s.begin), end = to_ns(w, nanos_add(s.begin, s.dur));
    const char *color = color_of(lane, s.kind);
    struct attr group = {0};
    bool pair = is_pair(name);

    begin_event(w, S("{\"args\":"));
    put_args(w, &s, &group);
    put_text(w, S(",\"cname\":"), str_of(color));
    if (!pair) {
        put(w, S(",\"dur\":"));
        text_out_us(&w->out, nanos_sub(end, begin));
    }
    if (group.type != ATTR_NONE) {
        put(w, S(",\"group_id\":"));
        put_value(w, &group);
    }
    if (pair)
        put_pair_id(w, core, number);
    put_text(w, S(",\"name\":"), name);
    put(w, pair ? S(",\"ph\":\"B\"") : S(",\"ph\":\"X\""));
    put_lane(w, s.lane, begin);
    if (!pair)
        return;
    begin_event(w, S("{\"args\":{}"));
    put_text(w, S(",\"cname\":"), str_of(color));
    put_pair_id(w, core, number);
    put_text(w, S(",\"name\":"), name);
    put(w, S(",\"ph\":\"E\""));
    put_lane(w, s.lane, end);
}

/* One end of an arrow, where its slice ends. */
static void put_end(struct writer *w, size_t flow, uint32_t number, struct str phase)
{
    const struct capture *cap = w->cut->cap;
    const struct flow *f = &cap->flows.at[flow];
    lane_id from = cap->slices.lane[f->from], to = cap->slices.lane[f->to];
    struct slice s = cut_slice(w->cut, number);
    nanos end = to_ns(w, nanos_add(s.begin, s.dur));
    uint64_t nth = nth_of(w, &s, number, end);

    begin_event(w, S("{"));
    if (nth > 0) {
        put(w, S("\"args\":{\"nth\":"));
        text_out_u64(&w->out, nth);
        put(w, S("},"));
    }
    put(w, S("\"cat\":\""));
    text_out_escaped(&w->out, w->lane_names[from]);
    put(w, S("To"));
    text_out_escaped(&w->out, w->lane_names[to]);
    put(w, S("\",\"id\":\""));
    text_out_escaped(&w->out, w->cores.at[w->core_of[from]].name);
    put(w, S("_"));
    text_out_u64(&w->out, flow);
    put(w, S("\",\"name\":\"flow\",\"ph\":\""));
    put(w, phase);
    put(w, S("\""));
    put_lane(w, s.lane, end);
}

static void put_flows(struct writer *w)
{
    const struct capture *cap = w->cut->cap;

    for (size_t i = 0; i < cap->flows.n; i++)
        if (cut_has_flow(w->cut, &cap->flows.at[i])) {
            put_end(w, i, cap->flows.at[i].from, S("s"));
            put_end(w, i, cap->flows.at[i].to, S("t"));
        }
}

static void put_series(struct writer *w, const struct series *series)
{
    const struct capture *cap = w->cut->cap;
    struct str process = capture_text(cap, series->process), unit = capture_text(cap, series->unit);

    for (size_t i = 0; i < series->samples.n; i++) {
        const struct sample *sample = &series->samples.at[i];
        nanos at = to_ns(w, sample->at);
        if (!cut_has_sample(w->cut, sample->at) || !isfinite(sample->value))
            continue;
        put_text(w, w->has_events ? S(",{\"args\":{") : S("{\"args\":{"),
                 unit.n > 0 ? unit : S("value"));
        w->has_events = true;
        put(w, S(":"));
        text_out_f64(&w->out, sample->value);
        put_text(w, S("},\"name\":"), capture_text(cap, series->name));
        put_text(w, S(",\"ph\":\"C\",\"pid\":"), process.n > 0 ? process : S("counters"));
        put(w, S(",\"tid\":0,\"ts\":"));
        if (at % 1000 == 0)
            text_out_i64(&w->out, at / 1000);
        else
            text_out_us(&w->out, at);
        put(w, S("}"));
    }
}

static void put_core(struct writer *w, const struct core *core)
{
    for (size_t i = 0; i < core->n && !w->is_stopped; i++) {
        put_slice(w, w->order.at[core->first + i].slice);
        if (i % BETWEEN_TICKS == 0)
            w->is_stopped = w->out.has_failed || !timeline_goes_on(w->options, w->out.total);
    }
}

static void put_lanes(struct writer *w)
{
    int64_t order;

    for (lane_id i = 0; i < w->cut->cap->lanes.n; i++)
        if (w->cut->lanes[i] && order_of(w->lane_names[i], &order))
            put_order(w, S("thread_sort_index"), order, w->cores.at[w->core_of[i]].name,
                      w->lane_names[i]);
}

static void put_trace(struct writer *w)
{
    const struct cut *cut = w->cut;

    w->has_events = false;
    put(w, S("{\"displayTimeUnit\":\"ns\",\"profilingType\":\"op\",\"schemaVersion\":2,"
             "\"traceEvents\":["));
    for (size_t i = 0; i < w->cores.n; i++)
        put_order(w, S("process_sort_index"), core_order(w->cores.at[i].name, i),
                  w->cores.at[i].name, S("NA"));
    put_lanes(w);
    for (size_t i = 0; i < w->cores.n && !w->is_stopped; i++)
        put_core(w, &w->cores.at[i]);
    put_flows(w);
    for (size_t i = 0; i < cut->cap->series.n && !w->is_stopped; i++)
        if (cut->series[i])
            put_series(w, &cut->cap->series.at[i]);
    put(w, S("]}"));
}

/* ---- blocks ---- */

static bool swallow(void *ctx, struct str text)
{
    (void)ctx;
    (void)text;
    return true;
}

static void put_payload(struct writer *w, const struct insight_table *table)
{
    if (table != NULL)
        insight_table_write(table, &w->out);
    else
        put_trace(w);
}

/* A block of the table, or of the trace for NULL. */
static bool write_block(struct writer *w, const struct insight_table *table, struct sink out)
{
    uint8_t type = table != NULL ? BIN_API_INSTR : BIN_TRACE;

    text_out_open(&w->out, (struct sink){swallow, NULL});
    put_payload(w, table);
    uint64_t n = w->out.total + w->out.n;
    if (w->is_stopped || !bin_write_header(out, type, table != NULL ? BIN_NEW : BIN_MARK, n))
        return false;
    text_out_open(&w->out, out);
    put_payload(w, table);
    return text_out_close(&w->out) && !w->is_stopped && bin_write_padding(out, n);
}

static bool write_insight(const struct cut *cut, const struct timeline_options *options,
                          struct sink out)
{
    struct writer *w = mem_grow(NULL, sizeof(*w), 1);
    struct insight_table table;

    memset(w, 0, sizeof(*w));
    w->cut = cut;
    w->options = options;
    w->key_group = intern_find(&cut->cap->strings, S("group_id"));
    w->key_bytes = intern_find(&cut->cap->strings, S("process_bytes"));
    arena_init(&w->arena);
    name_lanes(w);
    sort_slices(w);
    insight_table_init(&table, cut);
    bool is_done = write_block(w, NULL, out);
    if (is_done && table.rows.n > 0)
        is_done = write_block(w, &table, out);
    insight_table_fini(&table);
    vec_free(&w->cores);
    vec_free(&w->order);
    vec_free(&w->stops);
    arena_free(&w->arena);
    mem_free(w);
    return is_done;
}

static const char *const endings[] = {".bin", NULL};

const struct timeline_format timeline_insight = {
    .name = "insight",
    .endings = endings,
    .summary = "visualize_data.bin, for MindStudio Insight",
    .is_binary = true,
    .write = write_insight,
};
