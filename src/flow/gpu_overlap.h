/*
 * gpu_overlap - stages that were declared concurrent and ran one after the other (O13).
 *
 * Needs both halves of annotation mode: when kernels ran, from the run without instruments, and how
 * busy they kept the chip, from the counters. Two stages that each use half of it could take half
 * the time together; two that each fill it gain nothing.
 */
#ifndef STRATA_FLOW_GPU_OVERLAP_H
#define STRATA_FLOW_GPU_OVERLAP_H

#include "flow/gpu_recorded.h"
#include "gpu/run.h"

/* Looks at every group of the judged run; what it finds goes to the run's `extra` and notes. */
void gpu_overlap_judge(struct gpu_run *run, const struct gpu_launch *launches, size_t n);

#endif
