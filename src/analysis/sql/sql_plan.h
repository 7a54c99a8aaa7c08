/*
 * sql_plan - how a scan over slices is narrowed and in which order it walks.
 *
 * SQLite asks for a plan with the terms of the statement; the plan is one number, which the scan
 * reads again: a mask of the terms whose values it gets, the walk, and the columns to come.
 */
#ifndef STRATA_ANALYSIS_SQL_SQL_PLAN_H
#define STRATA_ANALYSIS_SQL_SQL_PLAN_H

#include "analysis/sql/sql_module.h"

/* Columns of slices, kernels and host_events; what follows C_FIXED differs between them. */
enum sql_column {
    C_ID,
    C_TS,
    C_DUR,
    C_END_TS,
    C_NAME,
    C_KIND,
    C_LANE,
    C_LANE_NAME,
    C_PROCESS,
    C_DEVICE,
    C_STEP,
    C_RANK,
    C_CAT,
    C_TYPE,
    C_CORE,
    C_FIXED
};

/* What a scan is narrowed by, in the order of xFilter's arguments, and the way it walks. */
enum {
    F_ID = 1,
    F_NAME = 2,
    F_LANE = 4,
    F_TS_EQ = 8,
    F_TS_GE = 16,
    F_TS_GT = 32,
    F_TS_LE = 64,
    F_TS_LT = 128,
    F_STEP = 256,
    F_KIND = 512,
    F_RANK = 1024,
    F_BITS = 11,
    F_TS_LOW = F_TS_EQ | F_TS_GE | F_TS_GT,
    F_TS_HIGH = F_TS_EQ | F_TS_LE | F_TS_LT,
    WALK_SHIFT = 16,
    /* Columns that the statement reads: fetched ahead where a walk jumps through memory. */
    AHEAD_TS = 1 << 20,
    AHEAD_DUR = 1 << 21,
    AHEAD_LANE = 1 << 22
};
enum sql_walk { WALK_OWN, WALK_NAME, WALK_TIME, WALK_EACH_NAME };

/* Fills in SQLite's request; for xBestIndex. */
int sql_plan(const struct sql_view *v, enum sql_set set, sqlite3_index_info *info);

#endif
