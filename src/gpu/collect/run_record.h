/*
 * run_record - the parts of a run described once: for the JSON files of its folder, which are read
 * back by the same descriptions, and for the answers of `strata gpu --json`.
 */
#ifndef STRATA_GPU_COLLECT_RUN_RECORD_H
#define STRATA_GPU_COLLECT_RUN_RECORD_H

#include "gpu/collect/run.h"
#include "report/record.h"

extern const struct record gpu_params_record;  /* params.json behind the parameters */
extern const struct record gpu_kernels_record; /* kernels.json */
extern const struct record gpu_info_record;    /* the end of run.json: clock and notes */
extern const struct record gpu_notes_record;   /* the same when the clock was told */
extern const struct record gpu_tiling_record;  /* tiling/<stage>.json behind the plan's; over the
                                                  stage's kernel, env->user is the stage */
extern const struct record gpu_work_record;
extern const struct record gpu_change_record;

/* Parts of answers, over struct gpu_run: names, and what was found out. */
extern const struct record gpu_names_record, gpu_judged_record;

/* Over struct gpu_run; env->user of the report is its Markdown, a struct text. */
extern const struct schema gpu_report_schema;

/* Reads the members of an object by a description. What is missing, or of another kind, stays as
 * it is; elements of lists begin as zeros with numbers not known (NAN). Lists are vecs. */
void gpu_record_read(const struct record *r, const struct tree *node, struct arena *arena,
                     void *record);

/* Makes texts of any bytes UTF-8, as being written to JSON and read back would; true when one has
 * changed. */
bool gpu_run_clean(struct gpu_run *run);

#endif
