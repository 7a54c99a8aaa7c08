/*
 * rundir - the folder of a run: JSON and CSV files that hold everything, and the report made from
 * them.
 *
 * A folder is filled under <name>.partial and renamed when it is whole. The report is always made
 * from the files, never from memory, so that making it again gives the same bytes.
 */
#ifndef STRATA_GPU_RUNDIR_H
#define STRATA_GPU_RUNDIR_H

#include "gpu/ncu_csv.h"
#include "gpu/run.h"

struct gpu_rundir {
    const char *final;   /* where the run ends up */
    const char *partial; /* where it is written */
    const char *parent;  /* gets the link "latest"; NULL: none wanted */
};

/* Chooses and creates the partial folder: `out` itself, which must not exist or be empty, or for
 * NULL out/profiles/<mode>/<kernel>/<params>/<timestamp>, with -2, -3, … when taken. */
enum status gpu_rundir_open(struct arena *arena, const struct gpu_run *run, const char *out,
                            const char *timestamp, struct gpu_rundir *dir, struct diag *d);

/* Writes the files of the run and its reports. `import` adds listings and may be NULL. */
enum status gpu_rundir_write(const struct gpu_rundir *dir, const struct gpu_run *run,
                             const struct gpu_import *import, struct diag *d);

/* Makes the folder appear under its name, and "latest" point to it. */
enum status gpu_rundir_finish(struct arena *arena, const struct gpu_rundir *dir, struct diag *d);

/* run.json of a run that did not end well, so that the partial folder says so. */
void gpu_rundir_abort(const struct gpu_rundir *dir, const struct gpu_run *run, struct diag *d);

/* Reads a folder back and judges it; `run` is initialised here. After a failure it is released. */
enum status gpu_rundir_load(const char *path, struct gpu_run *run, struct diag *d);

/* Writes report.md, report.html and, in ncu mode, report-verbose.md anew. */
enum status gpu_rundir_report(const char *path, struct diag *d);

/* The folder in writing: its JSON (rundir_json.c). */
enum status gpu_rundir_write_json(const char *dir, const struct gpu_run *run, const char *status,
                                  struct diag *d);

/* The extents of a grid, a block or a cluster as a member of three. */
void gpu_rundir_put_dims(struct json_writer *w, const char *key, const uint32_t dims[3]);

/* One whole file. */
enum status gpu_rundir_put(const char *dir, const char *name, struct str text, struct diag *d);

#endif
