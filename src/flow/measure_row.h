/*
 * measure_row - a row of an operator table as the operator gets it.
 */
#ifndef STRATA_FLOW_MEASURE_ROW_H
#define STRATA_FLOW_MEASURE_ROW_H

#include "measure/op.h"
#include "perfdb/table.h"

/* Lists live in the arena. What is no shape or type is marked, and the operator refuses it. */
void measure_row_take(struct arena *arena, const struct op_table *t, size_t row,
                      struct op_row *out);

#endif
