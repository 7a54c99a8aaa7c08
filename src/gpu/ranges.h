/*
 * ranges - counters that a framework's profiler collected by kernel and left in its trace: events
 * "cuda_profiler_range" of Kineto, whose arguments are counters.
 *
 * Such a trace tells no times of kernels: ranges stand one behind the other in equal lengths.
 */
#ifndef STRATA_GPU_RANGES_H
#define STRATA_GPU_RANGES_H

#include "capture/capture.h"
#include "gpu/run.h"

/* Adds a kernel for each range to the run; returns how many. */
size_t gpu_ranges_read(const struct capture *cap, struct gpu_run *run);

#endif
