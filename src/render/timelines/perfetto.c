/*
 * perfetto: Perfetto's own binary trace, a sequence of packets.
 *
 * A process becomes a process track, a thread a thread track, every other lane a child track of
 * its process; further rows of a lane are child tracks of it. A slice is a begin and an end packet
 * on its track, an arrow a number that two begins share.
 * Format reference: docs/formats/perfetto.md
 */
#include "base/formats/json_write.h"
#include "capture/facts_json.h"
#include "render/timelines/perfetto_pen.h"
#include "render/timelines/tracks.h"

/* The writer, and each section at which a part of the packets is drawn. */
struct perfetto_writer {
    struct perfetto_pen pen;
    const struct cut *cut;
    struct tracks *tracks;
    struct tracks_arrows arrows;
    struct arena arena; /* texts of one row or slice */
    struct arena_mark mark;
    uint64_t *processes; /* track of each process */
};

static int64_t number_row(void *ctx, lane_id lane, size_t row)
{
    struct perfetto_writer *w = ctx;

    (void)lane, (void)row;
    return (int64_t)perfetto_number(&w->pen);
}

static int64_t number_series(void *ctx, size_t id)
{
    return number_row(ctx, (lane_id)id, 0);
}

/* What a lane is exactly, so that the file reopens to the same capture. */
static struct str lane_note(struct perfetto_writer *w, const struct lane_key *key)
{
    const struct capture *cap = w->cut->cap;
    struct text text = {0};
    struct json_writer json;

    text_put(&text, S("strata: "));
    json_write_init(&json, text_sink(&text), JSON_COMPACT);
    json_write_object(&json);
    json_put_text(&json, "kind", lane_kind_name(key->kind));
    if (key->device >= 0)
        json_put_i64(&json, "device", key->device);
    if (key->process != 0)
        json_put_str(&json, "process", capture_text(cap, key->process));
    if (key->name != 0)
        json_put_str(&json, "name", capture_text(cap, key->name));
    if (key->pid != 0 || key->tid != 0) {
        json_put_i64(&json, "pid", key->pid);
        json_put_i64(&json, "tid", key->tid);
    }
    json_write_end(&json);
    json_write_finish(&json);
    struct str note = str_of(arena_cstr(&w->arena, text_view(&text)));
    text_free(&text);
    return note;
}

/* Facts and marks: the first process has them. */
static struct str capture_note(struct perfetto_writer *w)
{
    struct str facts = facts_json(w->cut, w->pen.shift, &w->arena);

    return str_of(
        arena_cstr(&w->arena, arena_format(&w->arena, "strata capture: %.*s", STR_ARGS(facts))));
}

static void perfetto_put_row(struct perfetto_writer *w, const struct tracks_mark *mark)
{
    const struct tracks_lane *l = &w->tracks->lanes[mark->number];
    const struct tracks_process *p = &w->tracks->processes.at[l->process];
    struct perfetto_row row = {
        .uuid = (uint64_t)mark->id,
        .parent = mark->row == 0 ? w->processes[l->process] : (uint64_t)mark->first,
        .name = tracks_row_name(w->tracks, mark->number, mark->row, &w->arena),
        .lane = mark->number,
        .number = mark->row,
        .is_thread = mark->row == 0 && p->is_host,
        .pid = p->pid,
        .tid = l->tid,
        .note = lane_note(w, &w->cut->cap->lanes.at[mark->number].key),
    };

    perfetto_row(&w->pen, &row);
}

static void put_notes(struct perfetto_writer *w, const struct slice *slice)
{
    const struct capture *cap = w->cut->cap;
    const attr_run runs[] = {slice->set, slice->own};
    struct attr a;

    for (size_t r = 0; r < ARRAY_LEN(runs); r++) {
        struct attr_walk walk = attrs_walk(&cap->attrs, runs[r]);
        while (attrs_next(&walk, &a)) {
            struct str key = timeline_key(cap, slice, a.key);
            if (!timeline_shows(cap, slice, r == 0, &a))
                continue;
            if (a.type == ATTR_TIME)
                perfetto_note_int(&w->pen, arena_format(&w->arena, "%.*s_ns", STR_ARGS(key)),
                                  a.time);
            else if (a.type == ATTR_TEXT)
                perfetto_note_text(&w->pen, key, capture_text(cap, a.text));
            else if (a.type == ATTR_REAL)
                perfetto_note_real(&w->pen, key, a.real);
            else
                perfetto_note_int(&w->pen, key, a.number);
        }
    }
}

/* The kind of an arrow is in its number. */
static uint64_t arrow_number(const struct perfetto_writer *w, size_t flow)
{
    enum { KINDS = 8 };

    return (flow + 1) * KINDS + w->cut->cap->flows.at[flow].kind;
}

