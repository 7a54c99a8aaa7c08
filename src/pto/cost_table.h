/*
 * cost_table - the fitted A2/A3 table: cycles for each element and fixed, by operation, element
 * type and columns.
 */
#ifndef STRATA_PTO_COST_TABLE_H
#define STRATA_PTO_COST_TABLE_H

#include "pto/cost_data.h"

/* Reads data/pto/a2a3_fit.csv; false when a row does not make sense. */
bool pto_table_load(struct pto_costs *c, struct str text);

/* The row for this tile; false when there is none, or when its rows do not join. */
bool pto_table_find(const struct pto_costs *c, const struct pto_work *w, struct pto_fit *out);

#endif
