/*
 * Bundles of short slices.
 */
#include "page/page_set.h"

#include "base/run/pool.h"

enum { LADDER = 20, FIRST_ITEMS = 8 };

static const nanos ladder[LADDER] = {
    1000,  1500,  2000,   3000,   5000,   7000,    10000,   15000,    20000,     30000,
    50000, 70000, 100000, 200000, 500000, 1000000, 3000000, 10000000, 100000000, 1000000000};

/* The last slice of a row. */
struct row_end {
    nanos end, dur;
    nanos parents; /* what joins the slices around that came since, into one item */
    uint32_t item; /* UINT32_MAX: the row is empty */
};

/* Slices that hold each other. */
struct nest {
    VEC_OF(nanos) stack; /* ends of slices that have not ended */
    VEC_OF(struct row_end) rows;
};

struct thinner {
    const struct page_set *set;
    enum lane_kind lane;
    nanos q;
    bool drops_python;
    struct nest nest;
    enum page_lane_part part;
    struct page_items *out; /* NULL: counted only */
    nanos *longest;         /* of each item of `out` */
    uint32_t *item_of;      /* by slice */
    size_t *joined;         /* slices that each step of the ladder is the first to merge */
    uint32_t n;
    nanos busy, busy_to;
};

static enum page_thin_class thin_class_of(const struct page_set *set, const struct page_lane *lane)
{
    enum page_group_kind kind = set->groups.at[lane->group].kind;

    return kind == GROUP_HOST ? THIN_HOST : kind <= GROUP_PIPES ? THIN_DEVICE : THIN_COMM;
}

/* The mix of the last item, which has one from now on. */
static struct page_mix *mix_of_last(struct thinner *t, uint32_t item)
{
    struct page_items *out = t->out;

    for (size_t i = out->mixes.n; i > 0 && out->mixes.at[i - 1].item >= item; i--)
        if (out->mixes.at[i - 1].item == item)
            return &out->mixes.at[i - 1];
    struct page_mix mix = {.item = item};
    mix.by[t->set->whats.at[out->what[item]].family] = out->dur[item] - out->slack[item];
    vec_push(&out->mixes, mix);
    for (size_t i = out->mixes.n - 1; i > 0 && out->mixes.at[i - 1].item > item; i--) {
        out->mixes.at[i] = out->mixes.at[i - 1];
        out->mixes.at[i - 1] = mix;
    }
    return mix_of_last(t, item);
}

/* The item grows to the slice's end; growth in which nothing was busy is slack. It has the name
 * of its longest slice. */
static void merge(struct thinner *t, uint32_t item, size_t slice, nanos begin, nanos dur)
{
    struct page_items *out = t->out;
    const struct page_what *whats = t->set->whats.at;
    uint32_t what = t->set->what[slice];
    bool was_mixed = out->mixes.n > 0 && out->more[item] > 0;
    nanos busy = page_is_busy(t->lane, whats[what].kind) ? dur : 0;
    nanos end = begin + dur, length = end - out->begin[item];

    if (whats[what].family != whats[out->what[item]].family || was_mixed)
        mix_of_last(t, item)->by[whats[what].family] += busy;
    length = length > out->dur[item] ? length : out->dur[item];
    out->slack[item] += length - out->dur[item] - busy;
    out->dur[item] = length;
    out->more[item]++;
    if (dur > t->longest[item]) {
        t->longest[item] = dur;
        out->what[item] = what;
    }
}

static void add_item(struct thinner *t, size_t slice, nanos begin, nanos dur)
{
    struct page_items *out = t->out;
    uint32_t what = t->set->what[slice];

    if (out->n == out->cap) {
        out->cap = out->cap > 0 ? out->cap * 2 : FIRST_ITEMS;
        out->begin = mem_grow(out->begin, sizeof(*out->begin), out->cap);
        out->dur = mem_grow(out->dur, sizeof(*out->dur), out->cap);
        out->what = mem_grow(out->what, sizeof(*out->what), out->cap);
        out->step = mem_grow(out->step, sizeof(*out->step), out->cap);
        out->more = mem_grow(out->more, sizeof(*out->more), out->cap);
        out->slack = mem_grow(out->slack, sizeof(*out->slack), out->cap);
        t->longest = mem_grow(t->longest, sizeof(*t->longest), out->cap);
    }
    out->begin[out->n] = begin;
    out->dur[out->n] = dur;
    out->what[out->n] = what;
    out->step[out->n] = t->set->step[slice];
    out->more[out->n] = 0;
    out->slack[out->n] = page_is_busy(t->lane, t->set->whats.at[what].kind) ? 0 : dur;
    t->longest[out->n++] = dur;
}

