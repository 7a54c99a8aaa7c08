/*
 * Bundles of short slices.
 */
#include "page/page_thin.h"

#include "base/pool.h"

static const nanos ladder[] = {1000,   1500,    2000,    3000,     5000,      7000,      10000,
                               15000,  20000,   30000,   50000,    70000,     100000,    200000,
                               500000, 1000000, 3000000, 10000000, 100000000, 1000000000};

/* A slice that has not ended, or the last item of a row. */
struct open_slice {
    nanos end;
    uint32_t item;
};

struct row_end {
    nanos end;
    uint32_t item, parent; /* parent: item around it, or UINT32_MAX */
    bool is_short;
};

/* Slices that hold each other. */
struct nest {
    VEC_OF(struct open_slice) stack;
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
    uint32_t n;
    nanos busy, busy_to;
};

static enum page_thin_class class_of(const struct page_set *set, const struct page_lane *lane)
{
    enum page_group_kind kind = set->groups.at[lane->group].kind;

    return kind == GROUP_HOST ? THIN_HOST : kind <= GROUP_PIPES ? THIN_DEVICE : THIN_COMM;
}

static bool is_dropped(const struct thinner *t, const struct nest *nest, size_t slice)
{
    return t->drops_python && nest->stack.n >= THIN_PYTHON_DEPTH &&
           t->set->cap->slices.kind[slice] == SLICE_PYTHON;
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

    out->begin[out->n] = begin;
    out->dur[out->n] = dur;
    out->what[out->n] = what;
    out->step[out->n] = t->set->step[slice];
    out->more[out->n] = 0;
    out->slack[out->n] = page_is_busy(t->lane, t->set->whats.at[what].kind) ? 0 : dur;
    t->longest[out->n++] = dur;
}

static bool joins(const struct thinner *t, const struct row_end *row, uint32_t parent, nanos begin,
                  nanos dur)
{
    return row->is_short && dur < t->q && row->parent == parent && begin - row->end < t->q;
}

static void add_busy(struct thinner *t, nanos begin, nanos end)
{
    nanos from = begin > t->busy_to ? begin : t->busy_to;

    t->busy += end > from ? end - from : 0;
    t->busy_to = end > t->busy_to ? end : t->busy_to;
}

/* Instructions of a pipe overlap without one holding the other: the first row that is free. */
static size_t free_row(const struct nest *nest, nanos begin)
{
    size_t row = 0;

    while (row < nest->rows.n && nest->rows.at[row].end > begin)
        row++;
    return row;
}

/* The item that a slice becomes, or becomes part of. */
static uint32_t place(struct thinner *t, struct nest *nest, size_t slice, nanos begin, nanos dur)
{
    bool is_pipe = t->lane == LANE_PIPE;
    size_t depth = is_pipe ? free_row(nest, begin) : nest->stack.n;
    uint32_t parent = !is_pipe && depth > 0 ? nest->stack.at[depth - 1].item : UINT32_MAX,
             item = t->n;

    if (depth == nest->rows.n)
        vec_push(&nest->rows, ((struct row_end){0}));
    if (joins(t, &nest->rows.at[depth], parent, begin, dur)) {
        item = nest->rows.at[depth].item;
        if (t->out != NULL)
            merge(t, item, slice, begin, dur);
    } else {
        t->n++;
        if (t->out != NULL)
            add_item(t, slice, begin, dur);
    }
    nest->rows.at[depth] = (struct row_end){begin + dur, item, parent, dur < t->q};
    if (!is_pipe)
        vec_push(&nest->stack, ((struct open_slice){begin + dur, item}));
    return item;
}