/* Its category and its kind, or the kind alone. */
static void render_perfetto_put_slice(struct perfetto_writer *w, uint32_t number, uint64_t track)
{
    const struct capture *cap = w->cut->cap;
    struct slice slice = cut_slice(w->cut, number);
    size_t flow;

    put_notes(w, &slice);
    if (w->arrows.tracks == NULL)
        w->arrows = tracks_arrows_from(w->tracks, number);
    while (tracks_arrow_from(&w->arrows, number, &flow))
        vec_push(&w->pen.from, arrow_number(w, flow));
    while (tracks_arrow_to(&w->arrows, number, &flow))
        vec_push(&w->pen.to, arrow_number(w, flow));
    struct str kind = str_of(slice_kind_name(slice.kind));
    struct attr cat = attrs_get(&cap->attrs, slice.set, cap->keys[KEY_CAT]);
    bool has_cat = cat.type == ATTR_TEXT;
    perfetto_begin(&w->pen, track, slice.begin, capture_text(cap, slice.name),
                   has_cat ? capture_text(cap, cat.text) : kind, has_cat ? kind : S(""));
}

/* Messages are packed at once: what they hold is given back after each. */
static void perfetto_draw(void *ctx, const struct tracks_mark *mark)
{
    struct perfetto_writer *w = ctx;
    uint64_t id = (uint64_t)mark->id;

    switch (mark->what) {
    case TRACKS_ROW:
        perfetto_put_row(w, mark);
        break;
    case TRACKS_SLICE:
        render_perfetto_put_slice(w, mark->number, id);
        break;
    case TRACKS_END:
        perfetto_end(&w->pen, id, mark->end);
        break;
    case TRACKS_SERIES: {
        const struct capture *cap = w->cut->cap;
        const struct series *series = &cap->series.at[mark->number];
        struct lane_key key = {
            .kind = LANE_OTHER, .device = -1, .process = series->process, .name = series->name};
        perfetto_counter(&w->pen, id, w->processes[w->tracks->series[mark->number]],
                         capture_text(cap, series->name), capture_text(cap, series->unit),
                         lane_note(w, &key));
        break;
    }
    case TRACKS_SAMPLE: {
        const struct sample *s = &w->cut->cap->series.at[mark->number].samples.at[mark->row];
        perfetto_sample(&w->pen, id, s->at, s->value);
        break;
    }
    }
    arena_rewind(&w->arena, w->mark);
}

static void *begin_section(const void *ctx, struct sink out)
{
    const struct perfetto_writer *w = ctx;
    struct perfetto_writer *section = mem_grow(NULL, sizeof(*section), 1);

    memset(section, 0, sizeof(*section));
    perfetto_open(&section->pen, out, w->cut->span.begin);
    section->pen.has_packets = w->pen.has_packets;
    section->cut = w->cut;
    section->tracks = w->tracks;
    section->processes = w->processes;
    arena_init(&section->arena);
    section->mark = arena_mark(&section->arena);
    return section;
}

static void perfetto_flush(void *ctx)
{
    struct perfetto_writer *w = ctx;

    text_out_flush(&w->pen.out);
    w->arrows = (struct tracks_arrows){0}; /* the next batch may begin anywhere */
}

static void end_section(void *ctx)
{
    struct perfetto_writer *w = ctx;

    perfetto_close(&w->pen);
    arena_free(&w->arena);
    mem_free(w);
}

static bool write_perfetto(const struct cut *cut, const struct timeline_options *options,
                           struct sink out)
{
    static const struct tracks_pen pen = {number_row,    number_series,  true,       begin_section,
                                          perfetto_draw, perfetto_flush, end_section};
    struct tracks tracks;
    struct perfetto_writer *w =
        begin_section(&(struct perfetto_writer){.cut = cut, .tracks = &tracks}, out);
    struct tracks_job job = {cut, options, &pen, w, out, NULL};

    tracks_init(&tracks, cut, false);
    /* Where the times lie in real time, when that is known. */
    const struct clock *clock = &w->cut->cap->clock;
    nanos at = w->cut->span.begin, unix_at = nanos_add(at, clock->to_unix);
    if (clock->has_unix && unix_at >= 0)
        perfetto_clock(&w->pen, at, unix_at);
    size_t n = w->tracks->processes.n;
    w->processes = ARENA_ARRAY(&w->tracks->arena, uint64_t, n);
    for (size_t i = 0; i < n; i++) {
        struct str note = i == 0 ? capture_note(w) : S("");
        w->processes[i] = perfetto_process(&w->pen, w->tracks->processes.at[i].name,
                                           w->tracks->processes.at[i].pid, note);
    }
    text_out_flush(&w->pen.out);
    bool is_done = !w->pen.out.has_failed && tracks_draw(&job);
    end_section(w);
    tracks_fini(&tracks);
    return is_done;
}

const struct timeline_format timeline_perfetto = {
    .name = "perfetto",
    .endings = (const char *const[]){".pftrace", ".perfetto-trace", NULL},
    .summary = "Perfetto's binary trace (protobuf)",
    .is_binary = true,
    .write = write_perfetto,
};