/* A slice is merged with the one before it in its row when q is above this. */
static nanos need_of(const struct row_end *row, nanos begin, nanos dur)
{
    if (row->item == UINT32_MAX)
        return INT64_MAX;
    nanos need = begin - row->end;
    need = need > dur ? need : dur;
    need = need > row->dur ? need : row->dur;
    return need > row->parents ? need : row->parents;
}

/* The item that a slice becomes, or becomes part of. */
static uint32_t thin_place(struct thinner *t, struct nest *nest, size_t slice, nanos begin,
                           nanos dur)
{
    bool is_pipe = t->lane == LANE_PIPE;
    size_t depth = is_pipe ? 0 : nest->stack.n;
    uint32_t item = t->n;

    /* Instructions of a pipe overlap without one holding the other: the first row that is free. */
    while (is_pipe && depth < nest->rows.n && nest->rows.at[depth].end > begin)
        depth++;
    while (nest->rows.n < depth + 2)
        vec_push(&nest->rows, ((struct row_end){.item = UINT32_MAX}));
    struct row_end *row = &nest->rows.at[depth], *below = row + 1;
    nanos need = need_of(row, begin, dur);
    if (t->joined != NULL) {
        size_t step;
        vec_bisect(step, LADDER, i, ladder[i] <= need);
        t->joined[step]++;
    }
    if (need < t->q) {
        item = row->item;
        if (t->out != NULL)
            merge(t, item, slice, begin, dur);
    } else {
        t->n++;
        if (t->out != NULL)
            add_item(t, slice, begin, dur);
    }
    *row = (struct row_end){.end = begin + dur, .dur = dur, .item = item};
    below->parents = !is_pipe && below->parents < need ? need : below->parents;
    if (!is_pipe)
        vec_push(&nest->stack, begin + dur);
    return item;
}

/* Slices come by begin, so busy time up to `busy_to` is counted already. */
static void visit(struct thinner *t, size_t slice)
{
    const struct slices *s = &t->set->cap->slices;
    struct nest *nest = &t->nest;
    nanos begin = page_time(t->set, s->begin[slice]);
    nanos end = page_time(t->set, slices_end(s, slice)), dur = end > begin ? end - begin : 0;
    uint32_t item = UINT32_MAX;

    while (nest->stack.n > 0 && nest->stack.at[nest->stack.n - 1] <= begin)
        nest->stack.n--;
    if (!(t->drops_python && nest->stack.n >= THIN_PYTHON_DEPTH &&
          t->set->cap->slices.kind[slice] == SLICE_PYTHON)) {
        item = thin_place(t, nest, slice, begin, dur);
        if (page_is_busy(t->lane, t->set->whats.at[t->set->what[slice]].kind) &&
            begin + dur > t->busy_to) {
            t->busy += begin + dur - (begin > t->busy_to ? begin : t->busy_to);
            t->busy_to = begin + dur;
        }
    }
    if (t->item_of != NULL)
        t->item_of[slice] = item;
}

static void walk_lane(struct thinner *t, const struct page_lane *lane)
{
    const struct lane *of = &t->set->cap->lanes.at[lane->lane];

    for (size_t k = of->first; k < of->first + of->n; k++)
        if (t->part == LANE_WHOLE ||
            (t->part == LANE_RANGES) == page_is_range(t->lane, t->set->cap->slices.kind[k]))
            visit(t, k);
}

static void end_lane(struct thinner *t)
{
    vec_free(&t->nest.stack);
    vec_free(&t->nest.rows);
}