static void visit(struct thinner *t, size_t slice)
{
    const struct slices *s = &t->set->cap->slices;
    struct nest *nest = &t->nest;
    nanos begin = page_time(t->set, s->begin[slice]);
    nanos end = page_time(t->set, slices_end(s, slice)), dur = end > begin ? end - begin : 0;
    uint32_t item = UINT32_MAX;

    while (nest->stack.n > 0 && nest->stack.at[nest->stack.n - 1].end <= begin)
        nest->stack.n--;
    if (!is_dropped(t, nest, slice)) {
        item = place(t, nest, slice, begin, dur);
        if (page_is_busy(t->lane, t->set->whats.at[t->set->what[slice]].kind))
            add_busy(t, begin, begin + dur);
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

struct counting {
    const struct page_set *set;
    const struct page_thinning *thinning;
    size_t *counts;
};

static struct thinner begin_lane(const struct page_set *set, const struct page_thinning *thinning,
                                 const struct page_lane *lane)
{
    enum page_thin_class class = class_of(set, lane);

    return (struct thinner){.set = set,
                            .part = lane->part,
                            .lane = set->cap->lanes.at[lane->lane].key.kind,
                            .q = thinning->q[class],
                            .drops_python = thinning->drops_python && class == THIN_HOST};
}

static bool is_whole(const struct thinner *t)
{
    return t->q == 0 && !t->drops_python && t->part == LANE_WHOLE;
}

static void count_lane(void *ctx, size_t i)
{
    struct counting *c = ctx;
    const struct page_lane *lane = &c->set->lanes.at[i];
    struct thinner t = begin_lane(c->set, c->thinning, lane);

    c->counts[i] = lane->slices;
    if (is_whole(&t))
        return;
    walk_lane(&t, lane);
    end_lane(&t);
    c->counts[i] = t.n;
}

size_t page_thin_count(const struct page_set *set, const struct page_thinning *thinning)
{
    struct counting c = {set, thinning, mem_grow(NULL, sizeof(size_t), set->lanes.n + 1)};
    size_t n = 0;

    pool_for(set->pool, set->lanes.n, count_lane, &c);
    for (size_t i = 0; i < set->lanes.n; i++)
        n += c.counts[i];
    mem_free(c.counts);
    return n;
}

struct page_thinning page_thin_choose(const struct page_set *set, size_t most)
{
    struct page_thinning t = {0};

    if (set->n_slices <= most)
        return t;
    t.drops_python = true;
    if (page_thin_count(set, &t) <= most)
        return t;
    for (int class = 0; class < THIN_CLASSES; class ++) {
        size_t low = 0, high = ARRAY_LEN(ladder) - 1;
        t.q[class] = ladder[high];
        if (page_thin_count(set, &t) > most)
            continue;
        while (low < high) {
            size_t middle = (low + high) / 2;
            t.q[class] = ladder[middle];
            if (page_thin_count(set, &t) <= most)
                high = middle;
            else
                low = middle + 1;
        }
        t.q[class] = ladder[low];
        break;
    }
    return t;
}

struct applying {
    struct page_set *set;
    const struct page_thinning *thinning;
};

static void reserve(struct page_items *items, size_t n)
{
    items->begin = mem_grow(NULL, sizeof(*items->begin), n);
    items->dur = mem_grow(NULL, sizeof(*items->dur), n);
    items->what = mem_grow(NULL, sizeof(*items->what), n);
    items->step = mem_grow(NULL, sizeof(*items->step), n);
    items->more = mem_grow(NULL, sizeof(*items->more), n);
    items->slack = mem_grow(NULL, sizeof(*items->slack), n);
}

/* Nobody asks for busy time of what is never busy: bundles of it alone have none. */
static void clear_slack(struct page_items *items)
{
    for (size_t i = 0; i < items->n; i++)
        if (items->more[i] == 0)
            items->slack[i] = 0;
}

static void apply_lane(void *ctx, size_t i)
{
    struct applying *a = ctx;
    struct page_lane *lane = &a->set->lanes.at[i];
    struct thinner t = begin_lane(a->set, a->thinning, lane);

    lane->is_merged = !is_whole(&t);
    if (lane->is_merged) {
        struct thinner counter = begin_lane(a->set, a->thinning, lane);
        walk_lane(&counter, lane);
        end_lane(&counter);
        t.out = &a->set->items[i];
        reserve(t.out, counter.n + 1);
        t.longest = mem_grow(NULL, sizeof(*t.longest), counter.n + 1);
        t.item_of = a->set->item_of;
    }
    walk_lane(&t, lane);
    if (lane->is_merged)
        clear_slack(t.out);
    mem_free(t.longest);
    lane->n = t.n;
    lane->depth = t.nest.rows.n;
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
