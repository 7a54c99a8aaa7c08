/*
 * exposed - communication that no compute hides, step by step.
 *
 * Communication is the union of all collectives in a step's window, compute that of all kernels
 * that compute; exposed is the part of the first that the second does not cover.
 */
#ifndef STRATA_ANALYSIS_TABLES_EXPOSED_H
#define STRATA_ANALYSIS_TABLES_EXPOSED_H

#include "base/text/num.h"

struct study;

struct exposed_step {
    struct str id;
    nanos service; /* length of the step's window */
    nanos comm, exposed;
    double share; /* exposed time in the step, 0 to 1 */
};

struct exposed {
    struct exposed_step *steps;
    size_t n;
    struct exposed_step all; /* sums over the steps */
};

const struct exposed *exposed_find(struct study *st);

#endif
