/*
 * gpu_jobs - what `strata gpu profile`, `import` and `annotate` do between their options and their
 * report.
 */
#ifndef STRATA_GPU_COLLECT_GPU_JOBS_H
#define STRATA_GPU_COLLECT_GPU_JOBS_H

#include "base/diag.h"
#include "base/tables/vec.h"
#include "gpu/collect/gpu_session.h"
#include "gpu/collect/plan.h"
#include "gpu/collect/run.h"
#include "gpu/ncu/ncu_csv.h"
#include "report/record.h"

/*
 * gpu_profile_job - one profiling run from the command line to the artifact tree.
 *
 * Order: plan, guardian, device, lock, correctness command, clocks, runs, clocks back, rules,
 * files. The clocks and the lock are given back on every way out.
 */

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

/*
 * gpu_import_job - files of other tools as a GPU run: pages of Nsight Compute, or traces, which go
 * through the importers of src/input and the timeline analysis.
 *
 *     enum status st = gpu_import_run(&job, &imported, d);
 *     … imported.run …
 *     gpu_imported_free(&imported);
 */

struct gpu_import_job {
    const char *const *paths;
    size_t n_paths;
    struct gpu_ask ask;
};

/* One file that was read. */
struct gpu_input {
    const char *path, *format;
    uint64_t rows, lost;
};

struct gpu_timeline_result;

/* What became of the files: pages as launches with counters, traces as a timeline. */
struct gpu_imported {
    struct gpu_run run;
    struct gpu_import pages; /* its texts live in the run */
    struct gpu_timeline_result *traces;
    size_t n_traces;
    VEC_OF(struct gpu_input) inputs;
    uint64_t rows, lost; /* of all inputs */
    const char *folder;  /* that was written; NULL: none */
};

extern const struct schema gpu_import_schema; /* over struct gpu_imported */

/* Loads and judges. Free the result, whatever comes back. */
enum status gpu_import_run(const struct gpu_import_job *job, struct gpu_imported *out,
                           struct diag *d);
void gpu_imported_free(struct gpu_imported *imported);

/* Writes the folder of the run: `out`, or for NULL one below strata-out/profiles with that time
 * stamp. */
enum status gpu_imported_save(struct gpu_imported *imported, const char *out, const char *stamp,
                              struct arena *arena, struct diag *d);

/*
 * annotated - the source files of a run folder, with samples in their margin, read back.
 */

/* An instruction of a line. */
struct gpu_annotated_sass {
    struct str pc, text, stall;
    double samples;
    uint64_t line;
};

struct gpu_annotated_line {
    uint64_t line;
    double share; /* percent of the kernel's samples; NAN: none */
    struct str stall, text;
};

/* One source file of one kernel. */
struct gpu_annotated {
    struct str kernel;
    const char *path; /* of the annotated file */
    double samples;
    VEC_OF(struct gpu_annotated_line) lines;
    VEC_OF(struct gpu_annotated_sass) sass; /* by place in the code */
};

struct gpu_annotations {
    VEC_OF(struct gpu_annotated) at;
};

/* Those of kernels whose names the expression finds (NULL: all), with their instructions. Texts
 * live in the arena. ST_NOT_FOUND, with a way out, when there are none. */
enum status gpu_annotated_read(const char *run, const char *regex, struct arena *arena,
                               struct gpu_annotations *out, struct diag *d);
void gpu_annotated_free(struct gpu_annotations *a);

/* Lines with their share, main reason and text; below those with samples, with `has_sass`, their
 * instructions. */
void gpu_annotated_show(const struct gpu_annotated *a, bool has_sass, struct report *r);

/* Over struct gpu_annotations. */
extern const struct schema gpu_annotate_schema;

#endif
