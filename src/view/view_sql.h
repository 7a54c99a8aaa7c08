/*
 * view_sql - the SQL box of `strata view`: one statement at a time, read-only, with limits.
 */
#ifndef STRATA_VIEW_VIEW_SQL_H
#define STRATA_VIEW_VIEW_SQL_H

#include "base/diag.h"
#include "base/text.h"

struct sql;

enum { VIEW_SQL_ROWS = 10000, VIEW_SQL_BYTES = 8 << 20 };

/* Columns and rows as JSON, with "truncated" when a limit was reached; or {"error": text} and
 * false. The caller sees to it that one statement runs at a time. */
bool view_sql_run(struct sql *sql, struct str statement, struct text *out);

/* Tables and their columns. */
void view_sql_tables(struct text *out);

#endif
