/*
 * trace_csv - a predicted trace as a table: one row for each complete event, in file order.
 */
#ifndef STRATA_PERFDB_TRACE_CSV_H
#define STRATA_PERFDB_TRACE_CSV_H

#include "perfdb/compare_trace.h"
#include "perfdb/table.h"

/* Fills `t`, which is then freed before the trace. */
void trace_csv_fill(const struct predicted *p, struct table *t);

#endif
