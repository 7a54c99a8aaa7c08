/*
 * ranked - numbers in order, and what stands at a share of them.
 *
 *     ranked_sort(values, n);
 *     double median = ranked_at(values, n, 0.5);
 */
#ifndef STRATA_BASE_TABLES_RANKED_H
#define STRATA_BASE_TABLES_RANKED_H

#include "base/text/num.h"

/* Ascending; NaN comes last. */
void ranked_sort(double *values, size_t n);

/* Linear interpolation at position q (n - 1), counted from 0, of at least one sorted value. */
double ranked_at(const double *sorted, size_t n, double q);

/* Nearest rank: the least of at least one sorted value that a share q of all do not exceed. */
double ranked_nearest(const double *sorted, size_t n, double q);

/* The middle of sorted values, or the mean of the two middle ones; NAN when there is none. */
double ranked_middle(const double *sorted, size_t n);

/* Ascending, each value once; returns how many there are. And the order, for bsearch(). */
size_t ranked_set(int64_t *values, size_t n);
int ranked_order(const void *a, const void *b);

/* The same of many times without sorting them all. The list is reordered. */

/* What would stand at place `k` of the sorted list. k < n. */
nanos ranked_pick(nanos *list, size_t n, size_t k);
double ranked_pick_middle(nanos *list, size_t n);
nanos ranked_pick_nearest(nanos *list, size_t n, unsigned percent); /* n > 0 */

#endif
