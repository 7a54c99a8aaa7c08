/*
 * table_union - the tables of many operators as one CSV.
 *
 * Columns: operator, device, stack, version, file and line of the row; then each column that any
 * table has, in the order in which they come. Cells are those of the tables, without blanks around
 * them; a column that a table lacks is empty.
 */
#ifndef STRATA_PERFDB_TABLE_UNION_H
#define STRATA_PERFDB_TABLE_UNION_H

#include "base/csv_write.h"
#include "perfdb/place.h"

enum status table_union_write(const struct place_files *tree, struct csv_write *out,
                              struct diag *d);

#endif
