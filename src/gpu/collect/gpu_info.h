/*
 * gpu_info - what a run knows besides its result: machine, command, environment, tools, clocks,
 * options, how the program ended.
 */
#ifndef STRATA_GPU_COLLECT_GPU_INFO_H
#define STRATA_GPU_COLLECT_GPU_INFO_H

#include "gpu/collect/gpu_modes.h"

/* Names, parameters, device and peaks. `plan` must outlive the run. */
enum status gpu_info_facts(struct gpu_run *run, const struct gpu_plan *plan,
                           const struct gpu_profile_job *job, const struct gpu_session *s,
                           struct diag *d);

/* The local time, as in the name of a folder. */
const char *gpu_info_time(struct arena *arena);

/* `begun` is such a time. */
void gpu_info_write(struct gpu_run *run, const struct gpu_mode_run *m, const char *begun,
                    const char *library);

/* The clock block, from the readings so far. */
void gpu_info_clock(struct gpu_run *run, const struct gpu_session *s);

#endif
