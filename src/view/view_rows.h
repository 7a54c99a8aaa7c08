/*
 * view_rows - the lanes of a page's set, ready to be asked for any part of their time.
 *
 *     view_rows_init(&rows, set, pool);
 *     view_tile(&rows, lane, level, index, &bytes);
 *     view_rows_fini(&rows);
 *
 * Level L has buckets of 2^L ns, a tile 512 of them. A tile holds the slices themselves where they
 * are few, else the busy share of each bucket by family. docs/view.md has the bytes. Times are
 * those of the page: nanoseconds since the set's origin. Reading needs no locks.
 */
#ifndef STRATA_VIEW_VIEW_ROWS_H
#define STRATA_VIEW_VIEW_ROWS_H

#include "page/page_set.h"

enum {
    VIEW_BUCKETS = 512,   /* of a tile */
    VIEW_BUCKET_BITS = 9, /* 2 to that */
    VIEW_SLICES = 2048,   /* of a tile, at most; more become buckets */
    VIEW_LEVELS = 44,
};

/* What lies on top in a bucket. */
struct view_bucket {
    float busy[PAGE_FAMILIES]; /* nanoseconds */
    uint32_t slices;           /* that begin in it */
};

struct view_lane {
    size_t first, n; /* slices of the capture */
    enum lane_kind kind;
    enum page_lane_part part;
    nanos *ends;        /* the last end in each block of slices */
    unsigned base, top; /* the finest level with buckets, and the first with a single one */
    struct view_bucket *buckets[VIEW_LEVELS];
    size_t n_buckets[VIEW_LEVELS];
};

struct view_rows {
    const struct page_set *set;
    struct view_lane *lanes; /* as in the set */
};

/* The set is filled (page_set_fill) and outlives it; only its lanes, dictionary and times are read,
 * never its items. */
void view_rows_init(struct view_rows *rows, const struct page_set *set, struct pool *pool);
void view_rows_fini(struct view_rows *rows);

/* Appends a tile; false when there is no such level, or no such tile in the set's time. */
bool view_tile(const struct view_rows *rows, size_t lane, int64_t level, int64_t index,
               struct text *out);

/* Slices of a lane that overlap [from, to), in the lane's order: number of the slice, or SIZE_MAX.
 * One without length counts by its begin.
 *
 *     struct view_walk w = view_walk(rows, lane, from, to);
 *     for (size_t k; (k = view_walk_next(&w)) != SIZE_MAX;)
 */
struct view_walk {
    const struct view_rows *rows;
    const struct view_lane *lane;
    nanos from, to;
    size_t at, end;
};
struct view_walk view_walk(const struct view_rows *rows, size_t lane, nanos from, nanos to);
size_t view_walk_next(struct view_walk *w);

static inline nanos view_begin(const struct view_rows *rows, size_t slice)
{
    return page_time(rows->set, rows->set->cap->slices.begin[slice]);
}

static inline nanos view_end(const struct view_rows *rows, size_t slice)
{
    return page_time(rows->set, slices_end(&rows->set->cap->slices, slice));
}

#endif
