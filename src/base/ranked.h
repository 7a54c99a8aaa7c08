/*
 * ranked - numbers in order, and what stands at a share of them.
 *
 *     ranked_sort(values, n);
 *     double median = ranked_at(values, n, 0.5);
 */
#ifndef STRATA_BASE_RANKED_H
#define STRATA_BASE_RANKED_H

#include <stddef.h>

/* Ascending; none of them may be NaN. */
void ranked_sort(double *values, size_t n);

/* Linear interpolation at position q (n - 1), counted from 0, of at least one sorted value. */
double ranked_at(const double *sorted, size_t n, double q);

#endif
