#include "incore/view.h"

#include <math.h>
#include <stdlib.h>

#include "base/intern.h"

enum { MOST_STRIPS = 512 };

/* A place in a list for each pair or triple of texts. */
struct places {
    struct intern keys;
    struct hash by_key;
    struct arena scratch;
};

static void places_begin(struct places *p)
{
    *p = (struct places){0};
    intern_init(&p->keys);
    arena_init(&p->scratch);
}

static void places_end(struct places *p)
{
    arena_free(&p->scratch);
    hash_free(&p->by_key);
    intern_fini(&p->keys);
}

/* Where these texts stand in a list of `n`; `n` itself when they are new. */
static uint32_t place_of(struct places *p, struct str a, struct str b, struct str c, size_t n)
{
    struct arena_mark mark = arena_mark(&p->scratch);
    struct str text = arena_format(&p->scratch, "%zu %zu %.*s%.*s%.*s", a.n, b.n, STR_ARGS(a),
                                   STR_ARGS(b), STR_ARGS(c)); /* lengths keep them apart */
    strid key = intern_put(&p->keys, text);

    arena_rewind(&p->scratch, mark);
    return hash_add(&p->by_key, key, (uint32_t)n);
}

static double length_of(const struct incore_instr *in)
{
    return in->dur > 0 && isfinite(in->dur) && isfinite(in->ts) ? in->dur : 0;
}

/* When each core's first instruction began, by group. */
static double *core_begins(const struct incore_trace *t, struct arena *arena)
{
    double *begins = ARENA_ARRAY(arena, double, t->groups.n + 1);
    struct hash cores = {0};

    for (size_t g = 0; g < t->groups.n; g++)
        begins[g] = HUGE_VAL;
    for (size_t i = 0; i < t->instrs.n; i++) {
        const struct incore_instr *in = &t->instrs.at[i];
        uint32_t first = hash_add(&cores, t->groups.at[in->group].pid, in->group);
        if (in->ts < begins[first])
            begins[first] = in->ts;
    }
    for (size_t g = 0; g < t->groups.n; g++) {
        uint32_t first = (uint32_t)g;
        hash_get(&cores, t->groups.at[g].pid, &first);
        if (first != g)
            begins[g] = begins[first];
    }
    hash_free(&cores);
    return begins;
}

static void add_tops(struct incore_view *v, const struct incore_trace *t)
{
    double *begins = core_begins(t, &v->arena);
    struct places places;

    places_begin(&places);
    for (size_t i = 0; i < t->instrs.n; i++) {
        const struct incore_instr *in = &t->instrs.at[i];
        struct str pipe = incore_value_text(t, t->groups.at[in->group].tid),
                   name = incore_name(t, in);
        uint32_t place = place_of(&places, pipe, name, (struct str){0}, v->tops.n);
        double from = in->ts - begins[in->group], length = length_of(in);
        if (place == v->tops.n)
            vec_push(&v->tops, ((struct incore_top){.pipe = arena_str(&v->arena, pipe),
                                                    .name = arena_str(&v->arena, name),
                                                    .first = from}));
        struct incore_top *top = &v->tops.at[place];
        top->count++;
        incore_tell(t, i);
        top->total += length;
        top->longest = length > top->longest ? length : top->longest;
        top->first = from < top->first ? from : top->first;
    }
    places_end(&places);
}

static void add_stalls(struct incore_view *v, const struct incore_trace *t)
{
    struct places places;

    places_begin(&places);
    for (size_t i = 0; i < t->waits.n; i++) {
        const struct incore_flag *wait = &t->waits.at[i];
        struct incore_detail d = incore_detail_read(wait->detail, false);
        struct str id = d.id.at != NULL ? d.id : S("?");
        uint32_t place = place_of(&places, d.producer_pipe, d.consumer_pipe, id, v->stalls.n);
        double length = wait->end - wait->begin;
        if (!(length > 0) || !isfinite(length))
            length = 0;
        if (place == v->stalls.n)
            vec_push(&v->stalls,
                     ((struct incore_stall){.producer = arena_str(&v->arena, d.producer_pipe),
                                            .consumer = arena_str(&v->arena, d.consumer_pipe),
                                            .id = arena_str(&v->arena, id)}));
        struct incore_stall *stall = &v->stalls.at[place];
        stall->count++;
        stall->total += length;
        stall->longest = length > stall->longest ? length : stall->longest;
    }
    places_end(&places);
}

