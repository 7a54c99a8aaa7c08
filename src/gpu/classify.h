/*
 * classify - what bounds a kernel: memory, compute or latency, by one fixed list of rules.
 *
 * The thresholds are 60 % for the pipes that compute, 70 % for device memory and 80 % for L1 and
 * L2; docs/gpu.md has the table. What was not collected cannot prove anything: a condition "at
 * least" on it fails, "less than" holds.
 */
#ifndef STRATA_GPU_CLASSIFY_H
#define STRATA_GPU_CLASSIFY_H

#include "gpu/kernel.h"
#include "gpu/occupancy.h"
#include "gpu/roofline.h"

#define GPU_COMPUTE_HIGH 60.0
#define GPU_DRAM_HIGH    70.0
#define GPU_CHIP_HIGH    80.0
#define GPU_ISSUE_HIGH   80.0
#define GPU_WEAK         0.75 /* of a threshold: where the weak band begins */

enum gpu_bound { GPU_MEMORY, GPU_COMPUTE, GPU_LATENCY, GPU_BOUNDS };

struct gpu_class {
    enum gpu_bound bound;
    const char *sub; /* "dram", "l1", "tensor", "fma", "issue", "balanced", "underfill", … */
    bool is_weak;
    bool is_model; /* no counters: by formulas and launch resources alone */
    double confidence;
    bool no_compute, no_chip; /* not collected */
    bool has_locality_issue;
    int rule; /* 1 to 7 */
};

/* "Memory", "Compute", "Latency". */
const char *gpu_bound_name(enum gpu_bound bound);

/* `r` may hold NANs. */
struct gpu_class gpu_classify(const struct gpu_kernel *k, const struct gpu_occupancy *o,
                              const struct gpu_roofline *r);

/* The waves of a launch: computed where possible, because tools print two decimals. */
double gpu_waves(const struct gpu_kernel *k, const struct gpu_occupancy *o);

#endif
