/*
 * sampled - where warps stood, and what for: samples of program counters on a listing.
 */
#ifndef STRATA_GPU_COLLECT_SAMPLED_H
#define STRATA_GPU_COLLECT_SAMPLED_H

#include "capture/trace_file.h"
#include "gpu/ncu/ncu_source.h"

enum { GPU_SAMPLED_LINES = 1 << 16 }; /* of one source file */

/* Samples of one kernel, and the names of their reasons as CUPTI gives them. */
struct gpu_samples {
    const struct trace_pc *at; /* of all kernels */
    size_t n;
    const char *const *reasons;
    size_t n_reasons;
};

/* Adds those of a function, by its mangled name, to the rows of the listing; instructions that it
 * lacks become rows without a text. False when there are none. */
bool gpu_listing_sample(struct gpu_listing *l, struct gpu_samples samples, struct str function,
                        struct arena *arena);

/* Makes the lines of one file: all of `text`, or, when it is empty, those that were sampled. Rows
 * have their files and lines. */
void gpu_listing_lines(struct gpu_listing *l, struct str file, struct str text,
                       struct arena *arena);

#endif
