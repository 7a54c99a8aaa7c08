/*
 * exported - what a collection must have left: the folder MindStudio Insight opens.
 */
#ifndef STRATA_REPLAY_EXPORTED_H
#define STRATA_REPLAY_EXPORTED_H

#include "base/diag.h"
#include "replay/shape.h"

struct exported {
    const char *simulator; /* <workspace>/insight_export/OPPROF_<x>/simulator, the last one */
    size_t n_csv;          /* tables of executed instructions, one for each core */
};

/* The folder of the last run that is there now; NULL: none. */
const char *exported_last(struct arena *arena, const char *workspace);

/* Looks below `workspace` for a folder other than `before`, which an earlier run left, and checks
 * trace.json, visualize_data.bin and the tables. Warns when a shape of kernel should have left more
 * tables. */
enum status exported_find(struct arena *arena, const char *workspace, const char *before,
                          enum shape shape, struct exported *out, struct diag *d);

#endif
