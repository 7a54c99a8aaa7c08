/*
 * gpu_profile_job - one profiling run from the command line to the artifact tree.
 *
 * Order: plan, guardian, device, lock, correctness command, clocks, runs, clocks back, rules,
 * files. The clocks and the lock are given back on every way out.
 */
#ifndef STRATA_GPU_COLLECT_GPU_PROFILE_JOB_H
#define STRATA_GPU_COLLECT_GPU_PROFILE_JOB_H

#include "gpu/collect/gpu_session.h"
#include "gpu/collect/plan.h"
#include "report/record.h"

struct gpu_profile_result {
    struct gpu_run run;
    bool has_run;
    struct str text;    /* for stdout: the report, or the plan of a dry run */
    const char *folder; /* NULL: none was written */
    VEC_OF(const char *) written;
    const char *origin; /* "measured", or "estimated" for a dry run */
};

/* Texts of the result live in `arena`; free it in any case. */
enum gpu_outcome gpu_profile_run(const struct gpu_profile_job *job, struct clock_want clock,
                                 struct arena *arena, struct gpu_profile_result *result,
                                 struct diag *d);
void gpu_profile_free(struct gpu_profile_result *result);

/* Over the result; needs env->arena. */
extern const struct schema gpu_profile_schema;

#endif
