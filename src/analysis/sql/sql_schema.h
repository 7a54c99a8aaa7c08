/*
 * sql_schema - the list of tables, and their columns by name.
 */
#ifndef STRATA_ANALYSIS_SQL_SQL_SCHEMA_H
#define STRATA_ANALYSIS_SQL_SQL_SCHEMA_H

#include "analysis/sql/sql_module.h"

extern const struct sql_table sql_tables[]; /* by name */
extern const size_t sql_table_count;

/* Takes the next column's name off a declaration "id INTEGER, name TEXT"; false at its end. */
bool sql_next_column(struct str *rest, struct str *name);

#endif