static struct thinner begin_lane(const struct page_set *set, const struct page_thinning *thinning,
                                 const struct page_lane *lane)
{
    enum page_thin_class class = thin_class_of(set, lane);

    return (struct thinner){.set = set,
                            .part = lane->part,
                            .lane = set->cap->lanes.at[lane->lane].key.kind,
                            .q = thinning->q[class],
                            .drops_python = thinning->drops_python && class == THIN_HOST};
}

/* Items of the lanes of a class: with all slices, and how many each step of the ladder merges. */
struct tally {
    size_t all, joined[LADDER + 1];
};

struct counting {
    const struct page_set *set;
    const struct page_thinning *thinning;
    struct tally *lanes;
};

static void count_lane(void *ctx, size_t i)
{
    struct counting *c = ctx;
    const struct page_lane *lane = &c->set->lanes.at[i];
    struct thinner t = begin_lane(c->set, c->thinning, lane);

    c->lanes[i] = (struct tally){0};
    t.joined = c->lanes[i].joined;
    walk_lane(&t, lane);
    end_lane(&t);
    c->lanes[i].all = t.n;
}

struct page_thinning page_thin_choose(const struct page_set *set, size_t most)
{
    struct page_thinning t = {0};
    struct tally by[THIN_CLASSES];
    size_t n = 0;

    if (set->n_slices <= most)
        return t;
    t.drops_python = true;
    const struct page_thinning least = {.drops_python = true};
    struct counting c = {set, &least, mem_grow(NULL, sizeof(struct tally), set->lanes.n + 1)};
    pool_for(set->pool, set->lanes.n, count_lane, &c);
    memset(by, 0, THIN_CLASSES * sizeof(*by));
    for (size_t i = 0; i < set->lanes.n; i++) {
        struct tally *to = &by[thin_class_of(set, &set->lanes.at[i])];
        to->all += c.lanes[i].all;
        for (size_t step = 0; step <= LADDER; step++)
            to->joined[step] += c.lanes[i].joined[step];
    }
    mem_free(c.lanes);
    for (int class = 0; class < THIN_CLASSES; class ++)
        n += by[class].all;
    for (int class = 0; class < THIN_CLASSES && n > most; class ++)
        for (size_t step = 0; step < LADDER && n > most; step++) {
            t.q[class] = ladder[step];
            n -= by[class].joined[step];
        }
    return t;
}

struct applying {
    struct page_set *set;
    const struct page_thinning *thinning;
};

static void apply_lane(void *ctx, size_t i)
{
    struct applying *a = ctx;
    struct page_lane *lane = &a->set->lanes.at[i];
    struct thinner t = begin_lane(a->set, a->thinning, lane);

    lane->is_merged = !(t.q == 0 && !t.drops_python && t.part == LANE_WHOLE);
    if (lane->is_merged) {
        t.out = &a->set->items[i];
        t.item_of = a->set->item_of;
    }
    walk_lane(&t, lane);
    /* Nobody asks for busy time of what is never busy: bundles of it alone have none. */
    for (size_t k = 0; lane->is_merged && k < t.out->n; k++)
        if (t.out->more[k] == 0)
            t.out->slack[k] = 0;
    mem_free(t.longest);
    lane->n = t.n;
    lane->depth = t.nest.rows.n > 0 ? t.nest.rows.n - 1 : 0; /* the last one is empty */
    lane->busy = t.busy;
    end_lane(&t);
}

void page_thin_apply(struct page_set *set, const struct page_thinning *thinning)
{
    struct applying a = {set, thinning};
    size_t first = 0;

    bool has_parts = thinning->drops_python || thinning->q[THIN_HOST] > 0;
    for (size_t i = 0; i < set->lanes.n; i++)
        has_parts |= set->lanes.at[i].part != LANE_WHOLE;
    if (has_parts)
        set->item_of = mem_grow(NULL, sizeof(*set->item_of), set->cap->slices.n + 1);
    pool_for(set->pool, set->lanes.n, apply_lane, &a);
    for (size_t i = 0; i < set->lanes.n; i++) {
        set->lanes.at[i].first = first;
        first += set->lanes.at[i].n;
    }
    set->n_items = first;
}
