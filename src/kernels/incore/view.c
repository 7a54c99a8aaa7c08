/*
 * Sums, strips and differences of traces of one kernel.
 */
#include "kernels/incore/view.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/tables/intern.h"

enum { MOST_STRIPS = 512 };

/* A place in a list for each triple of texts: interned texts are numbered from 1 in turn. */
struct places {
    struct intern keys;
    struct arena scratch;
};

static void places_begin(struct places *p)
{
    intern_init(&p->keys);
    arena_init(&p->scratch);
}

static void places_end(struct places *p)
{
    arena_free(&p->scratch);
    intern_fini(&p->keys);
}

/* Where these texts stand in their list; its length when they are new. */
static uint32_t place_of(struct places *p, const struct str *key)
{
    struct arena_mark mark = arena_mark(&p->scratch);
    struct str text = /* lengths keep them apart */
        arena_format(&p->scratch, "%zu %zu %.*s%.*s%.*s", key[0].n, key[1].n, STR_ARGS(key[0]),
                     STR_ARGS(key[1]), STR_ARGS(key[2]));
    strid id = intern_put(&p->keys, text);

    arena_rewind(&p->scratch, mark);
    return id - 1;
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

static int by_key(const struct str *a, const struct str *b)
{
    return str_compare(a[0], b[0]) ?: str_compare(a[1], b[1]) ?: str_compare(a[2], b[2]);
}

/* Adds one run to the sum of its key. */
static void view_add(struct incore_view *v, struct incore_sums *sums, struct places *places,
                     struct incore_sum one)
{
    uint32_t place = place_of(places, one.key);

    if (place == sums->n) {
        for (size_t i = 0; i < ARRAY_LEN(one.key); i++)
            one.key[i] = arena_str(&v->arena, one.key[i]);
        vec_push(sums, one);
        return;
    }
    struct incore_sum *sum = &sums->at[place];
    sum->count++;
    sum->total += one.total;
    sum->longest = one.longest > sum->longest ? one.longest : sum->longest;
    sum->first = one.first < sum->first ? one.first : sum->first;
}

static void add_tops(struct incore_view *v, const struct incore_trace *t)
{
    double *begins = core_begins(t, &v->arena);
    struct places places;

    places_begin(&places);
    for (size_t i = 0; i < t->instrs.n; i++) {
        const struct incore_instr *in = &t->instrs.at[i];
        double length = length_of(in);
        incore_watch_tick(t, i);
        view_add(v, &v->tops, &places,
                 (struct incore_sum){
                     .key = {incore_value_text(t, t->groups.at[in->group].tid), incore_name(t, in)},
                     .count = 1,
                     .total = length,
                     .longest = length,
                     .first = in->ts - begins[in->group],
                 });
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
        double length = wait->end - wait->begin;
        if (!(length > 0) || !isfinite(length))
            length = 0;
        view_add(v, &v->stalls, &places,
                 (struct incore_sum){
                     .key = {d.producer_pipe, d.consumer_pipe, d.id.at != NULL ? d.id : S("?")},
                     .count = 1,
                     .total = length,
                     .longest = length,
                 });
    }
    places_end(&places);
}

ORDER_BY(by_total, struct incore_sum, ORDER(y->total, x->total) ?: by_key(x->key, y->key));

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

ORDER_BY(by_row, struct incore_strip,
         str_compare(x->core, y->core)
         ?: ORDER(incore_pipe_index(x->pipe), incore_pipe_index(y->pipe))
         ?: str_compare(x->pipe, y->pipe));

/* A cell shows the pipe from half its time busy on, else whichever of waiting and busy is more.
 * Flags name the fix pipe FIXP, instructions FIXPIPE. */
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
    *v = (struct incore_view){.begin = HUGE_VAL, .end = -HUGE_VAL};
    arena_init(&v->arena);
    for (size_t i = 0; i < t->instrs.n; i++) {
        const struct incore_instr *in = &t->instrs.at[i];
        if (!isfinite(in->ts))
            continue;
        v->begin = in->ts < v->begin ? in->ts : v->begin;
        v->end = in->ts + length_of(in) > v->end ? in->ts + length_of(in) : v->end;
    }
    if (!(v->end > v->begin))
        v->begin = v->end = 0;
    add_tops(v, t);
    add_stalls(v, t);
    if (v->tops.n > 0)
        qsort(v->tops.at, v->tops.n, sizeof(*v->tops.at), by_total);
    if (v->stalls.n > 0)
        qsort(v->stalls.at, v->stalls.n, sizeof(*v->stalls.at), by_total);
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

/* ---- changes ---- */

static int by_change(const void *a, const void *b)
{
    const struct incore_change *x = a, *y = b;
    double p = fabs(x->total[1] - x->total[0]), q = fabs(y->total[1] - y->total[0]);

    return ORDER(q, p) ?: by_key(x->key, y->key);
}

/* What differs between two lists of sums. */
static void view_compare(struct incore_change_list *out, const struct incore_sums *a,
                         const struct incore_sums *b)
{
    const struct incore_sums *sides[] = {a, b};
    struct places places;
    size_t kept = 0;

    places_begin(&places);
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < sides[side]->n; i++) {
            const struct incore_sum *sum = &sides[side]->at[i];
            uint32_t place = place_of(&places, sum->key);
            if (place == out->n)
                vec_push(out,
                         ((struct incore_change){.key = {sum->key[0], sum->key[1], sum->key[2]}}));
            out->at[place].count[side] = sum->count;
            out->at[place].total[side] = sum->total;
            out->at[place].first[side] = sum->first;
        }
    places_end(&places);
    for (size_t i = 0; i < out->n; i++) {
        struct incore_change *c = &out->at[i];
        c->moved = c->count[0] > 0 && c->count[1] > 0 ? c->first[1] - c->first[0] : NAN;
        if (c->count[0] != c->count[1] || c->total[0] != c->total[1] || c->first[0] != c->first[1])
            out->at[kept++] = *c;
    }
    out->n = kept;
    if (kept > 0)
        qsort(out->at, kept, sizeof(*out->at), by_change);
}

