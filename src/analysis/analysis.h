/*
 * analysis - every question strata can ask of one capture, as a table.
 *
 * An analysis is one file and one line in analyses.def, or a statement and a line in
 * sql/sql_tables.def. It reads a study and finds a result, which
 * it describes twice: as a record for programs, and as a report for people. It never prints.
 * `strata analyze`, the library, the fuzzers and the schemas go through the table.
 *
 * Not in it, as they ask something else than one sealed capture: compare (two captures), sql (a
 * statement of the user), inventory (what was lost while reading, over several captures) and
 * incore_lint (a file before it is read). Timelines of a GPU are the worker gpu's.
 */
#ifndef STRATA_ANALYSIS_ANALYSIS_H
#define STRATA_ANALYSIS_ANALYSIS_H

#include "analysis/study.h"
#include "base/diag.h"
#include "report/record.h"
#include "report/report.h"

struct analysis {
    const char *name;
    const char *summary;
    unsigned needs;              /* mask of enum has: without these there is nothing to find */
    const struct schema *schema; /* <symbol>_schema: the document of the result */
    const void *(*find)(struct study *st); /* the result, which lives in the study */
    void (*run)(struct study *st, struct report *r);
};

#define ANALYSIS(sym)                                                                              \
    extern const struct analysis analysis_##sym;                                                   \
    extern const struct schema sym##_schema;
#include "analysis/analyses.def"
#undef ANALYSIS

/* By number; NULL past the last. */
const struct analysis *analysis_at(size_t i);

/* The analysis of that name, or NULL. */
const struct analysis *analysis_named(struct str name);

/* How a capture is to be studied for it. */
struct study_options analysis_options(const struct analysis *a);

/* "kernels, communication"; "" for an empty mask. */
const char *analysis_needs_text(struct arena *arena, unsigned mask);

/* Warns when the capture lacks something that the analysis needs. */
void analysis_check_needs(const struct analysis *a, const struct capture *cap, struct diag *d);

#endif
