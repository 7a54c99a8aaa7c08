/*
 * root_rank - the order in which causes are told, and how far each is to be trusted.
 */
#ifndef STRATA_ANALYSIS_DIAGNOSE_ROOT_RANK_H
#define STRATA_ANALYSIS_DIAGNOSE_ROOT_RANK_H

#include "analysis/diagnose/root_find.h"

/* Puts the found causes in order. True when the first is large enough to be the verdict. */
bool root_rank(struct root_finder *f);

/* 0 to 1: evidence, replay error, agreement of steps, the profiler's part. */
double root_confidence(const struct root_finder *f, const struct found_cause *c);

/* Whether nothing would be saved if the host were as much faster without the profiler as was ever
 * seen. */
bool root_may_be_profiler(const struct found_cause *c);

/* Shares of the step, without the profiler where its cost is known: communication that runs
 * alone, copies, and idle time but for the device's own latency. */
struct root_shares {
    double comm, copies, idle;
};

struct root_shares root_shares_of(const struct root_finder *f);

#endif
