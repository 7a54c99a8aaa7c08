/*
 * proton-warps: the inside of Triton kernels, as Proton records it: a lane for each warp.
 *
 * The writer gives each nesting depth of a warp a row of its own; they are one lane again.
 * Format reference: docs/formats/proton.md
 */
#include "base/formats/json_read.h"
#include "base/run/cancel.h"
#include "input/import.h"

struct warp_event {
    struct str name, cat, pid, tid, ts, dur;
    int64_t bind;
    bool has_bind, is_out, is_in, is_whole, has_name_escapes;
};

struct warp_link {
    uint32_t from, to; /* slices plus one; 0: not yet */
};

struct warps {
    struct import *i;
    struct json j;
    struct hash binds;
    VEC_OF(struct warp_link) links;
};

static int warps_probe(const struct probe *p)
{
    static const struct str words[] = {S_INIT("\"traceEvents\""), S_INIT(" Core"), S_INIT(" CTA"),
                                       S_INIT("\"warp ")};

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (!str_contains(p->head, words[i]))
            return 0;
    return 96;
}

/* Cuts a word and a number off the end of a text: " CTA12". */
static bool cut_number(struct str *text, struct str word, int64_t *number)
{
    size_t digits = str_last_digits(*text);
    struct str rest = str_part(*text, 0, text->n - digits);

    if (digits == 0 || !str_ends(rest, word) || !num_i64(str_part(*text, rest.n, text->n), number))
        return false;
    *text = str_part(rest, 0, rest.n - word.n);
    return true;
}

/* "gemm Core7 CTA1" and "warp 4 (line 0)": the warp of a block on a multiprocessor. */
static bool lane_of(struct warps *w, const struct warp_event *e, lane_id *lane)
{
    struct str kernel = e->pid, warp = e->tid;
    int64_t block, core, number;

    if (!cut_number(&kernel, S(" CTA"), &block) || !cut_number(&kernel, S(" Core"), &core))
        return false;
    warp = str_part(warp, 0, str_find(warp, S(" (")));
    if (!cut_number(&warp, S("warp "), &number) || warp.n > 0)
        return false;
    struct capture *cap = w->i->cap;
    *lane = capture_lane(
        cap, (struct lane_key){
                 .kind = LANE_PIPE,
                 .device = -1,
                 .process = capture_intern_format(cap, "SM %lld", (long long)core),
                 .name = capture_intern_format(cap, "CTA %lld warp %lld of %.*s", (long long)block,
                                               (long long)number, STR_ARGS(kernel)),
             });
    return true;
}

static void read_event(struct warps *w, struct warp_event *e)
{
    struct str key, value;

    *e = (struct warp_event){0};
    while (json_key(&w->j, &key)) {
        struct str name = key;
        if (!json_value(&w->j, &value))
            continue;
        if (str_equal(name, S("name"))) {
            e->name = value;
            e->has_name_escapes = w->j.has_escapes;
        } else if (str_equal(name, S("cat")))
            e->cat = value;
        else if (str_equal(name, S("pid")))
            e->pid = value;
        else if (str_equal(name, S("tid")))
            e->tid = value;
        else if (str_equal(name, S("ts")))
            e->ts = value;
        else if (str_equal(name, S("dur")))
            e->dur = value;
        else if (str_equal(name, S("ph")))
            e->is_whole = str_equal(value, S("X"));
        else if (str_equal(name, S("bind_id")))
            e->has_bind = num_i64(value, &e->bind);
        else if (str_equal(name, S("flow_out")))
            e->is_out = w->j.token == JSON_TRUE;
        else if (str_equal(name, S("flow_in")))
            e->is_in = w->j.token == JSON_TRUE;
    }
}

static strid name_of(struct warps *w, const struct warp_event *e)
{
    struct arena scratch;

    arena_init(&scratch);
    strid id =
        capture_intern(w->i->cap, e->has_name_escapes ? json_text(e->name, &scratch) : e->name);
    arena_free(&scratch);
    return id;
}

