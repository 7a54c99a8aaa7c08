/*
 * devlog - the block of a run in a development log that people write.
 *
 * The block of a version stands between two comment lines; it is replaced, or added at the end, and
 * everything else stays as it is.
 */
#ifndef STRATA_GPU_DEVLOG_H
#define STRATA_GPU_DEVLOG_H

#include "base/markdown.h"
#include "gpu/run.h"

/* `log` with the block of `run` in it. */
void gpu_devlog_update(struct str log, const struct gpu_run *run, struct text *out);

/* Reads, updates and writes the file; a missing one is made. */
enum status gpu_devlog_write(const char *path, const struct gpu_run *run, struct diag *d);

#endif
