/*
 * table_diff - what a change would do to a table, as lines that begin with '-' and '+'.
 */
#ifndef STRATA_PERFDB_TABLE_DIFF_H
#define STRATA_PERFDB_TABLE_DIFF_H

#include "perfdb/table.h"

/* Prints "--- path", "+++ path" and the rows that go and come, in the order of the tables; nothing
 * when they are equal. `old` is NULL for a new file. A row that moved is printed twice. */
void table_diff(const struct table *old, const struct table *fresh, const char *path,
                struct sink sink);

#endif
