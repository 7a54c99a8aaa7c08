/*
 * The events of a capture, as the document that Insight reads and as its pieces.
 */
#include "render/insight/insight_trace.h"

#include <math.h>
#include <stdlib.h>

#include "base/tables/hash.h"
#include "capture/title.h"
#include "render/insight/insight_lanes.h"

enum {
    MAX_ARGS = 64,
    BETWEEN_TICKS = 4096, /* slices between two looks at the clock and the user */
    NANOSECONDS = 1000000000,
};

/* ---- getting ready ---- */

/* A time of the capture in nanoseconds. */
static nanos ns_of(const struct capture *cap, nanos ticks)
{
    int64_t hz = cap->clock.hz;
    __int128 ns = ticks;

    if (hz != 1000000000 && hz > 0) {
        ns = ns * 1000000000;
        ns = (ns >= 0 ? ns + hz / 2 : ns - hz / 2) / hz;
    }
    return ns > INT64_MAX ? INT64_MAX : ns < INT64_MIN ? INT64_MIN : (nanos)ns;
}

/* Cycles in microseconds, in steps of 2^-20: fine enough to count cycles again, and sums of such
 * numbers are exact, so that what ends when another begins still does for every reader. */
static double to_us(const struct capture *cap, nanos ticks)
{
    return ldexp(round((double)ticks * 1e6 / (double)cap->clock.hz * 0x1p20), -20);
}

static bool has_nanos(const struct capture *cap)
{
    return cap->clock.hz == NANOSECONDS || cap->clock.hz <= 0;
}

void insight_put_time(struct text_out *out, const struct capture *cap, nanos ticks)
{
    if (has_nanos(cap))
        text_out_us(out, ticks);
    else
        text_out_f64(out, to_us(cap, ticks));
}

void insight_put_length(struct text_out *out, const struct capture *cap, const struct slice *s)
{
    if (has_nanos(cap))
        text_out_us(out, s->dur);
    else
        text_out_f64(out, to_us(cap, nanos_add(s->begin, s->dur)) - to_us(cap, s->begin));
}

static struct str kept(struct insight_trace *w, struct str title, const char *otherwise)
{
    return title.n > 0 ? arena_str(&w->arena, title) : str_of(otherwise);
}

/* The lane of the one slice made from a base info block: the block itself is written. */
static bool is_distinct(const struct capture *cap, lane_id lane)
{
    const struct lane_key *key = &cap->lanes.at[lane].key;

    return key->kind == LANE_STREAM && key->process == 0 &&
           str_equal(capture_text(cap, key->name), S(INSIGHT_KERNEL_LANE)) &&
           capture_document(cap, BIN_BASE_INFO) != NULL;
}

/* A pipe keeps its names; other lanes get what people call them. Neither may be empty. */
static void name_lanes(struct insight_trace *w)
{
    const struct capture *cap = w->cut->cap;
    struct intern names;
    struct hash ids = {0};
    char buf[TITLE_TEXT];

    intern_init(&names);
    w->has_lane = ARENA_ARRAY(&w->arena, bool, cap->lanes.n);
    w->core_of = ARENA_ARRAY(&w->arena, uint32_t, cap->lanes.n);
    w->lane_names = ARENA_ARRAY(&w->arena, struct str, cap->lanes.n);
    for (lane_id i = 0; i < cap->lanes.n; i++) {
        const struct lane_key *key = &cap->lanes.at[i].key;
        w->has_lane[i] = w->cut->lanes[i] && !is_distinct(cap, i);
        if (!w->has_lane[i])
            continue;
        bool is_pipe = key->kind == LANE_PIPE && key->process != 0 && key->name != 0;
        struct str process = is_pipe ? capture_text(cap, key->process)
                                     : kept(w, title_process(cap, i, buf), "process");
        w->lane_names[i] =
            is_pipe ? capture_text(cap, key->name) : kept(w, title_lane(cap, i, buf), "lane");
        w->core_of[i] = hash_add(&ids, intern_put(&names, process), (uint32_t)w->cores.n);
        if (w->core_of[i] == w->cores.n)
            vec_push(&w->cores, ((struct insight_core){.name = process}));
    }
    hash_free(&ids);
    intern_fini(&names);
}

