/*
 * timeline_run - a timeline as part of a run: its kernels, its sections of the report, and the
 * opportunities that only a timeline shows (O12 launch overhead, O13 stages that could overlap).
 *
 *     timeline_run_kernels(t, d, &run);
 *     gpu_run_stages(&run, …);
 *     timeline_run_sections(t, d, &run);
 *     gpu_run_judge(&run);
 */
#ifndef STRATA_GPU_TIMELINE_RUN_H
#define STRATA_GPU_TIMELINE_RUN_H

#include "gpu/run.h"
#include "gpu/timeline.h"

/* Adds one kernel for each name and launch shape of a device, with the median of its durations. The
 * run must have no other kernels. */
void timeline_run_kernels(const struct timeline *t, struct timeline_device *d, struct gpu_run *run);

/* Adds sections, notes and opportunities, and tells the timeline the stages of its kernels. Groups
 * of concurrent stages get their efficiency. */
void timeline_run_sections(struct timeline *t, struct timeline_device *d, struct gpu_run *run);

#endif
