/*
 * plan - what a profiling run is to do: command line and spec file brought together.
 */
#ifndef STRATA_GPU_COLLECT_PLAN_H
#define STRATA_GPU_COLLECT_PLAN_H

#include "base/run/progress.h"
#include "gpu/collect/spec.h"
#include "gpu/judge/variants.h"

enum gpu_profile_mode { PROFILE_ANNOTATION, PROFILE_EVENT, PROFILE_NCU, PROFILE_NSYS };
enum gpu_backend { BACKEND_AUTO, BACKEND_CUPTI, BACKEND_NCU };
enum gpu_cache { CACHE_KEEP, CACHE_FLUSH };
enum gpu_clock_source { CLOCK_REAL, CLOCK_MONO };

/* "annotation", "event", ...; NULL at the end. */
extern const char *const gpu_profile_modes[], *const gpu_backends[], *const gpu_caches[],
                                                                         *const gpu_clock_sources[];

/* The command line of `strata gpu profile`, but for the clocks. */
struct gpu_profile_job {
    struct gpu_ask ask;
    enum gpu_profile_mode mode;
    enum gpu_backend backend;
    enum gpu_cache cache;               /* before each run */
    enum gpu_clock_source clock_source; /* of the records; CLOCK_MONO never jumps */
    const char *select;
    uint64_t skip, count, runs, warmup;
    bool is_shared, is_checked, is_compare_forced, is_dry;
    bool is_sampled;                     /* annotation mode: once more for source lines */
    const char *baseline, *devlog, *out; /* NULL: not given */
    double timeout_s, wait_s;
    const char *const *argv; /* what stands behind "--"; may be empty */
    size_t argc;
    const struct progress *progress;
};

struct gpu_plan {
    struct str kernel, version;
    struct gpu_spec spec;     /* empty without a file */
    struct gpu_params params; /* the spec's, overridden */
    struct str slug;
    const char *const *argv;              /* ends with NULL */
    const char *const *check;             /* NULL: none */
    VEC_OF(struct gpu_spec_stage) stages; /* empty: one for each kernel that matters */
    struct gpu_selection *selections;     /* of each stage */
    const char *command;                  /* argv in one line */
};

/* Everything lives in `arena` but for the lists. ST_FORMAT for mistakes on the command line, other
 * states for the spec file. */
enum status gpu_plan_make(struct gpu_plan *plan, const struct gpu_profile_job *job,
                          struct arena *arena, struct diag *d);
void gpu_plan_free(struct gpu_plan *plan);

/* Fills `selections` anew from the stages. */
void gpu_plan_select(struct gpu_plan *plan, struct arena *arena);

/* Fills a run: one kernel for each variant, and stages by the plan, or one for each kernel name;
 * the `n` runs of event mode; stages of kernels that are in the run already; what the diagnostics
 * said, as notes. `plan` must outlive the run. */
enum status gpu_fill_kernels(struct gpu_run *run, const struct gpu_plan *plan,
                             const struct gpu_variants *all, bool has_own_stages, struct diag *d);
enum status gpu_fill_timings(struct gpu_run *run, const struct gpu_plan *plan,
                             const struct gpu_variants *all, const struct gpu_launch *runs,
                             size_t n, struct diag *d);
enum status gpu_fill_stages(struct gpu_run *run, const struct gpu_plan *plan, struct diag *d);
void gpu_fill_notes(struct gpu_run *run, const struct diag *d);

/* Whether the command is a script that an interpreter runs: host time is in what it does. */
bool gpu_command_is_script(const char *const *argv);

/* "a b 'c d'": words as a shell would take them. */
const char *gpu_command_line(const char *const *argv, struct arena *arena);

#endif
