/*
 * whatif_answer - what `strata whatif` says: every change by itself, and several together.
 */
#ifndef STRATA_ANALYSIS_DIAGNOSE_WHATIF_ANSWER_H
#define STRATA_ANALYSIS_DIAGNOSE_WHATIF_ANSWER_H

#include "analysis/diagnose/whatif.h"

struct report;

/* Who decided how long the unchanged run took; shares of its critical path. */
struct whatif_path {
    size_t nodes;
    double host, wait, device;
};

struct whatif_answer {
    size_t steps;
    bool is_pseudo;                 /* no steps are marked: times are of the whole capture */
    bool is_mixed;                  /* the steps differ: times are of all of them together */
    nanos recorded, profiled, bare; /* step time: measured, replayed, without the profiler */
    nanos bare_low, bare_high;
    double identity_error;
    size_t nodes, edges;
    nanos latency, gap;
    struct whatif_path path;
    const char *cost_origin;
    bool is_calibrated;           /* the profiler's cost is known; else `bare` means nothing */
    struct whatif_result *single; /* by saving, largest first; those asked for in their order */
    size_t singles;
    struct whatif_result *together; /* each on top of those before it */
    size_t n;
    double saving, profiled_saving; /* of all of `together` */
    const char *missing;            /* what the capture cannot show; NULL */
};

/* Asks for the changes, one by one and together; without any, for all of them and the best
 * combination. Lives in the study. */
const struct whatif_answer *whatif_answer_find(struct study *st, struct whatif *w,
                                               const struct whatif_change *changes, size_t n);

void whatif_answer_describe(const struct whatif_answer *answer, struct report *r);

/* A table of all changes. */
void whatif_answer_kinds(struct report *r);

extern const struct record whatif_record;       /* of a struct whatif_answer */
extern const struct schema whatif_kinds_schema; /* of a list of struct whatif_kind */
extern const struct schema whatif_schema;       /* of a struct whatif_answer */

#endif
