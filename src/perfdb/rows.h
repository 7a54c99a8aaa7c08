/*
 * rows - an export too large for memory, row by row.
 *
 *     TRY(rows_open(&rows, path, d));
 *     int type = csv_column(&rows->csv, S("Type"));
 *     while (rows_next(rows))
 *         use(rows_cell(rows, type, &arena));
 *     enum status st = rows_close(rows);
 *
 * Plain or gzip, through one window: cells live until the next row. A Git LFS pointer in place of
 * the export is refused.
 */
#ifndef STRATA_PERFDB_ROWS_H
#define STRATA_PERFDB_ROWS_H

#include "base/csv.h"
#include "base/stream.h"

struct rows {
    struct csv csv;

    /* Private. */
    struct stream stream;
    struct diag *diag;
    const char *path;
    enum status status;
};

/* `path` and `d` must outlive it. On failure nothing needs to be closed. */
enum status rows_open(struct rows **out, const char *path, struct diag *d);

/* False at the end, after a read error and after an interruption; rows_close() tells which. */
bool rows_next(struct rows *rows);
enum status rows_close(struct rows *rows);

/* A cell without its quotes and blanks around it; doubled quotes are made single in the arena. */
struct str rows_cell(const struct rows *rows, int column, struct arena *arena);

#endif
