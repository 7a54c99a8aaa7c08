/*
 * The walk over a cut that timeline formats share. It is cheap: it finds rows and numbers them.
 * What it meets becomes batches of marks, which are drawn, and packed, side by side and written in
 * order.
 */
#include "base/run/pool.h"
#include "render/timelines/tracks.h"

#include <math.h>

enum { BATCH = 4096 }; /* marks, about 1 MB of text */

struct draw_slot {
    VEC_OF(struct tracks_mark) marks;
    struct text text;
    struct gz_pack pack;
    struct gz_block block;
    void *worker;
};

struct track_drawing {
    const struct tracks_job *job;
    struct draw_slot *slots;
    uint64_t bytes;
    bool goes_on;

    /* The walk. */
    struct tracks_rows rows;
    VEC_OF(int64_t) ids; /* by row of the lane: its number */
    struct draw_slot *to;
    size_t next; /* slice of the lane, or sample */
    lane_id lane;
    size_t series;
};

static void draw_add(struct track_drawing *d, struct tracks_mark mark)
{
    vec_push(&d->to->marks, mark);
}

static void add_end(void *ctx, size_t row, nanos end)
{
    struct track_drawing *d = ctx;

    draw_add(d, (struct tracks_mark){.what = TRACKS_END, .id = d->ids.at[row], .end = end});
}

static void draw_add_slice(struct track_drawing *d, size_t i)
{
    struct slice slice = cut_slice(d->job->cut, i);
    nanos end = nanos_add(slice.begin, slice.dur);
    size_t row = tracks_place(&d->rows, slice.begin, end);

    if (row == d->ids.n) {
        vec_push(&d->ids, d->job->pen->number_row(d->job->ctx, d->lane, row));
        draw_add(d, (struct tracks_mark){.what = TRACKS_ROW,
                                         .number = d->lane,
                                         .row = row,
                                         .id = d->ids.at[row],
                                         .first = d->ids.at[0]});
    }
    draw_add(d, (struct tracks_mark){.what = TRACKS_SLICE,
                                     .number = (uint32_t)i,
                                     .row = row,
                                     .id = d->ids.at[row],
                                     .end = end});
    if (d->job->pen->has_ends && row >= TRACKS_NESTING_ROWS)
        add_end(d, row, end);
}

/* Goes on with a lane; false when the batch is full before its end. */
static bool walk_lane(struct track_drawing *d)
{
    const struct lane *lane = &d->job->cut->cap->lanes.at[d->lane];

    for (; d->next < lane->n; d->next++) {
        if (d->to->marks.n >= BATCH)
            return false;
        if (cut_has(d->job->cut, lane->first + d->next))
            draw_add_slice(d, lane->first + d->next);
    }
    tracks_next_lane(&d->rows);
    d->ids.n = 0;
    d->next = 0;
    return true;
}

/* Goes on with a series; false when the batch is full before its end. */
static bool walk_series(struct track_drawing *d)
{
    const struct series *series = &d->job->cut->cap->series.at[d->series];

    if (d->next == 0) {
        const struct tracks_pen *pen = d->job->pen;
        d->ids.n = 0;
        vec_push(&d->ids,
                 pen->number_series != NULL ? pen->number_series(d->job->ctx, d->series) : 0);
        if (pen->number_series != NULL)
            draw_add(d, (struct tracks_mark){.what = TRACKS_SERIES,
                                             .number = (uint32_t)d->series,
                                             .id = d->ids.at[0]});
    }
    for (; d->next < series->samples.n; d->next++) {
        const struct sample *s = &series->samples.at[d->next];
        if (d->to->marks.n >= BATCH && d->next > 0)
            return false;
        if (cut_has_sample(d->job->cut, s->at) && isfinite(s->value))
            draw_add(d, (struct tracks_mark){.what = TRACKS_SAMPLE,
                                             .number = (uint32_t)d->series,
                                             .row = d->next,
                                             .id = d->ids.at[0]});
    }
    d->next = 0;
    return true;
}

static bool next_batch(void *ctx, size_t slot)
{
    struct track_drawing *d = ctx;
    const struct cut *cut = d->job->cut;

    d->to = &d->slots[slot];
    d->to->marks.n = 0;
    for (; d->lane < cut->cap->lanes.n; d->lane++)
        if (cut->lanes[d->lane] && !walk_lane(d))
            return true;
    for (; d->series < cut->cap->series.n; d->series++)
        if (cut->series[d->series] && !walk_series(d))
            return true;
    return d->to->marks.n > 0;
}

static void work_batch(void *ctx, size_t slot)
{
    struct track_drawing *d = ctx;
    struct draw_slot *s = &d->slots[slot];

    s->text.n = 0;
    for (size_t i = 0; i < s->marks.n; i++)
        d->job->pen->draw(s->worker, &s->marks.at[i]);
    d->job->pen->flush(s->worker);
    if (d->job->gz != NULL)
        gz_pack(&s->pack, text_view(&s->text), &s->block);
}

static bool merge_batch(void *ctx, size_t slot)
{
    struct track_drawing *d = ctx;
    struct draw_slot *s = &d->slots[slot];

    d->bytes += s->text.n;
    d->goes_on = (d->job->gz != NULL ? gz_write_block(d->job->gz, &s->block)
                                     : d->job->out.write(d->job->out.ctx, text_view(&s->text))) &&
                 timeline_goes_on(d->job->options, d->bytes);
    return d->goes_on;
}

bool tracks_draw(const struct tracks_job *job)
{
    static const struct pool_pipe pipe = {next_batch, work_batch, merge_batch};
    size_t width = pool_width(job->options->pool), n = width > 1 ? width + 2 : 1;
    struct track_drawing d = {.job = job, .goes_on = true};

    d.slots = mem_grow(NULL, sizeof(*d.slots), n);
    memset(d.slots, 0, sizeof(*d.slots) * n);
    d.rows.ended = job->pen->has_ends ? add_end : NULL;
    d.rows.ctx = &d;
    for (size_t i = 0; i < n; i++) {
        d.slots[i].worker = job->pen->begin(job->ctx, text_sink(&d.slots[i].text));
        if (job->gz != NULL)
            gz_pack_init(&d.slots[i].pack);
    }
    pool_pipe(job->options->pool, n, &pipe, &d);
    for (size_t i = 0; i < n; i++) {
        job->pen->end(d.slots[i].worker);
        if (job->gz != NULL)
            gz_pack_fini(&d.slots[i].pack);
        vec_free(&d.slots[i].block.packed);
        vec_free(&d.slots[i].text);
        vec_free(&d.slots[i].marks);
    }
    mem_free(d.slots);
    vec_free(&d.ids);
    tracks_rows_free(&d.rows);
    return d.goes_on;
}
