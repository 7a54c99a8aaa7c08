/*
 * gpu_collect - runs the workload under the injection library and reads what it recorded.
 *
 * Each call is one run of the program (event mode: as many as it takes). What the library could not
 * do comes as notes; here they become diagnostics with a way out, and an outcome.
 */
#ifndef STRATA_FLOW_GPU_COLLECT_H
#define STRATA_FLOW_GPU_COLLECT_H

#include "flow/gpu_recorded.h"
#include "flow/gpu_session.h"

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
    const char *names; /* with commas */
    int passes;        /* at most */
    bool is_replayed;  /* every launch has all of them; else launches of a kernel take turns */
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

/* Of annotation mode: all that fit two passes on recent chips, most needed first. The same for
 * kernels that are launched only once. And in place of ncu: caches, pipes and stalls as well, in
 * many passes. */
extern const struct gpu_metric_set gpu_metrics_quick, gpu_metrics_once, gpu_metrics_deep;

#endif
