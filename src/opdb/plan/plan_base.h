/*
 * plan_base - the database of a system and engine that a plan asks.
 */
#ifndef STRATA_OPDB_PLAN_PLAN_BASE_H
#define STRATA_OPDB_PLAN_PLAN_BASE_H

#include "opdb/plan/plan.h"

struct plan_base {
    struct str system, engine, version;
    const char *dir;
    struct query_db db;
    struct curves curves;
    struct calibration_engine engine_cost;
};

/* Opens the databases of the request: for each system its engine, in the version that is asked for,
 * else in the newest one that has rows of this model. */
enum status plan_bases_open(struct plan *p, struct diag *d);
void plan_bases_close(struct plan *p);

#endif
