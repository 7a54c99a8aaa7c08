/*
 * gpu_nsys - the timeline of a run of `strata gpu profile`: tables beside the recording, kernels,
 * sections and opportunities for the report.
 */
#ifndef STRATA_FLOW_GPU_NSYS_H
#define STRATA_FLOW_GPU_NSYS_H

#include "flow/gpu_fill.h"

/* Reads the recordings in `folder` and writes the tables there. The run gets the kernels of the
 * device that was busy longest. */
enum status gpu_nsys_analyse(const char *folder, const struct gpu_plan *plan, struct gpu_run *run,
                             struct arena *arena, struct diag *d);

#endif