ORDER_BY(by_end, struct insight_stop,
         ORDER(x->lane, y->lane) ?: ORDER(x->end, y->end) ?: ORDER(x->is_other, y->is_other)
         ?: ORDER(x->slice, y->slice));

/* Each core's slices by the time they end, and where arrows may end on each lane. */
static void sort_slices(struct insight_trace *w)
{
    const struct cut *cut = w->cut;

    for (size_t i = 0; i < cut->cap->slices.n; i++) {
        if (!cut_has(cut, i) || !w->has_lane[cut->cap->slices.lane[i]])
            continue;
        struct slice s = cut_slice(cut, i);
        struct insight_stop stop = {.end = ns_of(w->cut->cap, nanos_add(s.begin, s.dur)),
                                    .slice = (uint32_t)i};
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
static uint64_t nth_of(const struct insight_trace *w, const struct slice *s, uint32_t number,
                       nanos end)
{
    struct insight_stop key = {.end = end, .lane = s->lane, .slice = number};
    size_t first, at;

    key.is_other = s->kind != SLICE_WAIT && s->kind != SLICE_CONTROL;
    vec_bisect(first, w->stops.n, i, by_end(&w->stops.at[i], &key) < 0);
    for (at = first;
         at > 0 && w->stops.at[at - 1].lane == s->lane && w->stops.at[at - 1].end == end;)
        at--;
    return first - at;
}

/* ---- events ---- */

static void render_insight_trace_put(struct insight_trace *w, struct str text)
{
    text_out_put(&w->out, text);
}

static void begin_event(struct insight_trace *w, struct str text)
{
    if (w->has_events)
        render_insight_trace_put(w, S(","));
    w->has_events = true;
    render_insight_trace_put(w, text);
}

static void put_order(struct insight_trace *w, struct str what, int64_t order, struct str pid,
                      struct str tid)
{
    begin_event(w, S("{\"args\":{\"sort_index\":"));
    text_out_i64(&w->out, order);
    render_insight_trace_put(w, S("},\"name\":\""));
    render_insight_trace_put(w, what);
    text_out_pair(&w->out, S("\",\"ph\":\"M\",\"pid\":"), pid);
    text_out_pair(&w->out, S(",\"tid\":"), tid);
    render_insight_trace_put(w, S("}"));
}

struct arg {
    struct str key;
    struct attr attr; /* ATTR_NONE: an empty text */
};

ORDER_BY(by_key, struct arg, str_compare(x->key, y->key));

static void trace_put_value(struct insight_trace *w, const struct attr *a)
{
    const struct capture *cap = w->cut->cap;
    bool is_bytes = a->key == w->key_bytes && a->key != 0;

    switch ((enum attr_type)a->type) {
    case ATTR_NONE:
        render_insight_trace_put(w, S("\"\""));
        break;
    case ATTR_TEXT:
        text_out_quoted(&w->out, capture_text(cap, a->text));
        break;
    case ATTR_INT:
    case ATTR_TIME:
        render_insight_trace_put(w, is_bytes ? S("\"") : S(""));
        text_out_i64(&w->out, a->number);
        render_insight_trace_put(w, is_bytes ? S("\"") : S(""));
        break;
    case ATTR_REAL:
        text_out_f64(&w->out, a->real);
        if (a->real == floor(a->real) && fabs(a->real) <= 1e15)
            render_insight_trace_put(w, S(".0")); /* so that it stays a real */
        break;
    }
}

void insight_put_args(struct insight_trace *w, const struct slice *s, struct attr *group)
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
    render_insight_trace_put(w, S("{"));
    for (size_t i = 0; i < n; i++) {
        render_insight_trace_put(w, i > 0 ? S(",") : S(""));
        text_out_quoted(&w->out, args[i].key);
        render_insight_trace_put(w, S(":"));
        trace_put_value(w, &args[i].attr);
    }
    render_insight_trace_put(w, S("}"));
}

static void put_lane(struct insight_trace *w, lane_id lane, nanos ts)
{
    text_out_pair(&w->out, S(",\"pid\":"), w->cores.at[w->core_of[lane]].name);
    text_out_pair(&w->out, S(",\"tid\":"), w->lane_names[lane]);
    render_insight_trace_put(w, S(",\"ts\":"));
    insight_put_time(&w->out, w->cut->cap, ts);
    render_insight_trace_put(w, S("}"));
}

/* An id for the two halves of a flag: no other pair has it. */
static void put_pair_id(struct insight_trace *w, struct str core, uint32_t slice)
{
    render_insight_trace_put(w, S(",\"id\":\""));
    text_out_escaped(&w->out, core);
    render_insight_trace_put(w, S("_p"));
    text_out_u64(&w->out, slice);
    render_insight_trace_put(w, S("\""));
}

static void insight_trace_put_slice(struct insight_trace *w, uint32_t number)
{
    struct slice s = cut_slice(w->cut, number);
    struct str name = capture_text(w->cut->cap, s.name), lane = w->lane_names[s.lane];
    struct str core = w->cores.at[w->core_of[s.lane]].name;
    nanos end = nanos_add(s.begin, s.dur);
    const char *color = insight_color(lane, s.kind);
    struct attr group = {0};
    bool pair = insight_is_pair(name);

    begin_event(w, S("{\"args\":"));
    insight_put_args(w, &s, &group);
    text_out_pair(&w->out, S(",\"cname\":"), str_of(color));
    if (!pair) {
        render_insight_trace_put(w, S(",\"dur\":"));
        insight_put_length(&w->out, w->cut->cap, &s);
    }
    if (group.type != ATTR_NONE) {
        render_insight_trace_put(w, S(",\"group_id\":"));
        trace_put_value(w, &group);
    }
    if (pair)
        put_pair_id(w, core, number);
    text_out_pair(&w->out, S(",\"name\":"), name);
    render_insight_trace_put(w, pair ? S(",\"ph\":\"B\"") : S(",\"ph\":\"X\""));
    put_lane(w, s.lane, s.begin);
    if (!pair)
        return;
    begin_event(w, S("{\"args\":{}"));
    text_out_pair(&w->out, S(",\"cname\":"), str_of(color));
    put_pair_id(w, core, number);
    text_out_pair(&w->out, S(",\"name\":"), name);
    render_insight_trace_put(w, S(",\"ph\":\"E\""));
    put_lane(w, s.lane, end);
}

/* One end of an arrow, where its slice ends. */
static void put_end(struct insight_trace *w, size_t flow, uint32_t number, struct str phase)
{
    const struct capture *cap = w->cut->cap;
    const struct flow *f = &cap->flows.at[flow];
    lane_id from = cap->slices.lane[f->from], to = cap->slices.lane[f->to];
    struct slice s = cut_slice(w->cut, number);
    nanos end = nanos_add(s.begin, s.dur);
    uint64_t nth = nth_of(w, &s, number, ns_of(cap, end));

    begin_event(w, S("{"));
    if (nth > 0) {
        render_insight_trace_put(w, S("\"args\":{\"nth\":"));
        text_out_u64(&w->out, nth);
        render_insight_trace_put(w, S("},"));
    }
    render_insight_trace_put(w, S("\"cat\":\""));
    text_out_escaped(&w->out, w->lane_names[from]);
    render_insight_trace_put(w, S("To"));
    text_out_escaped(&w->out, w->lane_names[to]);
    render_insight_trace_put(w, S("\",\"id\":\""));
    text_out_escaped(&w->out, w->cores.at[w->core_of[from]].name);
    render_insight_trace_put(w, S("_"));
    text_out_u64(&w->out, flow);
    render_insight_trace_put(w, S("\",\"name\":\"flow\",\"ph\":\""));
    render_insight_trace_put(w, phase);
    render_insight_trace_put(w, S("\""));
    put_lane(w, s.lane, end);
}

static void put_sample(struct insight_trace *w, const struct series *series,
                       const struct sample *sample)
{
    const struct capture *cap = w->cut->cap;
    struct str process = capture_text(cap, series->process), unit = capture_text(cap, series->unit);
    nanos at = ns_of(cap, sample->at);

    text_out_pair(&w->out, S("{\"args\":{"), unit.n > 0 ? unit : S("value"));
    render_insight_trace_put(w, S(":"));
    text_out_f64(&w->out, sample->value);
    text_out_pair(&w->out, S("},\"name\":"), capture_text(cap, series->name));
    text_out_pair(&w->out, S(",\"ph\":\"C\",\"pid\":"), process.n > 0 ? process : S("counters"));
    render_insight_trace_put(w, S(",\"tid\":0,\"ts\":"));
    if (at % 1000 == 0)
        text_out_i64(&w->out, at / 1000);
    else
        text_out_us(&w->out, at);
    render_insight_trace_put(w, S("}"));
}

static bool has_sample(const struct insight_trace *w, const struct sample *sample)
{
    return cut_has_sample(w->cut, sample->at) && isfinite(sample->value);
}

static void put_series(struct insight_trace *w, const struct series *series)
{
    for (size_t i = 0; i < series->samples.n; i++)
        if (has_sample(w, &series->samples.at[i])) {
            begin_event(w, S(""));
            put_sample(w, series, &series->samples.at[i]);
        }
}

static void put_core(struct insight_trace *w, const struct insight_core *core)
{
    for (size_t i = 0; i < core->n && !w->is_stopped; i++) {
        insight_trace_put_slice(w, w->order.at[core->first + i].slice);
        if (i % BETWEEN_TICKS == 0)
            w->is_stopped = w->out.has_failed || !timeline_goes_on(w->options, w->out.total);
    }
}

void insight_trace_put(struct insight_trace *w)
{
    const struct cut *cut = w->cut;
    const lane_id *lanes = cut->cap->slices.lane;
    int64_t order;

    w->has_events = false;
    render_insight_trace_put(
        w, S("{\"displayTimeUnit\":\"ns\",\"profilingType\":\"op\",\"schemaVersion\":2,"
             "\"traceEvents\":["));
    for (size_t i = 0; i < w->cores.n; i++)
        put_order(w, S("process_sort_index"), insight_core_order(w->cores.at[i].name, i),
                  w->cores.at[i].name, S("NA"));
    for (lane_id i = 0; i < cut->cap->lanes.n; i++)
        if (w->has_lane[i] && insight_order(w->lane_names[i], &order))
            put_order(w, S("thread_sort_index"), order, w->cores.at[w->core_of[i]].name,
                      w->lane_names[i]);
    for (size_t i = 0; i < w->cores.n && !w->is_stopped; i++)
        put_core(w, &w->cores.at[i]);
    for (size_t i = 0; i < cut->cap->flows.n; i++) {
        const struct flow *f = &cut->cap->flows.at[i];
        if (cut_has_flow(cut, f) && w->has_lane[lanes[f->from]] && w->has_lane[lanes[f->to]]) {
            put_end(w, i, f->from, S("s"));
            put_end(w, i, f->to, S("t"));
        }
    }
    for (size_t i = 0; i < cut->cap->series.n && !w->is_stopped; i++)
        if (cut->series[i])
            put_series(w, &cut->cap->series.at[i]);
    render_insight_trace_put(w, S("]}"));
}

/* ---- pieces ---- */

static uint64_t here(const struct insight_trace *w)
{
    return w->out.total + w->out.n;
}

static struct insight_part part_since(const struct insight_trace *w, uint64_t event, uint64_t from)
{
    return (struct insight_part){(uint32_t)(from - event), (uint32_t)(here(w) - from)};
}

/* A time as a reader of its text gets it. */
static double read_us(const struct capture *cap, nanos ticks)
{
    return has_nanos(cap) ? (double)ticks / 1000 : to_us(cap, ticks);
}

static struct str detail_of(const struct insight_trace *w, const struct slice *s)
{
    const struct capture *cap = w->cut->cap;
    struct attr a = attrs_get(&cap->attrs, s->own, w->key_detail);

    if (a.type == ATTR_NONE)
        a = attrs_get(&cap->attrs, s->set, w->key_detail);
    return a.type == ATTR_TEXT ? capture_text(cap, a.text) : S("");
}

static struct insight_event slice_event(struct insight_trace *w, uint32_t number)
{
    const struct capture *cap = w->cut->cap;
    struct slice s = cut_slice(w->cut, number);
    nanos end = nanos_add(s.begin, s.dur);
    uint64_t at = here(w), from = at;
    struct insight_event e = {
        .core = w->cores.at[w->core_of[s.lane]].name,
        .pipe = w->lane_names[s.lane],
        .name = capture_text(cap, s.name),
        .begin = read_us(cap, s.begin),
        .end = read_us(cap, end),
        .at = at,
    };
    struct attr group;

    if (insight_is_pair(e.name)) {
        e.type = INSIGHT_FLAG;
        e.detail = detail_of(w, &s);
        return e;
    }
    e.length = has_nanos(cap) ? (double)s.dur / 1000 : e.end - e.begin;
    text_out_quoted(&w->out, e.name);
    e.name_text = part_since(w, at, from);
    from = here(w);
    insight_put_time(&w->out, cap, s.begin);
    e.begin_text = part_since(w, at, from);
    from = here(w);
    insight_put_length(&w->out, cap, &s);
    e.length_text = part_since(w, at, from);
    from = here(w);
    insight_put_args(w, &s, &group);
    e.args = part_since(w, at, from);
    e.n = here(w) - at;
    return e;
}

void insight_trace_pieces(struct insight_trace *w, struct sink out,
                          void (*take)(void *ctx, const struct insight_event *e), void *ctx)
{
    const struct capture *cap = w->cut->cap;

    text_out_open(&w->out, out);
    for (size_t i = 0; i < w->order.n; i++) {
        struct insight_event e = slice_event(w, w->order.at[i].slice);
        take(ctx, &e);
    }
    for (size_t i = 0; i < cap->series.n; i++)
        for (size_t k = 0; w->cut->series[i] && k < cap->series.at[i].samples.n; k++) {
            const struct sample *sample = &cap->series.at[i].samples.at[k];
            struct insight_event e = {.type = INSIGHT_SAMPLE, .at = here(w)};
            if (!has_sample(w, sample))
                continue;
            put_sample(w, &cap->series.at[i], sample);
            e.n = here(w) - e.at;
            take(ctx, &e);
        }
    text_out_close(&w->out);
}

void insight_trace_keys(struct insight_trace *w, const struct cut *cut)
{
    w->cut = cut;
    w->key_group = intern_find(&cut->cap->strings, S("group_id"));
    w->key_bytes = intern_find(&cut->cap->strings, S("process_bytes"));
    w->key_detail = intern_find(&cut->cap->strings, S("detail"));
}

struct insight_trace *insight_trace_new(const struct cut *cut,
                                        const struct timeline_options *options)
{
    struct insight_trace *w = mem_grow(NULL, sizeof(*w), 1);

    memset(w, 0, sizeof(*w));
    insight_trace_keys(w, cut);
    w->options = options;
    arena_init(&w->arena);
    name_lanes(w);
    sort_slices(w);
    return w;
}

void insight_trace_free(struct insight_trace *w)
{
    vec_free(&w->cores);
    vec_free(&w->order);
    vec_free(&w->stops);
    arena_free(&w->arena);
    mem_free(w);
}
