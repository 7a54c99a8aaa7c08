/*
 * sqlview - SQL over the tables of a database, through SQLite in memory; and that as a file.
 *
 * One SQL table per operator, named like its file, with the columns of the header and _device,
 * _stack, _version, _file and _line. Files of one operator in several folders are one table. Empty
 * cells are NULL, numbers are numbers. An authorizer refuses everything but one SELECT, and only
 * tables whose name the statement holds are read.
 */
#ifndef STRATA_OPDB_ROWS_SQLVIEW_H
#define STRATA_OPDB_ROWS_SQLVIEW_H

#include "base/files/sink.h"
#include "opdb/rows/place.h"
#include "report/record.h"

/* Who takes the rows: none, whole, real or text; texts live until the next row. A callback that
 * gives false ends the run quietly. */
struct sqlview_sink {
    bool (*head)(void *ctx, const char *const *names, size_t n);
    bool (*row)(void *ctx, const struct field_value *cells, size_t n);
    void *ctx;
};

/* ST_UNSUPPORTED: the statement is wrong, or no single SELECT. */
enum status sqlview_run(const struct place_files *tree, struct str statement,
                        const struct sqlview_sink *sink, struct diag *d);

/* All tables as the bytes of an SQLite file. sqlview_file_free() it. */
struct sqlview_file {
    unsigned char *at;
    size_t n;
};
enum status sqlview_file(const struct place_files *tree, struct sqlview_file *out, struct diag *d);
void sqlview_file_free(struct sqlview_file *f);

#endif
