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

/* Looks below `workspace` and checks trace.json, visualize_data.bin and the tables. Warns when a
 * shape of kernel should have left more tables. */
enum status exported_find(struct arena *arena, const char *workspace, enum shape shape,
                          struct exported *out, struct diag *d);

#endif
