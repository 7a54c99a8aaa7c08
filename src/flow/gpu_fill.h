/*
 * gpu_fill - measurements and machine facts put into the struct that rules and reports read.
 */
#ifndef STRATA_FLOW_GPU_FILL_H
#define STRATA_FLOW_GPU_FILL_H

#include "flow/gpu_measure.h"
#include "gpu/run.h"

/* Names, parameters, device and peaks. `plan` must outlive the run. */
enum status gpu_fill_facts(struct gpu_run *run, const struct gpu_plan *plan,
                           const struct gpu_profile_job *job, const struct gpu_session *s,
                           struct diag *d);

/* One kernel for each variant; stages by the plan, or one for each kernel name. */
enum status gpu_fill_kernels(struct gpu_run *run, const struct gpu_plan *plan,
                             const struct gpu_measured *m, struct diag *d);

/* The runs of event mode. */
enum status gpu_fill_timings(struct gpu_run *run, const struct gpu_plan *plan,
                             const struct gpu_measured *m, struct diag *d);

/* Stages of kernels that are in the run already. */
enum status gpu_fill_stages(struct gpu_run *run, const struct gpu_plan *plan, struct diag *d);

/* What the diagnostics said, as notes of the report. */
void gpu_fill_notes(struct gpu_run *run, const struct diag *d);

#endif
