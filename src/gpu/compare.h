/*
 * compare - what changed from one run to another, as the table "vs Baseline".
 */
#ifndef STRATA_GPU_COMPARE_H
#define STRATA_GPU_COMPARE_H

#include "gpu/run.h"

/* NULL when the two may be compared, else why not: another type, parameter, device, clock policy
 * or mode. An English sentence in the arena of `current`. */
const char *gpu_compare_refusal(const struct gpu_run *previous, struct gpu_run *current);

/* Fills `current->changes`. */
void gpu_compare(const struct gpu_run *previous, struct gpu_run *current);

/* Whether a change of duration is within the noise: at most 1 % or twice both spreads. */
bool gpu_is_noise(double previous, double current, double cv_previous, double cv_current);

#endif
