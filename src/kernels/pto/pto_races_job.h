/*
 * pto_races_job - kernels of a text, watched for accesses that nothing puts in order.
 */
#ifndef STRATA_KERNELS_PTO_PTO_RACES_JOB_H
#define STRATA_KERNELS_PTO_PTO_RACES_JOB_H

#include "kernels/pto/judge/race_check.h"
#include "kernels/pto/pto_check_job.h"

/* What a watch of many texts keeps. */
struct pto_race_watch {
    struct pto_sim sim;
    struct pto_races races;
    struct pto_costs *costs;
};

void pto_race_watch_init(struct pto_race_watch *w);
void pto_race_watch_free(struct pto_race_watch *w);

/* Adds the races of every kernel to the problems of a text that has no errors. */
void pto_races_run(struct pto_race_watch *w, struct pto_checked *checked);

#endif
