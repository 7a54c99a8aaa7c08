/*
 * xla_steps - what is known of the work of XLA by names alone, for both forms of its profiles.
 */
#ifndef STRATA_INPUT_XLA_XLA_STEPS_H
#define STRATA_INPUT_XLA_XLA_STEPS_H

#include "capture/capture.h"

/* Kernels, copies, and the operations of a compiled module: compute, copy or communication. */
enum slice_kind xla_work_kind(struct str name);

/* Once slices from `first` on are sorted: operations that hold others are no work of their own;
 * steps of the device (-1: all), else ranges of the program with a number, else runs of the module
 * that takes most time, become marks. */
void xla_steps_settle(struct capture *cap, size_t first, int64_t device);

#endif
