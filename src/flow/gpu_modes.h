/*
 * gpu_modes - what each mode of `strata gpu profile` runs, up to a filled struct gpu_run.
 */
#ifndef STRATA_FLOW_GPU_MODES_H
#define STRATA_FLOW_GPU_MODES_H

#include "flow/gpu_measure.h"
#include "gpu/ncu_csv.h"

struct gpu_mode_run {
    struct gpu_collect collect;
    struct gpu_plan *plan;
    const struct gpu_profile_job *job;
    struct gpu_run *run;
    struct gpu_import pages; /* of ncu */
    bool is_partial;         /* something is missing in the result */
    const char *ncu_version; /* NULL: not used */
    struct gpu_measured measured;
};

/* Runs what the job's mode says. Partial data is in `run` when the program failed. */
enum gpu_outcome gpu_mode_collect(struct gpu_mode_run *m);
void gpu_mode_free(struct gpu_mode_run *m);

#endif
