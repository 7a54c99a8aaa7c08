/*
 * fleet_study - one look at the captures of a fleet: a study of each, and the facts that they give
 * together, each computed once, on first use.
 */
#ifndef STRATA_ANALYSIS_RANKS_FLEET_STUDY_H
#define STRATA_ANALYSIS_RANKS_FLEET_STUDY_H

#include "analysis/ranks/rank_jobs.h"
#include "analysis/study.h"
#include "capture/cut.h"
#include "capture/fleet.h"

struct cluster;
struct rank_verdicts;

struct fleet_study {
    const struct fleet *fleet;
    struct study *ranks; /* of each capture, in the fleet's order */
    size_t n;
    struct arena arena;
    /* Filled on first use; ask through the functions below. */
    const struct cluster *cluster;
    const struct rank_verdicts *verdicts;
    struct rank_jobs jobs;
    bool has_cluster;
};

/* The fleet outlives the study. */
void fleet_study_begin(struct fleet_study *fs, const struct fleet *fleet,
                       struct study_options options);
void fleet_study_end(struct fleet_study *fs);

/* Which captures are ranks of one job. */
const struct rank_jobs *fleet_study_jobs(struct fleet_study *fs);

/* What the ranks tell together, by rank; NULL: they are no ranks of one job. */
const struct cluster *fleet_study_cluster(struct fleet_study *fs);

/* One clock for all: what brings the times of each capture onto it. By the ends of collectives
 * that a capture shares with others, else by its wall clock. */
struct fleet_clocks {
    const struct clock_shift *of; /* by capture; NULL: nothing tells, or they are several jobs */
    struct clock clock;
    size_t by_wall; /* how many were placed by their wall clocks */
};

struct fleet_clocks fleet_study_clocks(struct fleet_study *fs);

/* What limits each, and who makes the others wait. */
const struct rank_verdicts *fleet_study_verdicts(struct fleet_study *fs);

#endif
