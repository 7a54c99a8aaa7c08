/*
 * analysis - every question strata can ask of a capture, as a table.
 *
 * An analysis is one file and one line in analyses.def. It reads a study and finds a result, which
 * it describes twice: as a record for programs, and as a report for people. It never prints.
 */
#ifndef STRATA_ANALYSIS_ANALYSIS_H
#define STRATA_ANALYSIS_ANALYSIS_H

#include "analysis/study.h"
#include "report/record.h"
#include "report/report.h"

struct analysis {
    const char *name;
    enum level level;
    const char *summary;
    unsigned needs;              /* mask of enum has: without these there is nothing to say */
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

#endif
