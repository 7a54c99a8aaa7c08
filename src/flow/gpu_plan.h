/*
 * gpu_plan - what a profiling run is to do: command line and spec file brought together.
 */
#ifndef STRATA_FLOW_GPU_PLAN_H
#define STRATA_FLOW_GPU_PLAN_H

#include "driver/clocks.h"
#include "flow/gpu_variants.h"
#include "gpu/spec.h"

enum gpu_profile_mode { PROFILE_ANNOTATION, PROFILE_EVENT, PROFILE_NCU, PROFILE_NSYS };
enum gpu_backend { BACKEND_AUTO, BACKEND_CUPTI, BACKEND_NCU };

/* "annotation", "event", "ncu", "nsys". */
const char *gpu_profile_mode_name(enum gpu_profile_mode mode);

/* The command line of `strata gpu profile`. */
struct gpu_profile_job {
    enum gpu_profile_mode mode;
    enum gpu_backend backend;
    const char *kernel, *version, *spec, *flops, *bytes, *dtype, *select; /* NULL: not given */
    const char *const *params;                                            /* "key=value" */
    size_t n_params;
    uint64_t skip, count, runs, warmup;
    struct clock_want clock;
    bool is_mono; /* clock of the records: never jumps */
    bool is_cache_flushed, is_shared, is_checked, is_compare_forced, is_dry;
    const char *device, *baseline, *devlog, *out;
    double timeout_s, wait_s, peak_tflops, peak_gbps;
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

/* Whether the command is a script that an interpreter runs: host time is in what it does. */
bool gpu_command_is_script(const char *const *argv);

/* "a b 'c d'": words as a shell would take them. */
const char *gpu_command_line(const char *const *argv, struct arena *arena);

#endif
