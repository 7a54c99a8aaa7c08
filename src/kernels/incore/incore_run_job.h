/*
 * incore_run_job - every kernel of a build, profiled: on the embedded simulator or on the
 * vendor's.
 *
 * Whatever ran, a run leaves the same tree:
 *
 *     <root>/<name>_<date>/funcs/<kernel>/collect/out/OPPROF_…/simulator/…
 *     <root>/<name>_<date>/manifest_export.csv, summary.txt, manifest.json, README.txt
 */
#ifndef STRATA_KERNELS_INCORE_INCORE_RUN_JOB_H
#define STRATA_KERNELS_INCORE_INCORE_RUN_JOB_H

#include "base/run/progress.h"
#include "kernels/replay/discover.h"
#include "kernels/replay/run_index.h"

enum incore_backend { INCORE_AUTO, INCORE_SIM, INCORE_MSPROF };

struct incore_run_job {
    struct discover_job find;
    enum incore_backend backend;
    const char *target; /* a2a3 or a5; NULL: as the kernels say */

    /* the build, when a case makes it */
    const char *case_script, *run_command, *build_output_root, *task_device;
    struct words case_args, case_env;
    bool task_submit;

    /* toolchain */
    const char *cann_set_env, *pto_isa_root, *ptoas_root, *soc, *arch, *msopprof;
    bool auto_msopprof;
    int64_t launch_count, sim_minutes, wall_seconds, step_seconds, build_seconds;

    /* What a kernel is given: "NAME=TEXT"; the name is an argument's, of the PTO text or the C++
     * source, or its number. */
    struct words args, inputs, fills, dims;
    bool allow_synthetic;
    bool is_trusted; /* kernels in C++ need no sandbox */

    const char *output_root, *name;
    const char *repo_root; /* for the record; NULL: here */
    bool keep_going, clean, resume;
    const char *resume_root; /* NULL: the last run */
    const char *command;     /* as typed, for the record */
    int64_t jobs;

    const struct progress *progress;
    void (*say)(void *ctx, const char *line);
    void *say_ctx;
};

struct incore_run_result {
    struct arena arena;
    const char *run_root, *backend;
    struct run_rows rows;
    size_t resumed; /* kernels that were done before */
    size_t planned;
};

extern const struct schema incore_run_schema;

/* Only finds the kernels; needs no toolchain. `job->find.build_dir` may be set by a case first. */
enum status incore_run_list(struct incore_run_job *job, struct arena *arena,
                            struct kernel_sources *out, struct diag *d);

/* The build that a run folder has results of, as its README names it; NULL: none is named. */
const char *incore_run_build_of(struct arena *arena, const char *run_root);

/* Kernels that fail are rows, not errors. Call incore_run_result_free() in any case. */
enum status incore_run_run(struct incore_run_job *job, struct diag *d,
                           struct incore_run_result *result);
void incore_run_result_free(struct incore_run_result *result);

#endif
