/*
 * ranksum - whether two sets of samples differ, or only scatter (Mann-Whitney).
 *
 * U counts the pairs in which the sample of A is the larger one, equal pairs by half. Under chance
 * alone every order of the samples is equally likely, so p, two-sided, needs no assumption about
 * how they scatter and an outlier weighs no more than its rank. p comes from the exact
 * distribution of U for up to RANKSUM_EXACT pairs, else from its normal approximation.
 */
#ifndef STRATA_ANALYSIS_COMPARE_RANKSUM_H
#define STRATA_ANALYSIS_COMPARE_RANKSUM_H

#include "base/arena.h"

enum { RANKSUM_EXACT = 1600 };

/* What depends on the numbers of samples alone; shared by all tests of that size. */
struct ranksum {
    size_t n_a, n_b;
    const double *chance; /* of U being at most this; NULL: by approximation */
};

struct ranksum ranksum_of(struct arena *arena, size_t n_a, size_t n_b);

/* The smallest p that so many samples can give; 1 when a side has none. */
double ranksum_least(const struct ranksum *r);

/* p of two ascending lists. */
double ranksum_p(const struct ranksum *r, const double *a, const double *b);

#endif
