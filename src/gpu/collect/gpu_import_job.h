/*
 * gpu_import_job - files of other tools as a GPU run: pages of Nsight Compute, or traces, which go
 * through the importers of src/input and the timeline analysis.
 *
 *     enum status st = gpu_import_run(&job, &imported, d);
 *     … imported.run …
 *     gpu_imported_free(&imported);
 */
#ifndef STRATA_GPU_COLLECT_GPU_IMPORT_JOB_H
#define STRATA_GPU_COLLECT_GPU_IMPORT_JOB_H

#include "gpu/collect/run.h"
#include "gpu/ncu/ncu_csv.h"
#include "report/record.h"

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

#endif
