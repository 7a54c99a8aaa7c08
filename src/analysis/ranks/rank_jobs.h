/*
 * rank_jobs - which captures are ranks of one job, and which only share a folder.
 *
 * Two captures belong together when the profiler tells different ranks of a world of one size, or
 * one communicator of both; when both run the same collectives in the same order; when they are
 * devices of one file; or when the names of their files tell different ranks. However different
 * their work is: stages of a pipeline have little in common. What contradicts is decisive: one rank
 * twice, worlds of two sizes, devices of two makers.
 */
#ifndef STRATA_ANALYSIS_RANKS_RANK_JOBS_H
#define STRATA_ANALYSIS_RANKS_RANK_JOBS_H

#include "capture/capture.h"

struct rank_jobs {
    const uint32_t *of; /* the job of each capture, numbered from 0 as they come */
    size_t n;           /* jobs */
};

/* Lives in the arena. */
struct rank_jobs rank_jobs_find(struct arena *arena, const struct capture *const *caps, size_t n);

/* What to call strata with for one capture: its file, or the folder of its files. */
struct str rank_jobs_path(struct arena *arena, const struct capture *cap);

#endif
