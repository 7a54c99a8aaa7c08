/*
 * flow_pto_races - kernels of a text, watched for accesses that nothing puts in order.
 */
#ifndef STRATA_FLOW_FLOW_PTO_RACES_H
#define STRATA_FLOW_FLOW_PTO_RACES_H

#include "kernels/pto/pto_check_job.h"
#include "kernels/pto/judge/race_check.h"

/* What a watch of many texts keeps. */
struct pto_race_watch {
    struct pto_sim sim;
    struct pto_races races;
    struct pto_costs *costs;
};

void pto_race_watch_init(struct pto_race_watch *w);
void pto_race_watch_free(struct pto_race_watch *w);

/* Adds the races of every kernel to the problems of a text that has no errors. */
void flow_pto_races(struct pto_race_watch *w, struct pto_checked *checked);

#endif
