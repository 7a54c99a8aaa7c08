/*
 * Blocks of slices, buckets of time, and tiles out of them.
 */
#include "view/view_rows.h"

#include "base/run/pool.h"

enum {
    BLOCK = 256, /* slices */
    DENSE = 16,  /* slices of a bucket of the finest level, about */
    LEAST = VIEW_BUCKETS,
};

/* ---- buckets ---- */

/* Spreads [from, to) over buckets of 2^level ns that begin at `origin`. */
static void add_time(struct view_bucket *buckets, size_t n, unsigned level, nanos origin,
                     nanos from, nanos to, int family)
{
    nanos last = origin + ((nanos)n << level);

    from = from > origin ? from : origin;
    to = to < last ? to : last;
    while (from < to) {
        size_t at = (size_t)((from - origin) >> level);
        nanos end = origin + ((nanos)(at + 1) << level);
        end = end < to ? end : to;
        buckets[at].busy[family] += (float)(end - from);
        from = end;
    }
}

/* The slices of a walk: what is on top, by family. */
static void add_slices(const struct view_rows *rows, struct view_walk w, unsigned level,
                       struct view_bucket *buckets, size_t n)
{
    const struct page_set *set = rows->set;
    nanos busy_to = 0;

    for (size_t k; (k = view_walk_next(&w)) != SIZE_MAX;) {
        const struct page_what *what = &set->whats.at[set->what[k]];
        nanos begin = view_begin(rows, k), end = view_end(rows, k);
        if (begin >= w.from)
            buckets[(size_t)((begin - w.from) >> level)].slices++;
        if (!page_is_busy(w.lane->kind, what->kind) || end <= busy_to)
            continue;
        add_time(buckets, n, level, w.from, begin > busy_to ? begin : busy_to, end, what->family);
        busy_to = end;
    }
}

/* Each level from the one below, two buckets to one. */
static void add_levels(struct view_lane *lane)
{
    for (lane->top = lane->base; lane->n_buckets[lane->top] > 1 && lane->top < VIEW_LEVELS - 1;) {
        const struct view_bucket *below = lane->buckets[lane->top];
        size_t n = lane->n_buckets[lane->top];
        struct view_bucket *all = mem_grow(NULL, sizeof(*all), (n + 1) / 2);
        memset(all, 0, (n + 1) / 2 * sizeof(*all));
        for (size_t i = 0; i < n; i++) {
            for (size_t f = 0; f < PAGE_FAMILIES; f++)
                all[i / 2].busy[f] += below[i].busy[f];
            all[i / 2].slices += below[i].slices;
        }
        lane->buckets[++lane->top] = all;
        lane->n_buckets[lane->top] = (n + 1) / 2;
    }
}

static void fill_lane(void *ctx, size_t i)
{
    struct view_rows *rows = ctx;
    const struct page_lane *of = &rows->set->lanes.at[i];
    const struct lane *in = &rows->set->cap->lanes.at[of->lane];
    struct view_lane *lane = &rows->lanes[i];
    size_t most = in->n / DENSE > LEAST ? in->n / DENSE : LEAST;

    *lane =
        (struct view_lane){.first = in->first, .n = in->n, .kind = in->key.kind, .part = of->part};
    size_t blocks = (lane->n + BLOCK - 1) / BLOCK;
    lane->ends = mem_grow(NULL, sizeof(*lane->ends), blocks + 1);
    memset(lane->ends, 0, (blocks + 1) * sizeof(*lane->ends));
    for (size_t k = 0; k < lane->n; k++) {
        nanos end = view_end(rows, lane->first + k), *last = &lane->ends[k / BLOCK];
        *last = end > *last ? end : *last;
    }
    while (lane->base < VIEW_LEVELS - 1 && (size_t)(rows->set->to >> lane->base) >= most)
        lane->base++;
    size_t n = (size_t)(rows->set->to >> lane->base) + 1;
    lane->n_buckets[lane->base] = n;
    lane->buckets[lane->base] = mem_grow(NULL, sizeof(struct view_bucket), n);
    memset(lane->buckets[lane->base], 0, n * sizeof(struct view_bucket));
    add_slices(rows, view_walk(rows, i, 0, rows->set->to + 1), lane->base,
               lane->buckets[lane->base], n);
    add_levels(lane);
}

