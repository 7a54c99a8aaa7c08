/* Ends of arrows bound to slices and joined by their ids. */
#include "input/trace/trace_flows.h"

#include <assert.h>
#include <stdlib.h>

#include "base/run/pool.h"
#include "base/tables/radix.h"

enum {
    LOOK_BACK = 256, /* slices looked at for one that encloses an end; stacks are not deeper */
    LOOK_PAIR = 16,  /* starts of one id that are looked at for a finish */
    MOST_CATS = 256, /* categories beyond share the last place; profilers have four */
};

#define NONE UINT32_MAX

void trace_flows_fini(struct trace_flows *f)
{
    for (size_t i = 0; i < f->cats.n; i++) {
        vec_free(&f->cats.at[i].starts);
        vec_free(&f->cats.at[i].finishes);
    }
    vec_free(&f->cats);
    vec_free(&f->aliases);
}

uint32_t trace_flows_cat(struct trace_flows *f, strid name, bool is_text, enum flow_kind kind)
{
    for (size_t i = 0; i < f->cats.n; i++)
        if (f->cats.at[i].name == name && f->cats.at[i].is_text == is_text)
            return (uint32_t)i;
    if (f->cats.n == MOST_CATS)
        return MOST_CATS - 1;
    vec_push(&f->cats, ((struct flow_cat){.name = name, .is_text = is_text, .kind = kind}));
    return (uint32_t)(f->cats.n - 1);
}

/* The slices of a lane, and where the last look ended: ends come nearly in order of time. */
struct lane_range {
    uint32_t first, end, cursor;
};

/* All starts, or all finishes. They are bound side by side. */
struct flow_side {
    struct lane_range *ranges; /* by lane of the capture */
    /* The ends of each category by id; NULL: as they stand. */
    struct radix_item *items[MOST_CATS];
};

struct binder {
    const struct capture *cap;
    const lane_id *lanes;
    size_t first; /* slice of this file */
    struct trace_flows *flows;
    struct flow_side sides[2]; /* finishes, starts */
    struct arrows {            /* a vec */
        struct radix_item *at;
        size_t n, cap;
    } arrows[MOST_CATS]; /* of each category */
};

ORDER_BY(by_place, struct flow_alias,
         ORDER(x->lane, y->lane) ?: ORDER(x->at, y->at) ?: ORDER(x->slice, y->slice));

static uint32_t find_alias(const struct trace_flows *f, uint32_t lane, nanos at)
{
    const struct flow_alias *a = f->aliases.at;
    size_t n;

    vec_bisect(n, f->aliases.n, i, a[i].lane < lane || (a[i].lane == lane && a[i].at < at));
    return n < f->aliases.n && a[n].lane == lane && a[n].at == at ? a[n].slice : NONE;
}

static struct lane_range *find_ranges(const struct capture *cap, size_t first)
{
    const struct slices *s = &cap->slices;
    struct lane_range *ranges = mem_grow(NULL, sizeof(*ranges), cap->lanes.n + 1);

    memset(ranges, 0, sizeof(*ranges) * (cap->lanes.n + 1));
    for (size_t i = first; i < s->n;) {
        lane_id lane = s->lane[i];
        size_t end = i;
        while (end < s->n && s->lane[end] == lane)
            end++;
        ranges[lane] = (struct lane_range){(uint32_t)i, (uint32_t)end, (uint32_t)i};
        i = end;
    }
    return ranges;
}

/* Number of the first slice of the range that begins after `at`. */
static uint32_t first_after(const nanos *begin, struct lane_range *r, nanos at)
{
    size_t low = r->first, high = r->end, from = r->cursor, reach = 1;

    if (from < r->end && begin[from] <= at) {
        low = from;
        while (high - from > reach && begin[from + reach] <= at) {
            low = from + reach;
            reach *= 2;
        }
        if (high - from > reach)
            high = from + reach;
    } else {
        high = from;
        while (from - low > reach && begin[from - reach] > at) {
            high = from - reach;
            reach *= 2;
        }
        if (from - low > reach)
            low = from - reach;
    }
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (begin[mid] <= at)
            low = mid + 1;
        else
            high = mid;
    }
    r->cursor = (uint32_t)low;
    return r->cursor;
}

/* Is this the sort of slice that such an end stands at? */
static bool suits(enum flow_kind kind, bool is_start, enum slice_kind slice)
{
    if (kind == FLOW_LAUNCH)
        return is_start ? slice >= SLICE_HOST_OP : slice <= SLICE_CONTROL;
    if (kind == FLOW_QUEUE)
        return slice == SLICE_QUEUE;
    if (kind == FLOW_BACKWARD)
        return slice == SLICE_HOST_OP;
    return true;
}

/* The slice that an end stands at: of those that begin with it the innermost that suits, else the
 * innermost; failing those, the innermost around it. */
static uint32_t find_slice(struct binder *b, const struct flow_end *end, enum flow_kind kind,
                           int is_start)
{
    const struct slices *s = &b->cap->slices;
    lane_id lane = b->lanes[end->lane];

    if (b->flows->aliases.n > 0) {
        uint32_t alias = find_alias(b->flows, end->lane, end->at);
        if (alias != NONE)
            return alias;
    }
    if (lane >= b->cap->lanes.n)
        return NONE;
    struct lane_range *r = &b->sides[is_start].ranges[lane];
    uint32_t after = first_after(s->begin, r, end->at);
    if (after == r->first)
        return NONE;
    uint32_t floor = after - r->first > LOOK_BACK ? after - LOOK_BACK : r->first;
    if (s->begin[after - 1] == end->at) {
        for (uint32_t i = after; i > floor && s->begin[i - 1] == end->at; i--)
            if (suits(kind, is_start, (enum slice_kind)s->kind[i - 1]))
                return i - 1;
        return after - 1;
    }
    for (uint32_t i = after; i > floor; i--)
        if (slices_end(s, i - 1) > end->at)
            return i - 1;
    return NONE;
}