/* An arrow has one end each way. */
static void bind(struct warps *w, const struct warp_event *e, uint32_t slice)
{
    uint32_t fresh = (uint32_t)w->links.n;
    uint32_t place = hash_add(&w->binds, (uint64_t)e->bind, fresh);

    if (place == fresh)
        vec_push(&w->links, ((struct warp_link){0, 0}));
    if (e->is_out)
        w->links.at[place].from = slice + 1;
    else if (e->is_in)
        w->links.at[place].to = slice + 1;
}

static void take_event(struct warps *w, const struct warp_event *e)
{
    struct slice slice = {.kind = SLICE_COMPUTE};

    if (!e->is_whole)
        return;
    w->i->rows++;
    if (!lane_of(w, e, &slice.lane) || !num_us(e->ts, &slice.begin) ||
        !num_us(e->dur, &slice.dur) || !import_lasts(slice.dur)) {
        import_lose(w->i, import_byte(w->i, json_offset(&w->j)), "proton.bad-event",
                    "event skipped: its warp, time or duration cannot be read");
        return;
    }
    if (str_equal(e->cat, S("flow")))
        slice.kind = SLICE_CONTROL;
    slice.name = name_of(w, e);
    uint32_t number = capture_slice(w->i->cap, &slice);
    if (e->has_bind)
        bind(w, e, number);
}

static void read_events(struct warps *w)
{
    struct warp_event e;
    struct str value;

    for (uint64_t n = 1; json_element(&w->j); n++) {
        if (json_value(&w->j, &value) || w->j.token != JSON_OBJECT ||
            json_next(&w->j) != JSON_OBJECT)
            continue;
        read_event(w, &e);
        take_event(w, &e);
        if (n % 65536 == 0 && cancelled())
            return;
    }
}

static enum status warps_read_text(struct import *i, struct str text)
{
    struct warps w = {.i = i};
    struct str key, value;

    i->bytes = text.n;
    json_open(&w.j, text, JSON_LENIENT);
    if (json_next(&w.j) == JSON_OBJECT)
        while (json_key(&w.j, &key))
            if (str_equal(key, S("traceEvents")) && !json_value(&w.j, &value) &&
                w.j.token == JSON_ARRAY && json_next(&w.j) == JSON_ARRAY)
                read_events(&w);
    if (w.j.token == JSON_ERROR || w.j.recovered[JSON_TRUNCATED].count > 0)
        import_lose(i, import_byte(i, json_offset(&w.j)), "proton.damaged",
                    "damaged or cut short: events from here on are skipped");
    for (size_t k = 0; k < w.links.n; k++)
        if (w.links.at[k].from > 0 && w.links.at[k].to > 0)
            capture_flow(i->cap, FLOW_FLAG, w.links.at[k].from - 1, w.links.at[k].to - 1);
    i->cap->facts.kind = capture_intern(i->cap, S("proton"));
    if (i->rows > 0)
        import_report(i, SEV_NOTE, "proton.cycles",
                      "durations are cycles, which the trace takes for nanoseconds (1 GHz)");
    hash_free(&w.binds);
    vec_free(&w.links);
    return i->rows > 0 ? ST_OK
                       : import_refuse(i, import_byte(i, 0), "proton.no-event",
                                       "no event of a warp can be read");
}

static enum status read_proton_warps(struct import *i)
{
    return import_whole(i, INT32_MAX, warps_read_text);
}

const struct input_format input_proton_warps = {
    .name = "proton-warps",
    .summary = "inside of Triton kernels by Proton, warp by warp (Chrome JSON)",
    .looks_for = "*.chrome_trace",
    .names = "*.chrome_trace, *.chrome_trace.gz",
    .role = ROLE_WHOLE,
    .source = SOURCE_OTHER,
    .probe = warps_probe,
    .read = read_proton_warps,
};
