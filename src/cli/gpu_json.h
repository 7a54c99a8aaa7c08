/*
 * gpu_json - a judged GPU run in the JSON answers of `strata gpu`: members of the object that is
 * being written.
 */
#ifndef STRATA_CLI_GPU_JSON_H
#define STRATA_CLI_GPU_JSON_H

#include "base/json_write.h"
#include "gpu/run.h"

/* mode, kernel, version */
void gpu_json_names(struct json_writer *j, const struct gpu_run *run);

/* duration_us, stages, opportunities: the three of the report */
void gpu_json_judged(struct json_writer *j, const struct gpu_run *run);

/* changes: against a baseline */
void gpu_json_changes(struct json_writer *j, const struct gpu_run *run);

#endif
