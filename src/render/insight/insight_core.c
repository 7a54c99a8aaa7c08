/*
 * The trace.json of one core, which the simulator puts beside visualize_data.bin: here
 * processes are pipes.
 * Format reference: docs/formats/incore-trace.md
 */
#include <stdlib.h>

#include "base/tables/hash.h"
#include "render/insight/insight.h"
#include "render/insight/insight_lanes.h"
#include "render/insight/insight_trace.h"

/* ---- cores ---- */

struct ranked {
    int64_t order;
    struct str name;
    strid core;
};

ORDER_BY(by_order, struct ranked, ORDER(x->order, y->order) ?: str_compare(x->name, y->name));

size_t insight_cores(const struct cut *cut, struct arena *arena, strid **out)
{
    const struct capture *cap = cut->cap;
    struct ranked *list = ARENA_ARRAY(arena, struct ranked, cap->lanes.n + 1);
    struct hash seen = {0};
    size_t n = 0;

    for (lane_id i = 0; i < cap->lanes.n; i++) {
        const struct lane_key *key = &cap->lanes.at[i].key;
        if (!cut->lanes[i] || key->kind != LANE_PIPE || key->process == 0 ||
            hash_add(&seen, key->process, i) != i)
            continue;
        struct str name = capture_text(cap, key->process);
        list[n] = (struct ranked){insight_core_order(name, n), name, key->process};
        n++;
    }
    qsort(list, n, sizeof(*list), by_order);
    *out = ARENA_ARRAY(arena, strid, n + 1);
    for (size_t i = 0; i < n; i++)
        (*out)[i] = list[i].core;
    hash_free(&seen);
    return n;
}

/* ---- trace.json ---- */

struct core_writer {
    struct insight_trace t; /* for its output and its way with arguments */
    strid core;
    uint32_t *threads; /* by slice: its thread, for arrows */
    bool has_events;
};

/* The number of a pipe's process; 0 for those that have none. */
static int64_t pipe_number(struct str pipe)
{
    static const char *const pipes[] = {
        "SCALAR", "SCALARLDST", "VECTOR",   "CUBE", "MTE1",      "MTE2",
        "MTE3",   "FIXP",       "FLOWCTRL", "ALL",  "CACHEMISS", "USERMARK",
    };
    int64_t warp;

    for (size_t i = 0; i < ARRAY_LEN(pipes); i++)
        if (str_equal(pipe, str_of(pipes[i])))
            return ((int64_t)i + 1) * 10;
    return str_starts(pipe, S("WARP_")) && num_i64(str_part(pipe, 5, pipe.n), &warp) ? warp : 0;
}

/* Loads and stores of the scalar unit have a pipe of their own in this file. */
static struct str pipe_of(const struct core_writer *w, const struct slice *s)
{
    const struct capture *cap = w->t.cut->cap;
    struct str name = capture_text(cap, cap->lanes.at[s->lane].key.name);
    struct attr a = attrs_get(&cap->attrs, s->own, w->t.key_detail);

    if (str_equal(name, S("SCALAR")) && a.type == ATTR_TEXT &&
        str_contains(capture_text(cap, a.text), S("XD:")))
        return S("SCALARLDST");
    return name;
}

static bool is_drawn(const struct core_writer *w, size_t slice)
{
    const struct capture *cap = w->t.cut->cap;
    const struct lane_key *key = &cap->lanes.at[cap->slices.lane[slice]].key;

    return cut_has(w->t.cut, slice) && key->kind == LANE_PIPE && key->process == w->core;
}

static void core_put(struct core_writer *w, struct str text)
{
    text_out_put(&w->t.out, text);
}

static void begin_event(struct core_writer *w, struct str text)
{
    core_put(w, w->has_events ? S(",") : S(""));
    w->has_events = true;
    core_put(w, text);
}

/* A name, or a place, of a process or one of its threads. */
static void put_meta(struct core_writer *w, const char *what, struct str name, int64_t order,
                     int64_t pid, int64_t tid)
{
    begin_event(w, S("{\"args\":{"));
    if (name.n > 0) {
        text_out_pair(&w->t.out, S("\"name\":"), name);
    } else {
        text_out_pair_i64(&w->t.out, S("\"sort_index\":"), order);
    }
    core_put(w, S("},\"name\":\""));
    core_put(w, str_of(what));
    text_out_pair_i64(&w->t.out, S("\",\"ph\":\"M\",\"pid\":"), pid);
    text_out_pair_i64(&w->t.out, S(",\"tid\":"), tid);
    core_put(w, S("}"));
}

static void core_put_slice(struct core_writer *w, const struct slice *s, int64_t pid, uint32_t tid)
{
    const struct capture *cap = w->t.cut->cap;
    struct str lane = capture_text(cap, cap->lanes.at[s->lane].key.name);
    struct attr group = {0}; /* this file has no place for it */

    begin_event(w, S("{\"args\":"));
    insight_put_args(&w->t, s, &group);
    core_put(w, S(",\"cname\":\""));
    core_put(w, str_of(insight_color(lane, s->kind)));
    core_put(w, S("\",\"dur\":"));
    insight_put_length(&w->t.out, cap, s);
    text_out_pair(&w->t.out, S(",\"name\":"), capture_text(cap, s->name));
    text_out_pair_i64(&w->t.out, S(",\"ph\":\"X\",\"pid\":"), pid);
    core_put(w, S(",\"tid\":"));
    text_out_u64(&w->t.out, tid);
    core_put(w, S(",\"ts\":"));
    insight_put_time(&w->t.out, cap, s->begin);
    core_put(w, S("}"));
}

