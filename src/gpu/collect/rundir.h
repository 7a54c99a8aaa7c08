/*
 * rundir - the folder of a run: JSON and CSV files that hold everything, and its report.
 *
 * A folder is filled under <name>.partial and renamed when it is whole. The report says nothing
 * that the files do not hold, so that making it again from them gives the same bytes.
 */
#ifndef STRATA_GPU_COLLECT_RUNDIR_H
#define STRATA_GPU_COLLECT_RUNDIR_H

#include "gpu/collect/run.h"
#include "gpu/ncu/ncu_csv.h"
#include "report/message.h"

struct gpu_rundir {
    const char *final;   /* where the run ends up */
    const char *partial; /* where it is written */
    const char *parent;  /* gets the link "latest"; NULL: none wanted */
};

/* Chooses and creates the partial folder: `out` itself, which must not exist or be empty, or for
 * NULL strata-out/profiles/<mode>/<kernel>/<params>/<timestamp>, with -2, -3, … when taken. */
enum status gpu_rundir_open(struct arena *arena, const struct gpu_run *run, const char *out,
                            const char *timestamp, struct gpu_rundir *dir, struct diag *d);

/* Writes the files of the run and its reports. `import` adds listings and may be NULL. Texts of the
 * run that are no UTF-8 become it. */
enum status gpu_rundir_write(const struct gpu_rundir *dir, struct gpu_run *run,
                             const struct gpu_import *import, struct diag *d);

/* Makes the folder appear under its name, and "latest" point to it. */
enum status gpu_rundir_finish(struct arena *arena, const struct gpu_rundir *dir, struct diag *d);

/* run.json of a run that did not end well, so that the partial folder says so. */
void gpu_rundir_abort(const struct gpu_rundir *dir, const struct gpu_run *run, struct diag *d);

/* Reads a folder back and judges it; `run` is initialised here. After a failure it is released. */
enum status gpu_rundir_load(const char *path, struct gpu_run *run, struct diag *d);

/* Writes report.md, report.html and, in ncu mode, report-verbose.md. `markdown` gets the first. */
enum status gpu_rundir_report(const char *path, const struct gpu_run *run, enum lang lang,
                              struct text *markdown, struct diag *d);

/* One whole file. */
enum status gpu_rundir_put(const char *dir, const char *name, struct str text, struct diag *d);

#endif
