/*
 * gpu_modes - what each mode of `strata gpu profile` runs, up to a filled struct gpu_run.
 */
#ifndef STRATA_GPU_COLLECT_GPU_MODES_H
#define STRATA_GPU_COLLECT_GPU_MODES_H

#include "gpu/collect/gpu_recorded.h"
#include "gpu/collect/gpu_session.h"
#include "gpu/collect/plan.h"
#include "gpu/collect/run.h"
#include "gpu/collect/sampled.h"
#include "gpu/ncu/ncu_csv.h"

/*
 * Runs the workload under the injection library and reads what it recorded.
 *
 * Each call is one run of the program (event mode: as many as it takes). What the library could not
 * do comes as notes; here they become diagnostics with a way out, and an outcome.
 */

struct gpu_collect {
    struct gpu_session *session;
    struct arena *arena;
    struct diag *diag;
    const char *const *argv;
    const char *injected;             /* libstrata-inject.so */
    const char *folder;               /* of the run; each part gets a folder below */
    int device;                       /* only this CUDA device; -1: all */
    bool is_strict;                   /* no counters is an error, not a lesser result */
    bool keeps_code;                  /* timed runs save the GPU code as well */
    bool is_mono;                     /* times of the monotonic clock */
    uint64_t flush_bytes;             /* of event mode */
    int program_code, program_signal; /* of the last run */
    bool has_failed;                  /* the program did, at least once */
};

struct gpu_metric_set {
    const char *const *names; /* up to NULL; see gpu/inject/metric_set.h */
    int passes;               /* at most */
    bool is_replayed; /* every launch has all of them; else launches of a kernel take turns */
};

struct gpu_pick {
    const char *regex, *range; /* NULL: all */
    uint64_t skip, count;      /* count 0: all */
};

/* Kernels as they ran, without counters. `preset` is min, std or full. */
enum gpu_outcome gpu_collect_trace(struct gpu_collect *c, const char *part, const char *preset,
                                   struct gpu_recorded *out);

/* Counters of the picked launches, the first `metrics` that fit into so many passes. `is_degraded`
 * is set when there are none for a reason that the machine gave; it is told. */
enum gpu_outcome gpu_collect_counters(struct gpu_collect *c, const char *part, struct gpu_pick pick,
                                      struct gpu_metric_set metrics, struct gpu_recorded *out,
                                      bool *is_degraded);

/* At least `runs` timed runs after `warmup` others; the program is started again until there are
 * enough. `starts` says how often. */
enum gpu_outcome gpu_collect_events(struct gpu_collect *c, const char *part, struct gpu_pick pick,
                                    uint64_t warmup, uint64_t runs, struct gpu_recorded *out,
                                    size_t *starts);

/* Samples of program counters: where warps stand. `busy_ns` is how long kernels take, for the
 * distance of samples. What cannot be had is a note; the program may fail. */
enum gpu_outcome gpu_collect_samples(struct gpu_collect *c, const char *part, double busy_ns,
                                     struct gpu_recorded *out);

/* Of annotation mode: launches of a kernel take turns with eight groups. And in place of ncu: every
 * launch with all of them, in many passes. */
extern const struct gpu_metric_set gpu_metrics_quick, gpu_metrics_deep;

/*
 * The runs of annotation and event mode, and what they gave for each stage.
 */

struct gpu_measured {
    struct gpu_recorded timing;           /* kernels without instruments */
    VEC_OF(struct gpu_recorded) counting; /* one for all regexes, one for each range */
    struct gpu_variants variants;
    struct gpu_recorded sampled; /* of annotation mode */
    struct gpu_recorded events;  /* of event mode */
    size_t starts;               /* of the program, in event mode */
    bool is_degraded;            /* no counters here */
    bool is_partial;             /* some stage has no kernel, some kernel no counters */
    bool has_own_stages;         /* the user named none */
};

/*
 * The GPU code of a run: which of the modules that the program loaded hold the
 * kernels of its stages, and what they tell.
 *
 * The injection library saves every module beside its trace. Those with a kernel of a stage go to
 * compiled/<stage>/, with their PTX and the resources of the kernels; nvdisasm, where it is
 * installed, gives the instructions. All others are removed.
 */

struct gpu_compiled_job {
    const char *folder;                /* of the run */
    const char *modules;               /* where the library wrote */
    const char *program;               /* argv[0]: what cuobjdump may look into */
    const struct gpu_launch *launches; /* tell the mangled names */
    size_t n_launches;
    struct gpu_samples samples;
};

/* Listings go to `pages`, their hottest places to the kernels of the run. What cannot be had is a
 * note or a loss in `d`, never a failure. */
void gpu_compiled_keep(const struct gpu_compiled_job *job, struct gpu_run *run,
                       struct gpu_import *pages, struct diag *d);

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
