/*
 * union_dataset - the tables of many operators as one table of typed columns, for Parquet and
 * Arrow.
 *
 * Columns are those of opdb/rows/table_union.h. A column whose cells are all numbers has numbers;
 * shapes, types, formats and lists of lengths are texts whatever they hold. Empty cells are null.
 */
#ifndef STRATA_OPDB_ROWS_UNION_DATASET_H
#define STRATA_OPDB_ROWS_UNION_DATASET_H

#include "base/files/sink.h"
#include "opdb/rows/place.h"

enum union_form { UNION_PARQUET, UNION_ARROW };

enum status union_dataset_write(const struct place_files *tree, enum union_form form,
                                struct sink out, struct diag *d);

#endif