/* More overlap than any pipe has; the rest shares the last thread. */
enum { MOST_THREADS = 256 };

struct pipe_writer {
    struct str name;
    int64_t pid;
    VEC_OF(nanos) until;          /* by thread: its last tick */
    bool known[MOST_THREADS + 1]; /* by thread: it has a name */
};

/* The first thread that is free; a run keeps it busy up to and with its last tick. */
static uint32_t claim_thread(struct pipe_writer *p, const struct slice *s)
{
    size_t i = 0;

    while (i < p->until.n && p->until.at[i] >= s->begin)
        i++;
    if (i == p->until.n && i < MOST_THREADS)
        vec_push(&p->until, 0);
    i = i < p->until.n ? i : p->until.n - 1;
    p->until.at[i] = nanos_add(s->begin, s->dur);
    return (uint32_t)i + 1;
}

/* Marks have a thread for the last digit of their name. */
static uint32_t mark_thread(struct str name)
{
    uint64_t digit = 0;

    if (name.n > 0)
        num_hex(str_part(name, name.n - 1, 1), &digit);
    return (uint32_t)digit;
}

static void put_run(struct core_writer *w, struct pipe_writer *p, size_t number)
{
    struct slice s = cut_slice(w->t.cut, number);
    bool is_mark = str_equal(p->name, S("USERMARK"));
    uint32_t tid = is_mark ? mark_thread(capture_text(w->t.cut->cap, s.name)) : claim_thread(p, &s);

    if (!p->known[tid]) {
        struct arena scratch;
        arena_init(&scratch);
        put_meta(w, "thread_name", arena_format(&scratch, "%.*s_%u", STR_ARGS(p->name), tid), 0,
                 p->pid, tid);
        put_meta(w, "thread_sort_index", S(""), tid, p->pid, tid);
        arena_free(&scratch);
        p->known[tid] = true;
    }
    w->threads[number] = tid;
    core_put_slice(w, &s, p->pid, tid);
}

/* The runs of a lane that belong to a pipe. */
static void put_pipe(struct core_writer *w, const struct lane *lane, struct str name)
{
    struct pipe_writer p = {.name = name, .pid = pipe_number(name)};
    bool is_begun = false;

    for (size_t i = lane->first; i < lane->first + lane->n && !w->t.out.has_failed; i++) {
        struct slice s = slices_at(&w->t.cut->cap->slices, i);
        if (!cut_has(w->t.cut, i) || !str_equal(pipe_of(w, &s), name))
            continue;
        if (!is_begun) {
            put_meta(w, "process_name", name, 0, p.pid, 0);
            put_meta(w, "process_sort_index", S(""), p.pid, p.pid, 0);
        }
        is_begun = true;
        put_run(w, &p, i);
    }
    vec_free(&p.until);
}

static void put_end(struct core_writer *w, size_t flow, uint32_t number, bool is_begin)
{
    const struct capture *cap = w->t.cut->cap;
    struct slice s = cut_slice(w->t.cut, number);
    nanos end = nanos_add(s.begin, s.dur);

    begin_event(w, S("{\"cat\":\"flow\",\"id\":\""));
    text_out_escaped(&w->t.out, capture_text(cap, w->core));
    core_put(w, S("_"));
    text_out_u64(&w->t.out, flow);
    core_put(w, is_begin ? S("\",\"name\":\"flow\",\"ph\":\"s\",\"pid\":\"")
                         : S("\",\"name\":\"flow\",\"ph\":\"t\",\"pid\":\""));
    text_out_i64(&w->t.out, pipe_number(pipe_of(w, &s)));
    core_put(w, S("\",\"tid\":\""));
    text_out_u64(&w->t.out, w->threads[number]);
    core_put(w, S("\",\"ts\":"));
    insight_put_time(&w->t.out, cap, is_begin ? nanos_add(s.begin, s.dur / 2) : end);
    core_put(w, S("}"));
}

static void put_events(struct core_writer *w)
{
    const struct capture *cap = w->t.cut->cap;

    core_put(w, S("{\"displayTimeUnit\":\"ns\",\"profilingType\":\"op\",\"schemaVersion\":1,"
                  "\"traceEvents\":["));
    for (lane_id i = 0; i < cap->lanes.n; i++) {
        const struct lane *lane = &cap->lanes.at[i];
        struct str name = capture_text(cap, lane->key.name);
        if (!w->t.cut->lanes[i] || lane->key.kind != LANE_PIPE || lane->key.process != w->core)
            continue;
        put_pipe(w, lane, name);
        if (str_equal(name, S("SCALAR")))
            put_pipe(w, lane, S("SCALARLDST"));
    }
    for (size_t i = 0; i < cap->flows.n; i++)
        if (is_drawn(w, cap->flows.at[i].from) && is_drawn(w, cap->flows.at[i].to)) {
            put_end(w, i, cap->flows.at[i].from, true);
            put_end(w, i, cap->flows.at[i].to, false);
        }
    core_put(w, S("]}"));
}

bool insight_write_core_trace(const struct cut *cut, strid core, struct sink out)
{
    struct core_writer *w = mem_grow(NULL, sizeof(*w), 1);

    memset(w, 0, sizeof(*w));
    insight_trace_keys(&w->t, cut);
    w->core = core;
    w->threads = mem_grow(NULL, sizeof(*w->threads), cut->cap->slices.n + 1);
    text_out_open(&w->t.out, out);
    put_events(w);
    bool is_done = text_out_close(&w->t.out);
    mem_free(w->threads);
    mem_free(w);
    return is_done;
}
