#include "incore/view.h"

#include <math.h>
#include <stdlib.h>

#include "base/intern.h"

enum { MOST_STRIPS = 512 };

/* Two or three texts as one key; lengths keep them apart. */
static strid key_of(struct intern *keys, struct arena *arena, struct str a, struct str b,
                    struct str c)
{
    struct arena_mark mark = arena_mark(arena);
    struct str text = arena_format(arena, "%zu %zu %.*s%.*s%.*s", a.n, b.n, STR_ARGS(a),
                                   STR_ARGS(b), STR_ARGS(c));
    strid id = intern_put(keys, text);

    arena_rewind(arena, mark);
    return id;
}

static struct str name_of(const struct incore_trace *t, const struct incore_instr *in)
{
    struct str raw = incore_part_text(t, in, in->name);

    return raw.n >= 2 && *raw.at == '"' ? str_part(raw, 1, raw.n - 2) : raw;
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
    struct intern keys;
    struct hash places = {0};

    intern_init(&keys);
    for (size_t i = 0; i < t->instrs.n; i++) {
        const struct incore_instr *in = &t->instrs.at[i];
        struct str pipe = incore_value_text(t, t->groups.at[in->group].tid), name = name_of(t, in);
        strid key = key_of(&keys, &v->arena, pipe, name, (struct str){0});
        uint32_t place = hash_add(&places, key, (uint32_t)v->tops.n);
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
    hash_free(&places);
    intern_fini(&keys);
}

static void add_stalls(struct incore_view *v, const struct incore_trace *t)
{
    struct intern keys;
    struct hash places = {0};

    intern_init(&keys);
    for (size_t i = 0; i < t->waits.n; i++) {
        const struct incore_flag *wait = &t->waits.at[i];
        struct incore_detail d = incore_detail_read(wait->detail, false);
        struct str id = d.id.at != NULL ? d.id : S("?");
        strid key = key_of(&keys, &v->arena, d.producer_pipe, d.consumer_pipe, id);
        uint32_t place = hash_add(&places, key, (uint32_t)v->stalls.n);
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
    hash_free(&places);
    intern_fini(&keys);
}

static int by_total(const void *a, const void *b)
{
    const struct incore_top *x = a, *y = b;

    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    int order = str_compare(x->pipe, y->pipe);
    return order != 0 ? order : str_compare(x->name, y->name);
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

static void join_tops(struct incore_changes *c, const struct incore_view *a,
                      const struct incore_view *b)
{
    struct intern keys;
    struct hash places = {0};
    struct arena scratch;

    intern_init(&keys);
    arena_init(&scratch);
    for (size_t side = 0; side < 2; side++) {
        const struct incore_view *v = side == 0 ? a : b;
        for (size_t i = 0; i < v->tops.n; i++) {
            const struct incore_top *top = &v->tops.at[i];
            strid key = key_of(&keys, &scratch, top->pipe, top->name, (struct str){0});
            uint32_t place = hash_add(&places, key, (uint32_t)c->tops.n);
            if (place == c->tops.n)
                vec_push(&c->tops, (struct incore_top_change){0});
            *(side == 0 ? &c->tops.at[place].a : &c->tops.at[place].b) = *top;
        }
    }
    if (c->tops.n > 0)
        qsort(c->tops.at, c->tops.n, sizeof(*c->tops.at), by_top_change);
    arena_free(&scratch);
    hash_free(&places);
    intern_fini(&keys);
}

static void join_stalls(struct incore_changes *c, const struct incore_view *a,
                        const struct incore_view *b)
{
    struct intern keys;
    struct hash places = {0};
    struct arena scratch;

    intern_init(&keys);
    arena_init(&scratch);
    for (size_t side = 0; side < 2; side++) {
        const struct incore_view *v = side == 0 ? a : b;
        for (size_t i = 0; i < v->stalls.n; i++) {
            const struct incore_stall *stall = &v->stalls.at[i];
            strid key = key_of(&keys, &scratch, stall->producer, stall->consumer, stall->id);
            uint32_t place = hash_add(&places, key, (uint32_t)c->stalls.n);
            if (place == c->stalls.n)
                vec_push(&c->stalls, (struct incore_stall_change){0});
            *(side == 0 ? &c->stalls.at[place].a : &c->stalls.at[place].b) = *stall;
        }
    }
    if (c->stalls.n > 0)
        qsort(c->stalls.at, c->stalls.n, sizeof(*c->stalls.at), by_stall_change);
    arena_free(&scratch);
    hash_free(&places);
    intern_fini(&keys);
}

void incore_changes_build(struct incore_changes *c, const struct incore_view *a,
                          const struct incore_view *b)
{
    *c = (struct incore_changes){0};
    join_tops(c, a, b);
    join_stalls(c, a, b);
}

void incore_changes_free(struct incore_changes *c)
{
    vec_free(&c->tops);
    vec_free(&c->stalls);
}
