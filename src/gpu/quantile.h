/*
 * quantile - median and the like of many numbers, without sorting them all.
 */
#ifndef STRATA_GPU_QUANTILE_H
#define STRATA_GPU_QUANTILE_H

#include <stddef.h>

#include "base/num.h"

/* The number that would stand at place `k` of the sorted list; reorders the list. k < n. */
nanos quantile_at(nanos *list, size_t n, size_t k);

/* The middle number, or the mean of the two middle ones; NAN when there is none. Reorders. */
double quantile_median(nanos *list, size_t n);

/* The least number that at least `percent` of all do not exceed (nearest rank). n > 0. Reorders. */
nanos quantile_rank(nanos *list, size_t n, unsigned percent);

#endif