static int by_total(const void *a, const void *b)
{
    const struct incore_top *x = a, *y = b;

    return ORDER(y->total, x->total) ?: str_compare(x->pipe, y->pipe)
           ?: str_compare(x->name, y->name);
}

static int by_wait(const void *a, const void *b)
{
    const struct incore_stall *x = a, *y = b;
    int order;

    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    if ((order = str_compare(x->producer, y->producer)) != 0 ||
        (order = str_compare(x->consumer, y->consumer)) != 0)
        return order;
    return str_compare(x->id, y->id);
}

static void find_span(struct incore_view *v, const struct incore_trace *t)
{
    v->begin = HUGE_VAL;
    v->end = -HUGE_VAL;
    for (size_t i = 0; i < t->instrs.n; i++) {
        const struct incore_instr *in = &t->instrs.at[i];
        if (!isfinite(in->ts))
            continue;
        v->begin = in->ts < v->begin ? in->ts : v->begin;
        v->end = in->ts + length_of(in) > v->end ? in->ts + length_of(in) : v->end;
    }
    if (!(v->end > v->begin))
        v->begin = v->end = 0;
}

/* Adds the part of [from, to) to the columns it covers, in columns. */
static void cover(double *cells, size_t columns, double from, double to)
{
    from = from > 0 ? from : 0;
    to = to < (double)columns ? to : (double)columns;
    while (from < to) {
        size_t column = (size_t)from;
        double end = (double)(column + 1) < to ? (double)(column + 1) : to;
        cells[column] += end - from;
        from = (double)(column + 1);
    }
}

/* Busy time of a pipe; what overlaps counts once, as instructions come by their begin. */
static void cover_group(double *cells, size_t columns, const struct incore_view *v,
                        const struct incore_trace *t, const struct incore_lanes *lanes,
                        const struct incore_group *g)
{
    double scale = (double)columns / (v->end - v->begin), until = -HUGE_VAL;

    for (uint32_t i = 0; i < g->n; i++) {
        const struct incore_instr *in = &t->instrs.at[lanes->order[g->first + i]];
        double end = in->ts + length_of(in), from = in->ts > until ? in->ts : until;
        if (!(end > from))
            continue;
        cover(cells, columns, (from - v->begin) * scale, (end - v->begin) * scale);
        until = end;
    }
}

static int by_row(const void *a, const void *b)
{
    const struct incore_strip *x = a, *y = b;
    int order = str_compare(x->core, y->core);
    uint32_t p = incore_pipe_index(x->pipe), q = incore_pipe_index(y->pipe);

    if (order != 0)
        return order;
    return p != q ? (p < q ? -1 : 1) : str_compare(x->pipe, y->pipe);
}

static void add_strips(struct incore_view *v, const struct incore_trace *t,
                       const struct incore_lanes *lanes, size_t columns)
{
    size_t rows = t->groups.n < MOST_STRIPS ? t->groups.n : MOST_STRIPS;
    double *busy = ARENA_ARRAY(&v->arena, double, columns + 1);
    double *waits = ARENA_ARRAY(&v->arena, double, rows *columns + 1);
    double scale = (double)columns / (v->end - v->begin);

    for (size_t i = 0; i < t->waits.n; i++) {
        const struct incore_flag *wait = &t->waits.at[i];
        struct str pipe = incore_value_text(t, wait->tid);
        uint32_t group =
            incore_group_find(t, wait->pid, str_equal(pipe, S("FIXP")) ? S("FIXPIPE") : pipe);
        if (group < rows && isfinite(wait->begin) && isfinite(wait->end))
            cover(waits + group * columns, columns, (wait->begin - v->begin) * scale,
                  (wait->end - v->begin) * scale);
    }
    for (size_t g = 0; g < rows; g++) {
        struct incore_strip strip = {.core = incore_value_text(t, t->groups.at[g].pid),
                                     .pipe = incore_value_text(t, t->groups.at[g].tid)};
        memset(busy, 0, columns * sizeof(*busy));
        cover_group(busy, columns, v, t, lanes, &t->groups.at[g]);
        strip.core = arena_str(&v->arena, strip.core);
        strip.pipe = arena_str(&v->arena, strip.pipe);
        strip.cells = arena_alloc(&v->arena, columns + 1);
        for (size_t c = 0; c < columns; c++)
            strip.cells[c] = busy[c] >= 0.5                     ? '#'
                             : waits[g * columns + c] > busy[c] ? 'w'
                             : busy[c] > 0                      ? '+'
                                                                : '.';
        vec_push(&v->strips, strip);
    }
    if (v->strips.n > 0)
        qsort(v->strips.at, v->strips.n, sizeof(*v->strips.at), by_row);
}

