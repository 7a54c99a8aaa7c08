/*
 * A cleaned trace drawn with Perfetto's pen: a track for each row, arrows between its slices.
 */
#include "kernels/incore/incore_open.h"

#include "base/formats/json_read.h"
#include "kernels/incore/drawing.h"
#include "render/timelines/perfetto_pen.h"
#include "render/timelines/tracks.h"

enum { MOST_ARGS = 16 };

struct painting {
    struct perfetto_pen pen;
    const struct incore_study *s;
    struct incore_drawing d;
    struct tracks_rows rows;
    struct arena arena; /* texts of one row or slice */
    size_t next_from, next_to;
    VEC_OF(uint64_t) tracks; /* of the row at hand, and where its slices overlap of more */
};

static void put_end(void *ctx, size_t row, nanos end)
{
    struct painting *p = ctx;

    perfetto_end(&p->pen, p->tracks.at[row], end);
}

static void add_track(struct painting *p, size_t row, uint64_t process)
{
    const struct incore_lanes *lanes = &p->s->lanes;
    struct str name = incore_row_name(&p->s->t, &lanes->drawn.at[lanes->rows[row]], &p->arena);
    size_t n = p->tracks.n;

    if (name.n == 0)
        name = arena_format(&p->arena, "lane %zu", row);
    if (n > 0)
        name = arena_format(&p->arena, "%.*s (%zu)", STR_ARGS(name), n + 1);
    uint64_t track = perfetto_row(&p->pen, &(struct perfetto_row){
                                               .parent = n == 0 ? process : p->tracks.at[0],
                                               .name = str_of(arena_cstr(&p->arena, name)),
                                               .lane = row,
                                               .number = n,
                                           });
    vec_push(&p->tracks, track);
}

static void perfetto_note_args(struct painting *p, const struct incore_instr *in)
{
    struct incore_arg args[MOST_ARGS];
    size_t n = incore_args(&p->s->t, in, args, MOST_ARGS, &p->arena);

    for (size_t i = 0; i < n; i++) {
        struct str key = str_of(arena_cstr(&p->arena, args[i].key));
        if (str_equal(key, S("cat"))) /* a slice has one of its own */
            continue;
        if (args[i].type == INCORE_ARG_TEXT)
            perfetto_note_text(&p->pen, key, str_of(arena_cstr(&p->arena, args[i].text)));
        else if (args[i].type == INCORE_ARG_INT)
            perfetto_note_int(&p->pen, key, args[i].number);
        else
            perfetto_note_real(&p->pen, key, args[i].real);
    }
}

static void perfetto_put_slice(struct painting *p, size_t number, uint64_t process)
{
    const struct incore_slice *slice = &p->d.slices[number];
    const struct incore_instr *in = &p->s->t.instrs.at[slice->instr];
    struct arena_mark mark = arena_mark(&p->arena);
    size_t row = tracks_place(&p->rows, slice->begin, slice->end);
    struct str name = json_text(incore_name(&p->s->t, in), &p->arena);

    if (row == p->tracks.n)
        add_track(p, slice->row, process);
    perfetto_note_args(p, in);
    const struct incore_drawing *d = &p->d;
    for (; p->next_from < d->links_n && d->links[p->next_from].from == number; p->next_from++)
        vec_push(&p->pen.from, p->next_from + 1);
    for (; p->next_to < d->links_n && d->links[d->by_to[p->next_to]].to == number; p->next_to++)
        vec_push(&p->pen.to, d->by_to[p->next_to] + 1);
    perfetto_begin(&p->pen, p->tracks.at[row], slice->begin, str_of(arena_cstr(&p->arena, name)),
                   str_of(slice_kind_name(SLICE_INSTR)), S(""));
    if (row >= TRACKS_NESTING_ROWS)
        put_end(p, row, slice->end);
    arena_rewind(&p->arena, mark);
}

/* The core of a row. */
static struct str core_of(const struct painting *p, size_t row)
{
    const struct incore_trace *t = &p->s->t;
    const struct incore_lanes *lanes = &p->s->lanes;
    struct str core =
        incore_value_text(t, t->groups.at[lanes->drawn.at[lanes->rows[row]].group].pid);

    return core.n > 0 ? core : S("device");
}

static void paint(struct painting *p)
{
    size_t rows = p->s->lanes.rows_n, next = 0;
    uint64_t *processes = ARENA_ARRAY(&p->arena, uint64_t, rows + 1);

    for (size_t i = 0, pid = 0; i < rows; i++)
        processes[i] = i > 0 && str_equal(core_of(p, i - 1), core_of(p, i))
                           ? processes[i - 1]
                           : perfetto_process(&p->pen, str_of(arena_cstr(&p->arena, core_of(p, i))),
                                              (int64_t)++pid, S(""));
    for (size_t i = 0; i < rows; i++) {
        for (p->tracks.n = 0; next < p->d.slices_n && p->d.slices[next].row == i; next++)
            perfetto_put_slice(p, next, processes[i]);
        tracks_next_lane(&p->rows);
    }
}

bool incore_perfetto_write(const struct incore_study *s, struct sink out)
{
    struct painting *p = mem_grow(NULL, sizeof(*p), 1);
    nanos first = 0;

    memset(p, 0, sizeof(*p));
    p->s = s;
    p->rows.ended = put_end;
    p->rows.ctx = p;
    arena_init(&p->arena);
    incore_drawing_build(&p->d, &s->t, &s->lanes, &s->arrows);
    for (size_t i = 0; i < p->d.slices_n; i++)
        first = p->d.slices[i].begin < first ? p->d.slices[i].begin : first;
    perfetto_open(&p->pen, out, first);
    paint(p);
    bool is_done = perfetto_close(&p->pen);
    incore_drawing_free(&p->d);
    tracks_rows_free(&p->rows);
    vec_free(&p->tracks);
    arena_free(&p->arena);
    mem_free(p);
    return is_done;
}
