/*
 * interval - half-open time ranges and the set operations profiles need.
 *
 * Nearly every number strata prints about a timeline (busy, idle, overlap, exposed
 * communication) is the length of a union or an intersection of ranges. They are all
 * computed here, once, so that two reports can never disagree on what "busy" means.
 *
 * A range is [begin, end). Ranges with end <= begin are empty and are dropped.
 * A set is "merged" when it is sorted by begin and no two ranges touch; functions that
 * need a merged set say so, and check it in debug builds.
 */
#ifndef STRATA_BASE_TABLES_INTERVAL_H
#define STRATA_BASE_TABLES_INTERVAL_H

#include <stddef.h>

#include "base/text/num.h"

struct interval {
    nanos begin, end;
};

struct interval_set {
    struct interval *at;
    size_t n;
};

/* Sorts and merges `set` in place; touching ranges become one. O(n log n), or O(n) when the
 * ranges come in order; no allocation. */
void interval_merge(struct interval_set *set);

/* Total length of a merged set. */
nanos interval_length(struct interval_set merged);

/* Length of the part of merged set `a` that merged set `b` covers. O(a.n + b.n). */
nanos interval_overlap(struct interval_set a, struct interval_set b);

/* The ranges of merged set `a` that lie in `window`, cut to it, written to `out` (room for a.n).
 * O(log a.n + result). */
struct interval_set interval_clip(struct interval_set a, struct interval window,
                                  struct interval *out);

#endif