void incore_view_build(struct incore_view *v, const struct incore_trace *t,
                       const struct incore_lanes *lanes, size_t columns)
{
    *v = (struct incore_view){0};
    arena_init(&v->arena);
    find_span(v, t);
    add_tops(v, t);
    add_stalls(v, t);
    if (v->tops.n > 0)
        qsort(v->tops.at, v->tops.n, sizeof(*v->tops.at), by_total);
    if (v->stalls.n > 0)
        qsort(v->stalls.at, v->stalls.n, sizeof(*v->stalls.at), by_wait);
    if (columns > 0 && v->end > v->begin)
        add_strips(v, t, lanes, columns);
}

void incore_view_free(struct incore_view *v)
{
    vec_free(&v->tops);
    vec_free(&v->stalls);
    vec_free(&v->strips);
    arena_free(&v->arena);
}

void incore_timeline_json(const struct incore_view *v, struct json_writer *w)
{
    json_put_array(w, "timeline");
    for (size_t i = 0; i < v->strips.n; i++) {
        json_write_object(w);
        json_put_str(w, "core", v->strips.at[i].core);
        json_put_str(w, "pipe", v->strips.at[i].pipe);
        json_put_text(w, "cells", v->strips.at[i].cells);
        json_write_end(w);
    }
    json_write_end(w);
}

static int by_top_change(const void *a, const void *b)
{
    const struct incore_top_change *x = a, *y = b;
    double p = fabs(x->b.total - x->a.total), q = fabs(y->b.total - y->a.total);

    if (p != q)
        return p > q ? -1 : 1;
    const struct incore_top *m = x->a.count > 0 ? &x->a : &x->b;
    const struct incore_top *n = y->a.count > 0 ? &y->a : &y->b;
    int order = str_compare(m->pipe, n->pipe);
    return order != 0 ? order : str_compare(m->name, n->name);
}

static int by_stall_change(const void *a, const void *b)
{
    const struct incore_stall_change *x = a, *y = b;
    double p = fabs(x->b.total - x->a.total), q = fabs(y->b.total - y->a.total);

    if (p != q)
        return p > q ? -1 : 1;
    const struct incore_stall *m = x->a.count > 0 ? &x->a : &x->b;
    const struct incore_stall *n = y->a.count > 0 ? &y->a : &y->b;
    int order = str_compare(m->producer, n->producer);
    if (order == 0)
        order = str_compare(m->consumer, n->consumer);
    return order != 0 ? order : str_compare(m->id, n->id);
}

static void join_tops(struct incore_changes *c, struct places *p, const struct incore_view *v,
                      bool is_first)
{
    for (size_t i = 0; i < v->tops.n; i++) {
        const struct incore_top *top = &v->tops.at[i];
        uint32_t place = place_of(p, top->pipe, top->name, (struct str){0}, c->tops.n);
        if (place == c->tops.n)
            vec_push(&c->tops, (struct incore_top_change){0});
        *(is_first ? &c->tops.at[place].a : &c->tops.at[place].b) = *top;
    }
}

static void join_stalls(struct incore_changes *c, struct places *p, const struct incore_view *v,
                        bool is_first)
{
    for (size_t i = 0; i < v->stalls.n; i++) {
        const struct incore_stall *stall = &v->stalls.at[i];
        uint32_t place = place_of(p, stall->producer, stall->consumer, stall->id, c->stalls.n);
        if (place == c->stalls.n)
            vec_push(&c->stalls, (struct incore_stall_change){0});
        *(is_first ? &c->stalls.at[place].a : &c->stalls.at[place].b) = *stall;
    }
}

void incore_changes_build(struct incore_changes *c, const struct incore_view *a,
                          const struct incore_view *b)
{
    struct places tops, stalls;

    *c = (struct incore_changes){0};
    places_begin(&tops);
    places_begin(&stalls);
    join_tops(c, &tops, a, true);
    join_tops(c, &tops, b, false);
    join_stalls(c, &stalls, a, true);
    join_stalls(c, &stalls, b, false);
    if (c->tops.n > 0)
        qsort(c->tops.at, c->tops.n, sizeof(*c->tops.at), by_top_change);
    if (c->stalls.n > 0)
        qsort(c->stalls.at, c->stalls.n, sizeof(*c->stalls.at), by_stall_change);
    places_end(&tops);
    places_end(&stalls);
}

void incore_changes_free(struct incore_changes *c)
{
    vec_free(&c->tops);
    vec_free(&c->stalls);
}
