/*
 * sql_table - tables that are only tables: a statement over what `strata query` reads, and the unit
 * of each column.
 *
 * data/tables/<name>.sql begins with a line for each column, "-- name unit head"; the rest is the
 * statement. A unit says what the numbers are and how a report prints them: text, count, ms and us
 * (both nanoseconds), share, bytes, plain. One line of sql_tables.def makes the file an analysis
 * (`strata analyze`). What replays, searches or decides, or needs unions of times, is C.
 */
#ifndef STRATA_ANALYSIS_SQL_SQL_TABLE_H
#define STRATA_ANALYSIS_SQL_SQL_TABLE_H

#include "analysis/analysis.h"

struct sql_table_column {
    struct str name, unit, head;
};

/* A table with its rows. */
struct sql_table_rows {
    const char *name;
    const struct sql_table_column *columns;
    size_t n;
    struct value_rows rows;
    struct str problem; /* why there are no rows; empty: there are, or none fit */
};

/* The columns of a file, and the statement behind them. False: a line has no known unit. */
bool sql_table_read(struct arena *arena, struct str file, struct sql_table_rows *out,
                    struct str *statement);

/* Rows of the study's capture; they live in its scratch memory. */
const struct sql_table_rows *sql_table_find(struct study *st, const char *name);

void sql_table_describe(struct study *st, const char *name, struct report *r);

/* Of every such table. */
extern const struct schema sql_table_schema;

#define SQL_TABLE(sym, needs, summary) extern const struct analysis analysis_##sym;
#include "analysis/sql/sql_tables.def"
#undef SQL_TABLE

#endif
