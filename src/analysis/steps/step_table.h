/*
 * step_table - the steps of a capture by the rules of analysis/steps/steps, for those who have no
 * study.
 *
 * Nothing is made up: a capture that marks no steps has none.
 */
#ifndef STRATA_ANALYSIS_STEPS_STEP_TABLE_H
#define STRATA_ANALYSIS_STEPS_STEP_TABLE_H

#include "capture/capture.h"

struct step_row {
    strid name;     /* as the source spells it: "ProfilerStep#50", "50" */
    int64_t number; /* UNKNOWN when the name has none */
    nanos begin, end;
};

struct step_table {
    VEC_OF(struct step_row) rows; /* by begin */
    const char *source;           /* "profiler_step", "step_id_column", ...; "none" */
};

/* `cap` is sealed. The caller frees the table. */
void step_table_init(struct step_table *t, const struct capture *cap);
void step_table_fini(struct step_table *t);

/* The step that a time lies in: its number in `rows`, or -1. */
ptrdiff_t step_table_at(const struct step_table *t, nanos time);

#endif
