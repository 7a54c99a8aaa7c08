/*
 * analysis - every question strata can ask of a capture, as a table.
 *
 * An analysis is one file and one line in analyses.def. It reads a study and fills a report; it
 * never prints.
 */
#ifndef STRATA_ANALYSIS_ANALYSIS_H
#define STRATA_ANALYSIS_ANALYSIS_H

#include "analysis/study.h"
#include "report/report.h"

struct analysis {
    const char *name;
    enum level level;
    const char *summary;
    unsigned needs; /* mask of enum has: without these there is nothing to say */
    void (*run)(struct study *st, struct report *r);
};

#define ANALYSIS(sym) extern const struct analysis analysis_##sym;
#include "analysis/analyses.def"
#undef ANALYSIS

/* The analysis of that name, or NULL. */
const struct analysis *analysis_named(struct str name);

#endif