/* The ends by id, for mem_free(); NULL when they stand so already. */
static struct radix_item *sort_ends(const struct flow_end *ends, size_t n)
{
    bool is_sorted = true;

    for (size_t i = 1; i < n && is_sorted; i++)
        is_sorted = ends[i - 1].id <= ends[i].id;
    if (is_sorted)
        return NULL;
    struct radix_item *items = mem_grow(NULL, sizeof(*items), n);
    struct radix_item *spare = mem_grow(NULL, sizeof(*spare), n);
    for (size_t i = 0; i < n; i++)
        items[i] = (struct radix_item){ends[i].id, (uint32_t)i};
    radix_sort(items, spare, n);
    mem_free(spare);
    return items;
}

static void bind_side(void *ctx, size_t is_start)
{
    struct binder *b = ctx;
    struct flow_side *side = &b->sides[is_start];

    side->ranges = find_ranges(b->cap, b->first);
    for (size_t c = 0; c < b->flows->cats.n; c++) {
        struct flow_cat *cat = &b->flows->cats.at[c];
        struct flow_end *ends = is_start != 0 ? cat->starts.at : cat->finishes.at;
        size_t n = is_start != 0 ? cat->starts.n : cat->finishes.n;
        if (cat->starts.n == 0 || cat->finishes.n == 0)
            continue;
        for (size_t i = 0; i < n; i++)
            ends[i].slice = find_slice(b, &ends[i], cat->kind, (int)is_start);
        side->items[c] = sort_ends(ends, n);
    }
    mem_free(side->ranges);
}

/* The `i`-th end by id. */
static const struct flow_end *end_at(const struct flow_end *ends, const struct radix_item *items,
                                     size_t i)
{
    return &ends[items != NULL ? items[i].value : i];
}

/* The start an end belongs to, of those with its id from the `i`-th on: the latest one before it,
 * else the first. NULL when there is none. */
static const struct flow_end *pick(const struct flow_cat *cat, const struct radix_item *starts,
                                   size_t i, const struct flow_end *finish)
{
    const struct flow_end *best = NULL;

    for (size_t last = i + LOOK_PAIR; i < cat->starts.n && i < last; i++) {
        const struct flow_end *s = end_at(cat->starts.at, starts, i);
        if (s->id != finish->id)
            break;
        if (best == NULL || (s->at <= finish->at && (s->at > best->at || best->at > finish->at)))
            best = s;
    }
    return best;
}

static void sort_arrows(struct arrows *arrows)
{
    struct radix_item *spare = mem_grow(NULL, sizeof(*spare), arrows->n + 1);

    if (arrows->n > 0)
        radix_sort(arrows->at, spare, arrows->n);
    mem_free(spare);
}

/* The arrows of a category, by where they begin and end. */
static void pair_ends(void *ctx, size_t c)
{
    struct binder *b = ctx;
    const struct flow_cat *cat = &b->flows->cats.at[c];
    struct radix_item *starts = b->sides[1].items[c], *finishes = b->sides[0].items[c];
    size_t i = 0;

    for (size_t k = 0; k < cat->finishes.n && cat->starts.n > 0; k++) {
        const struct flow_end *finish = end_at(cat->finishes.at, finishes, k);
        while (i < cat->starts.n && end_at(cat->starts.at, starts, i)->id < finish->id)
            i++;
        const struct flow_end *start = pick(cat, starts, i, finish);
        uint32_t from = start != NULL ? start->slice : NONE, to = finish->slice;
        if (from == NONE || to == NONE || from == to)
            continue;
        /* In some versions a runtime call is the end of its own arrow too. */
        if (cat->kind == FLOW_LAUNCH &&
            b->cap->lanes.at[b->cap->slices.lane[to]].key.kind == LANE_THREAD)
            continue;
        vec_push(&b->arrows[c],
                 ((struct radix_item){(uint64_t)from << 32 | to, (uint32_t)cat->kind}));
    }
    mem_free(starts);
    mem_free(finishes);
    sort_arrows(&b->arrows[c]);
}

/* Those of all categories together; each is sorted, so that they are only merged. */
static void add_arrows(struct capture *cap, struct arrows *arrows, size_t n_cats)
{
    struct arrows all = {0};

    for (size_t c = 0; c < n_cats; c++) {
        vec_reserve(&all, all.n + arrows[c].n);
        if (arrows[c].n > 0)
            memcpy(all.at + all.n, arrows[c].at, arrows[c].n * sizeof(*all.at));
        all.n += arrows[c].n;
        vec_free(&arrows[c]);
    }
    sort_arrows(&all);
    vec_reserve(&cap->flows, cap->flows.n + all.n);
    for (size_t i = 0; i < all.n; i++)
        capture_flow(cap, (enum flow_kind)all.at[i].value, (uint32_t)(all.at[i].key >> 32),
                     (uint32_t)all.at[i].key);
    vec_free(&all);
}

void trace_flows_bind(struct trace_flows *f, struct capture *cap, size_t first,
                      const lane_id *lanes, struct pool *pool)
{
    struct binder b = {.cap = cap, .lanes = lanes, .first = first, .flows = f};

    if (f->cats.n == 0)
        return;
    if (f->aliases.n > 0)
        qsort(f->aliases.at, f->aliases.n, sizeof(*f->aliases.at), by_place);
    pool_for(pool, 2, bind_side, &b);
    pool_for(pool, f->cats.n, pair_ends, &b);
    add_arrows(cap, b.arrows, f->cats.n);
}
