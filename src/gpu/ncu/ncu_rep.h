/*
 * ncu_rep - reports of Nsight Compute (.ncu-rep) without its tool: the container that its manual
 * describes, version 7.
 *
 * Launches with their metrics come out as raw pages, findings of the rules as rows of a details
 * page, in the CSV that ncu prints; readers are those of ncu_csv.h. Listings of source and SASS are
 * not taken from reports.
 */
#ifndef STRATA_GPU_NCU_NCU_REP_H
#define STRATA_GPU_NCU_NCU_REP_H

#include "base/arena.h"
#include "base/diag.h"

/* A report, or one that was packed with zstd. */
bool ncu_rep_is(struct str text);

/* Pages of a report, one behind the other. What is cut is a loss, and whole launches stay;
 * ST_UNSUPPORTED for another version. */
enum status ncu_rep_pages(const char *path, struct str text, struct arena *arena, struct str *pages,
                          uint64_t *lost, struct diag *d);

#endif
