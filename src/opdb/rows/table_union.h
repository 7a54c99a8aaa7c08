/*
 * table_union - the tables of many operators as one CSV.
 *
 * Columns: operator, device, stack, version, file and line of the row; then each column that any
 * table has, in the order in which they come. Cells are those of the tables, without blanks around
 * them; a column that a table lacks is empty.
 */
#ifndef STRATA_OPDB_ROWS_TABLE_UNION_H
#define STRATA_OPDB_ROWS_TABLE_UNION_H

#include "base/files/sink.h"
#include "opdb/rows/place.h"

/* `is_safe`: no cell is taken for a formula (base/formats/csv_write.h). */
enum status table_union_write(const struct place_files *tree, bool is_safe, struct sink sink,
                              struct diag *d);

#endif
