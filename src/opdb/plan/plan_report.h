/*
 * plan_report - a plan as it is shown: document, report, table of all points.
 */
#ifndef STRATA_OPDB_PLAN_PLAN_REPORT_H
#define STRATA_OPDB_PLAN_PLAN_REPORT_H

#include "base/files/sink.h"
#include "opdb/plan/plan.h"

/* The calls of a step of one row of the top. */
struct plan_explained {
    uint64_t rank;
    struct step_list list;
    struct step_cost cost;
};

struct plan_result {
    struct plan *plan;
    struct str model, calibration;
    double prompt, output;
    uint64_t configurations, answered;
    int64_t least_cards, sure_cards;
    struct plan_row *top, *front;
    size_t n_top, n_front;
    struct plan_refusal *refused;
    size_t n_refused;
    struct plan_explained explained;
    bool is_explained;
};

/* The best rows of a plan, at most one of each layout. */
void plan_result_set(struct plan_result *r, struct plan *p, size_t top);

extern const struct schema plan_schema; /* strata.db-plan/1, of a struct plan_result */
struct report;
void plan_describe(const void *result, struct report *r);

/* All points as CSV, with the names of columns that AIConfigurator has; the front is marked. */
bool plan_front_csv(const void *result, struct sink sink);

#endif
