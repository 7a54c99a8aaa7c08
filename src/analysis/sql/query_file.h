/*
 * query_file - the rows of a statement as an Arrow or Parquet file.
 *
 * Files have types and SQLite's columns have none, so the statement runs twice: once to see which
 * types each column holds, once for the rows. Whole numbers among reals become reals, numbers among
 * texts become texts, blobs become hexadecimal digits.
 */
#ifndef STRATA_ANALYSIS_SQL_QUERY_FILE_H
#define STRATA_ANALYSIS_SQL_QUERY_FILE_H

#include "analysis/sql/sql.h"
#include "render/datasets/dataset.h"

struct query_file {
    const struct dataset_form *form;
    struct sink out;        /* keeps the reason when it fails */
    struct sql_query query; /* without who takes the rows; its timeout is for both runs */
    bool is_plain;          /* not compressed */
};

/* `rows` is how many were written. ST_FORMAT and query.unsteady when the second run gives values
 * that the first did not. */
enum status query_file_write(struct sql *sql, const struct query_file *file, struct diag *d,
                             uint64_t *rows);

#endif
