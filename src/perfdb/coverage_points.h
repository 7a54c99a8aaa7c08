/*
 * coverage_points - the values that the rows of a table have on an axis.
 */
#ifndef STRATA_PERFDB_COVERAGE_POINTS_H
#define STRATA_PERFDB_COVERAGE_POINTS_H

#include "perfdb/grid_rules.h"
#include "perfdb/table.h"

struct coverage_points {
    bool is_measured; /* only rows that have a duration */
    VEC_OF(int64_t) at;
};

/* Takes the values of a variable of the pattern: from the first operand that has it as a dimension
 * of its own. Rows whose operand has another number of dimensions do not count. False when no
 * operand has the variable. */
bool coverage_points_take(struct coverage_points *p, const struct table *t,
                          const struct grid_pattern *pattern, struct str name);

/* Takes the whole numbers of a column; false when the table has no such column. */
bool coverage_points_column(struct coverage_points *p, const struct table *t, struct str name);

/* Attention is made in code; its axes are batch, seq (prefill) and avg_seq_len (decode). */
bool coverage_points_is_attention(const struct grid_pattern *pattern);

#endif
