/*
 * sql_columns - the tables of a query as chunks of typed columns, read without SQLite.
 *
 * SQLite has no types for columns, files do: a column is whole numbers, reals or texts as all its
 * values require. Values that are no text become one in a column of texts.
 */
#ifndef STRATA_ANALYSIS_SQL_SQL_COLUMNS_H
#define STRATA_ANALYSIS_SQL_SQL_COLUMNS_H

#include "analysis/sql/sql_view.h"
#include "base/tables/columns.h"
#include "capture/cut.h"

struct sql_columns; /* a table */

/* The table of that name, which exists; `view` and `cuts` outlive it. With cuts, one of each
 * capture of the view, slices, kernels, host_events and flows have the rows in them, clipped as
 * they say; ids stay. NULL: all rows. */
struct sql_columns *sql_columns_open(struct sql_view *view, const char *table,
                                     const struct cut *cuts);
void sql_columns_close(struct sql_columns *t);

const struct column_info *sql_columns_info(const struct sql_columns *t, size_t *n);

/* Some chunks may have no rows. Chunks may be filled from several threads. */
size_t sql_columns_chunks(const struct sql_columns *t);
void sql_columns_fill(const struct sql_columns *t, size_t chunk, struct column_chunk *out);

#endif
