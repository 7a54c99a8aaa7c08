/*
 * gpu_measure - the runs of annotation and event mode, and what they gave for each stage.
 */
#ifndef STRATA_FLOW_GPU_MEASURE_H
#define STRATA_FLOW_GPU_MEASURE_H

#include "flow/gpu_collect.h"
#include "gpu/plan.h"

struct gpu_measured {
    struct gpu_recorded timing;           /* kernels without instruments */
    VEC_OF(struct gpu_recorded) counting; /* one for all regexes, one for each range */
    struct gpu_variants variants;
    struct gpu_recorded events; /* of event mode */
    size_t starts;              /* of the program, in event mode */
    bool is_degraded;           /* no counters here */
    bool is_partial;            /* some stage has no kernel, some kernel no counters */
    bool has_own_stages;        /* the user named none */
};

/* Partial data stays in `out` whatever the outcome. */
enum gpu_outcome gpu_measure_annotation(struct gpu_collect *c, struct gpu_plan *plan,
                                        const struct gpu_profile_job *job,
                                        struct gpu_metric_set metrics, struct gpu_measured *out);
enum gpu_outcome gpu_measure_event(struct gpu_collect *c, struct gpu_plan *plan,
                                   const struct gpu_profile_job *job, struct gpu_measured *out);

void gpu_measured_free(struct gpu_measured *m);

/* Names of the kernels that were seen, most launches first, at most `most`; "none" for none. */
struct str gpu_seen_names(const struct gpu_variants *v, size_t most, struct arena *arena);

#endif