void view_rows_init(struct view_rows *rows, const struct page_set *set, struct pool *pool)
{
    *rows = (struct view_rows){.set = set};
    rows->lanes = mem_grow(NULL, sizeof(*rows->lanes), set->lanes.n + 1);
    pool_for(pool, set->lanes.n, fill_lane, rows);
}

void view_rows_fini(struct view_rows *rows)
{
    for (size_t i = 0; i < rows->set->lanes.n; i++) {
        mem_free(rows->lanes[i].ends);
        for (size_t level = 0; level < VIEW_LEVELS; level++)
            mem_free(rows->lanes[i].buckets[level]);
    }
    mem_free(rows->lanes);
}

/* ---- slices of a time ---- */

struct view_walk view_walk(const struct view_rows *rows, size_t lane, nanos from, nanos to)
{
    const struct view_lane *of = &rows->lanes[lane];
    size_t end;

    vec_bisect(end, of->n, i, view_begin(rows, of->first + i) < to);
    return (struct view_walk){rows, of, from, to, 0, end};
}

size_t view_walk_next(struct view_walk *w)
{
    while (w->at < w->end) {
        if (w->at % BLOCK == 0 && w->lane->ends[w->at / BLOCK] < w->from) {
            w->at += BLOCK;
            continue;
        }
        size_t slice = w->lane->first + w->at++;
        nanos end = view_end(w->rows, slice);
        bool is_point = end == w->from && view_begin(w->rows, slice) == end;
        if (end <= w->from && !is_point)
            continue;
        if (w->lane->part == LANE_WHOLE ||
            page_is_range(w->lane->kind, w->rows->set->cap->slices.kind[slice]) ==
                (w->lane->part == LANE_RANGES))
            return slice;
    }
    return SIZE_MAX;
}

/* ---- tiles ---- */

enum { TILE_EMPTY, TILE_COLUMNS, TILE_SLICES, FULL = 65535, STARTS_BEFORE = 1, ENDS_AFTER = 2 };

struct tile {
    const struct view_rows *rows;
    uint32_t lane;
    unsigned level;
    nanos from, to;
};

static void rows_put_number(struct text *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        text_char(out, (char)(value >> (8 * i) & 0xff));
}

static void rows_put_head(struct text *out, const struct tile *t, int kind, size_t n,
                          unsigned families, size_t bytes)
{
    text_put(out, S("STT1"));
    rows_put_number(out, (uint64_t)kind, 2);
    rows_put_number(out, t->level, 2);
    rows_put_number(out, t->lane, 4);
    rows_put_number(out, n, 4);
    rows_put_number(out, (uint64_t)t->from, 8);
    rows_put_number(out, families, 4);
    rows_put_number(out, bytes, 4);
}

static uint64_t share_of(float busy, unsigned level)
{
    double share = (double)busy / (double)(INT64_C(1) << level) * FULL;

    return busy <= 0 ? 0 : share < 1 ? 1 : share > FULL ? FULL : num_u64_of(share + 0.5);
}

static void put_columns(struct text *out, const struct tile *t, const struct view_bucket *buckets)
{
    unsigned families = 0;
    size_t columns = 1;

    for (size_t f = 0; f < PAGE_FAMILIES; f++)
        for (size_t i = 0; i < VIEW_BUCKETS; i++)
            if (buckets[i].busy[f] > 0) {
                families |= 1U << f;
                columns++;
                break;
            }
    rows_put_head(out, t, TILE_COLUMNS, VIEW_BUCKETS, families, columns * VIEW_BUCKETS * 2);
    for (size_t f = 0; f < PAGE_FAMILIES; f++)
        for (size_t i = 0; i < VIEW_BUCKETS && families >> f & 1; i++)
            rows_put_number(out, share_of(buckets[i].busy[f], t->level), 2);
    for (size_t i = 0; i < VIEW_BUCKETS; i++)
        rows_put_number(out, buckets[i].slices < FULL ? buckets[i].slices : FULL, 2);
}

