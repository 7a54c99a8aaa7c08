/*
 * perfetto: Perfetto's own binary trace, a sequence of packets.
 *
 * A process becomes a process track, a thread a thread track, every other lane a child track of
 * its process; further rows of a lane are child tracks of it. A slice is a begin and an end packet
 * on its track, an arrow a number that two begins share.
 * Format reference: docs/formats/perfetto.md
 */
#include "render/perfetto_pen.h"
#include "render/tracks.h"

struct perfetto_writer {
    struct perfetto_pen pen;
    const struct cut *cut;
    struct tracks tracks;
    struct tracks_rows rows;
    struct arena arena; /* texts of one lane or slice */
    struct arena_mark mark;
    uint64_t *processes;    /* track of each process */
    VEC_OF(uint64_t) uuids; /* by row of the lane: its track */
    uint64_t counter;       /* track of the series at hand */
};

/* Where the times lie in real time, when that is known. */
static void put_clock(struct perfetto_writer *w)
{
    const struct clock *clock = &w->cut->cap->clock;
    nanos at = w->cut->span.begin, unix_at = nanos_add(at, clock->to_unix);

    if (clock->has_unix && unix_at >= 0)
        perfetto_clock(&w->pen, at, unix_at);
}

static void put_processes(struct perfetto_writer *w)
{
    size_t n = w->tracks.processes.n;

    w->processes = ARENA_ARRAY(&w->tracks.arena, uint64_t, n);
    for (size_t i = 0; i < n; i++)
        w->processes[i] = perfetto_process(&w->pen, w->tracks.processes.at[i].name,
                                           w->tracks.processes.at[i].pid);
}

static void add_row(void *ctx, lane_id lane, size_t row)
{
    struct perfetto_writer *w = ctx;
    const struct tracks_lane *l = &w->tracks.lanes[lane];
    const struct tracks_process *p = &w->tracks.processes.at[l->process];

    if (row == 0) {
        arena_rewind(&w->arena, w->mark);
        w->uuids.n = 0;
    }
    struct perfetto_row r = {
        .parent = row == 0 ? w->processes[l->process] : w->uuids.at[0],
        .name = tracks_row_name(&w->tracks, lane, row, &w->arena),
        .lane = lane,
        .number = row,
        .is_thread = row == 0 && p->is_host,
        .pid = p->pid,
        .tid = l->tid,
    };
    vec_push(&w->uuids, perfetto_row(&w->pen, &r));
}

static void put_end(void *ctx, size_t row, nanos end)
{
    struct perfetto_writer *w = ctx;

    perfetto_end(&w->pen, w->uuids.at[row], end);
}

static void add_note(struct perfetto_writer *w, const struct slice *slice, const struct attr *a)
{
    const struct capture *cap = w->cut->cap;
    struct str key = timeline_key(cap, slice, a->key);

    if (a->type == ATTR_TIME)
        perfetto_note_int(&w->pen, arena_format(&w->arena, "%.*s_ns", STR_ARGS(key)), a->time);
    else if (a->type == ATTR_TEXT)
        perfetto_note_text(&w->pen, key, capture_text(cap, a->text));
    else if (a->type == ATTR_REAL)
        perfetto_note_real(&w->pen, key, a->real);
    else
        perfetto_note_int(&w->pen, key, a->number);
}

static void take_notes(struct perfetto_writer *w, const struct slice *slice)
{
    const struct capture *cap = w->cut->cap;
    const attr_run runs[] = {slice->set, slice->own};
    struct attr a;

    for (size_t r = 0; r < ARRAY_LEN(runs); r++) {
        struct attr_walk walk = attrs_walk(&cap->attrs, runs[r]);
        while (attrs_next(&walk, &a))
            if (timeline_shows(cap, slice, r == 0, &a))
                add_note(w, slice, &a);
    }
}

static void take_arrows(struct perfetto_writer *w, uint32_t slice)
{
    size_t flow;

    while (tracks_arrow_from(&w->tracks, slice, &flow))
        vec_push(&w->pen.from, flow + 1);
    while (tracks_arrow_to(&w->tracks, slice, &flow))
        vec_push(&w->pen.to, flow + 1);
}

static void put_slice(void *ctx, uint32_t number, const struct slice *slice, size_t row, nanos end)
{
    struct perfetto_writer *w = ctx;
    const struct capture *cap = w->cut->cap;
    struct arena_mark mark = arena_mark(&w->arena);

    take_notes(w, slice);
    take_arrows(w, number);
    perfetto_begin(&w->pen, w->uuids.at[row], slice->begin, capture_text(cap, slice->name),
                   timeline_category(cap, slice));
    arena_rewind(&w->arena, mark);
    if (row >= TRACKS_NESTING_ROWS)
        put_end(w, row, end);
}

static void begin_series(void *ctx, size_t id)
{
    struct perfetto_writer *w = ctx;
    const struct capture *cap = w->cut->cap;
    const struct series *series = &cap->series.at[id];

    w->counter = perfetto_counter(&w->pen, w->processes[w->tracks.series[id]],
                                  capture_text(cap, series->name), capture_text(cap, series->unit));
}

static void put_sample(void *ctx, size_t id, const struct sample *s)
{
    struct perfetto_writer *w = ctx;

    (void)id;
    perfetto_sample(&w->pen, w->counter, s->at, s->value);
}

static bool write_perfetto(const struct cut *cut, const struct timeline_options *options,
                           struct sink out)
{
    static const struct tracks_pen pen = {add_row, put_slice, begin_series, put_sample};
    struct perfetto_writer *w = mem_grow(NULL, sizeof(*w), 1);

    memset(w, 0, sizeof(*w));
    perfetto_open(&w->pen, out, cut->span.begin);
    w->cut = cut;
    w->rows.ended = put_end;
    w->rows.ctx = w;
    arena_init(&w->arena);
    w->mark = arena_mark(&w->arena);
    tracks_init(&w->tracks, cut, false);
    put_clock(w);
    put_processes(w);
    bool goes_on = tracks_walk(&w->rows, cut, options, &w->pen.out, &pen, w);
    bool is_done = perfetto_close(&w->pen) && goes_on;
    tracks_fini(&w->tracks);
    tracks_rows_free(&w->rows);
    vec_free(&w->uuids);
    arena_free(&w->arena);
    mem_free(w);
    return is_done;
}

static const char *const endings[] = {".pftrace", ".perfetto-trace", NULL};

const struct timeline_format timeline_perfetto = {
    .name = "perfetto",
    .endings = endings,
    .summary = "Perfetto's binary trace (protobuf)",
    .is_binary = true,
    .write = write_perfetto,
};