void incore_changes_build(struct incore_changes *c, const struct incore_side *a,
                          const struct incore_side *b)
{
    const struct incore_side *sides[] = {a, b};

    *c = (struct incore_changes){0};
    for (size_t side = 0; side < 2; side++) {
        const struct incore_breakdown *from = sides[side]->breakdown;
        c->span[side] = sides[side]->view->end - sides[side]->view->begin;
        c->verdict[side] = from->verdict;
        for (size_t i = 0; i < from->totals.n; i++) {
            struct str name = from->totals.at[i].pipe;
            size_t at = 0;
            while (at < c->pipes.n && !str_equal(c->pipes.at[at].pipe, name))
                at++;
            if (at == c->pipes.n)
                vec_push(&c->pipes, ((struct incore_pipe_change){.pipe = name}));
            struct incore_pipe_change *pipe = &c->pipes.at[at];
            pipe->busy[side] = from->totals.at[i].busy_cycles;
            pipe->wait[side] = from->totals.at[i].wait_cycles;
        }
    }
    view_compare(&c->tops, &a->view->tops, &b->view->tops);
    view_compare(&c->stalls, &a->view->stalls, &b->view->stalls);
    c->is_same = c->span[0] == c->span[1] && c->tops.n == 0 && c->stalls.n == 0;
}

void incore_changes_free(struct incore_changes *c)
{
    vec_free(&c->pipes);
    vec_free(&c->tops);
    vec_free(&c->stalls);
}

/* ---- as records ---- */

static const struct field sum_fields[] = {
    FIELD(struct incore_sum, count, "count", .head = "count"),
    FIELD(struct incore_sum, total, "total_us", .head = "total us", .unit = UNIT_PLAIN),
    FIELD(struct incore_sum, longest, "longest_us", .head = "longest us", .unit = UNIT_PLAIN),
};
static const struct record sum_record = RECORD(struct incore_sum, sum_fields);

static const struct field top_fields[] = {
    FIELD(struct incore_sum, key[0], "pipe", .head = "pipe"),
    FIELD(struct incore_sum, key[1], "name", .head = "instruction"),
    FIELD_ALSO(&sum_record),
};
const struct record incore_top_record = RECORD(struct incore_sum, top_fields);

static const struct field stall_fields[] = {
    FIELD(struct incore_sum, key[1], "consumer", .head = "waits"),
    FIELD(struct incore_sum, key[0], "producer", .head = "for"),
    FIELD(struct incore_sum, key[2], "flag", .head = "flag", .is_right = true),
    FIELD_ALSO(&sum_record),
};
const struct record incore_stall_record = RECORD(struct incore_sum, stall_fields);

static const struct field strip_fields[] = {
    FIELD(struct incore_strip, core, "core", .head = "core"),
    FIELD(struct incore_strip, pipe, "pipe", .head = "pipe"),
    FIELD(struct incore_strip, cells, "cells", .head = "time"),
};
const struct record incore_strip_record = RECORD(struct incore_strip, strip_fields);