/* From the buckets that are there, or from the slices where those are too coarse. */
static void put_buckets(struct text *out, const struct tile *t)
{
    const struct view_lane *lane = &t->rows->lanes[t->lane];
    struct view_bucket buckets[VIEW_BUCKETS] = {{{0}, 0}};

    if (t->level < lane->base) {
        add_slices(t->rows, view_walk(t->rows, t->lane, t->from, t->to), t->level, buckets,
                   VIEW_BUCKETS);
    } else {
        unsigned level = t->level < lane->top ? t->level : lane->top; /* there it is one bucket */
        size_t first = (size_t)(t->from >> t->level), n = lane->n_buckets[level];
        n = n > first ? n - first : 0;
        memcpy(buckets, lane->buckets[level] + first,
               (n < VIEW_BUCKETS ? n : VIEW_BUCKETS) * sizeof(*buckets));
    }
    put_columns(out, t, buckets);
}

static void put_slices(struct text *out, const struct tile *t, const uint32_t *slices, size_t n)
{
    const struct view_rows *rows = t->rows;
    size_t first = rows->lanes[t->lane].first;

    rows_put_head(out, t, TILE_SLICES, n, 0, 17 * n);
    for (size_t i = 0; i < n; i++)
        rows_put_number(out, slices[i] - first, 4);
    for (size_t i = 0; i < n; i++) {
        nanos begin = view_begin(rows, slices[i]);
        rows_put_number(out, (uint64_t)(begin > t->from ? begin - t->from : 0), 4);
    }
    for (size_t i = 0; i < n; i++) {
        nanos begin = view_begin(rows, slices[i]), end = view_end(rows, slices[i]);
        begin = begin > t->from ? begin : t->from;
        rows_put_number(out, end > t->to ? UINT32_MAX : (uint64_t)(end - begin), 4);
    }
    for (size_t i = 0; i < n; i++)
        rows_put_number(out, rows->set->what[slices[i]], 4);
    for (size_t i = 0; i < n; i++)
        rows_put_number(out,
                        (view_begin(rows, slices[i]) < t->from ? STARTS_BEFORE : 0) |
                            (view_end(rows, slices[i]) > t->to ? ENDS_AFTER : 0),
                        1);
}

/* Slices of a tile that are few; VIEW_SLICES + 1: they are not. Offsets have 32 bits, so a tile of
 * more than 4 s has buckets. */
static size_t find_slices(const struct tile *t, uint32_t *out)
{
    struct view_walk w = view_walk(t->rows, t->lane, t->from, t->to);
    size_t n = 0, since;

    vec_bisect(since, w.end, i, view_begin(t->rows, w.lane->first + i) < t->from);
    if (w.end - since > VIEW_SLICES || t->to - t->from >= UINT32_MAX)
        return VIEW_SLICES + 1;
    for (size_t k; n <= VIEW_SLICES && (k = view_walk_next(&w)) != SIZE_MAX; n++)
        if (n < VIEW_SLICES)
            out[n] = (uint32_t)k;
    return n;
}

bool view_tile(const struct view_rows *rows, size_t lane, int64_t level, int64_t index,
               struct text *out)
{
    uint32_t slices[VIEW_SLICES];

    if (level < 0 || level >= VIEW_LEVELS || index < 0 ||
        index > rows->set->to >> (level + VIEW_BUCKET_BITS))
        return false;
    struct tile t = {rows, (uint32_t)lane, (unsigned)level, index << (level + VIEW_BUCKET_BITS),
                     (index + 1) << (level + VIEW_BUCKET_BITS)};
    size_t n = find_slices(&t, slices);
    if (n == 0)
        rows_put_head(out, &t, TILE_EMPTY, 0, 0, 0);
    else if (n <= VIEW_SLICES)
        put_slices(out, &t, slices, n);
    else
        put_buckets(out, &t);
    return true;
}
