/*
 * occupancy - how many blocks of a kernel fit on a multiprocessor, from its resources alone.
 */
#ifndef STRATA_GPU_OCCUPANCY_H
#define STRATA_GPU_OCCUPANCY_H

#include "gpu/kernel.h"

struct gpu_occupancy {
    bool is_known;
    uint32_t warps_per_block, max_warps;
    uint32_t lim_regs, lim_smem, lim_warps, lim_blocks; /* blocks a multiprocessor; 0: not known */
    uint32_t blocks_per_sm;
    const char *limiter; /* "registers", "shared memory", "warps", "blocks" or "barriers" */
    double theory_pct;
    double waves; /* NAN when the grid or the multiprocessors are not known */
    /* With one more block on each multiprocessor; NAN when warps or blocks forbid it. */
    double next_pct;
    double regs_to_free;  /* per thread; 0 when registers allow one more */
    double bytes_to_free; /* shared memory per block; likewise */
};

/* From the resources of the launch, else from the limits that the tool printed. */
struct gpu_occupancy gpu_occupancy_of(const struct gpu_kernel *k, struct str cc, double sm_count);

#endif
