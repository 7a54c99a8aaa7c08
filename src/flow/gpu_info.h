/*
 * gpu_info - what run.json tells of a profiling run besides its result: command, environment,
 * tools, clocks, options, how the program ended.
 */
#ifndef STRATA_FLOW_GPU_INFO_H
#define STRATA_FLOW_GPU_INFO_H

#include "flow/gpu_modes.h"

/* `begun` is a local time as in the folder's name. */
void gpu_info_write(struct gpu_run *run, const struct gpu_mode_run *m, const char *begun,
                    const char *library);

/* The clock block, from the readings so far. */
void gpu_info_clock(struct gpu_run *run, const struct gpu_session *s);

#endif