/* "+12", "-3"; as much as before is a zero without a sign. */
static struct field_value view_change_of(const void *record, const char *what,
                                         const struct record_env *env)
{
    const struct incore_pipe_change *c = record;
    const uint64_t *of = strcmp(what, "busy") == 0 ? c->busy : c->wait;
    int64_t change = (int64_t)(of[1] - of[0]);

    return value_text(arena_format(env->arena, change != 0 ? "%+" PRId64 : "%" PRId64, change));
}

static const struct field pipe_fields[] = {
    FIELD(struct incore_pipe_change, pipe, "pipe", .head = "pipe"),
    FIELD(struct incore_pipe_change, busy[0], "busy_cycles_a", .head = "busy A"),
    FIELD(struct incore_pipe_change, busy[1], "busy_cycles_b", .head = "busy B"),
    FIELD_LOOKED_UP(FIELD_STR, NULL, view_change_of, "busy", .head = "change", .is_right = true),
    FIELD(struct incore_pipe_change, wait[0], "wait_cycles_a", .head = "wait A"),
    FIELD(struct incore_pipe_change, wait[1], "wait_cycles_b", .head = "wait B"),
    FIELD_LOOKED_UP(FIELD_STR, NULL, view_change_of, "wait", .head = "change", .is_right = true),
};
const struct record incore_pipe_change_record = RECORD(struct incore_pipe_change, pipe_fields);

/* What is only on one side; else empty. */
static struct field_value one_sided(const void *record, const struct record_env *env)
{
    const struct incore_change *c = record;

    (void)env;
    return value_text(c->count[0] == 0 ? S("new") : c->count[1] == 0 ? S("gone") : S(""));
}

static struct field_value moved_of(const void *record, const struct record_env *env)
{
    struct field_value only = one_sided(record, env);

    return only.text.n > 0
               ? only
               : value_text(arena_format(env->arena, "%+.3f",
                                         ((const struct incore_change *)record)->moved));
}

static const struct field counts_fields[] = {
    FIELD(struct incore_change, count[0], "count_a", .head = "count A"),
    FIELD(struct incore_change, count[1], "count_b", .head = "count B"),
    FIELD(struct incore_change, total[0], "total_us_a", .head = "us A", .unit = UNIT_PLAIN),
    FIELD(struct incore_change, total[1], "total_us_b", .head = "us B", .unit = UNIT_PLAIN),
};
static const struct record counts_record = RECORD(struct incore_change, counts_fields);

static const struct field top_change_fields[] = {
    FIELD(struct incore_change, key[0], "pipe", .head = "pipe"),
    FIELD(struct incore_change, key[1], "name", .head = "instruction"),
    FIELD_ALSO(&counts_record),
    FIELD(struct incore_change, moved, "moved_us"),
    FIELD_CALC(FIELD_STR, NULL, moved_of, .head = "moved us", .is_right = true),
};
const struct record incore_top_change_record = RECORD(struct incore_change, top_change_fields);

static const struct field stall_change_fields[] = {
    FIELD(struct incore_change, key[1], "consumer", .head = "waits"),
    FIELD(struct incore_change, key[0], "producer", .head = "for"),
    FIELD(struct incore_change, key[2], "flag", .head = "flag", .is_right = true),
    FIELD_ALSO(&counts_record),
    FIELD_CALC(FIELD_STR, NULL, one_sided, .head = ""),
};
const struct record incore_stall_change_record = RECORD(struct incore_change, stall_change_fields);

static const struct field changes_fields[] = {
    FIELD(struct incore_changes, span[0], "span_us_a"),
    FIELD(struct incore_changes, span[1], "span_us_b"),
    FIELD(struct incore_changes, verdict[0], "verdict_a"),
    FIELD(struct incore_changes, verdict[1], "verdict_b"),
    FIELD(struct incore_changes, is_same, "same"),
    FIELD_LIST(struct incore_changes, pipes.at, pipes.n, "pipes", &incore_pipe_change_record),
    FIELD_LIST(struct incore_changes, tops.at, tops.n, "instructions", &incore_top_change_record),
    FIELD_LIST(struct incore_changes, stalls.at, stalls.n, "waits", &incore_stall_change_record),
};
static const struct record changes_record = RECORD(struct incore_changes, changes_fields);

const struct schema incore_changes_schema = {
    .name = "strata.incore-diff/1",
    .title = "changes between two runs of one kernel",
    .record = &changes_record,
};
