/*
 * db_table - the rows of a plain SQLite table, straight from the pages of the file.
 *
 * The engine takes some 30 ns for each value of a row, and a profile has hundreds of millions of
 * them; a table whose rows are only walked from first to last needs none of its machinery. This
 * walks the table's tree and unpacks the columns of interest, with the file's own types. Measured
 * on an Ascend database of 434 MB: `strata info` takes 2.6 s of processor time, and 4.4 s with the
 * engine alone (STRATA_SQLITE=engine).
 *
 * Whatever is not plain (rows that go on in other pages, rows older than a column, damage of any
 * sort) ends the walk with DB_TABLE_ODD: the caller asks the engine for the rest. So nothing is
 * judged here, and nothing is repaired.
 * Format: "Database File Format" of the SQLite documentation, sections 1.3, 1.6 and 2.1.
 */
#ifndef STRATA_BASE_TABLES_DB_TABLE_H
#define STRATA_BASE_TABLES_DB_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Where the pages are: in memory with `text.at` set, else in the file behind `fd`. */
struct db_pages {
    struct str text;
    int fd; /* -1: the file cannot be read this way */
    uint32_t size, usable, n;
};

/* Finds the sizes in the head of a file of `bytes` bytes; leaves n = 0 when it is of another sort
 * (UTF-16). */
void db_pages_init(struct db_pages *pages, struct str head, uint64_t bytes);

enum db_cell_type { DB_NULL, DB_INT, DB_REAL, DB_TEXT, DB_BLOB };

struct db_cell {
    uint8_t type; /* enum db_cell_type */
    union {
        int64_t number;
        double real;
        struct str text; /* lives until the next row */
    };
};

/* A column of interest: where it stands in the table, and where its value goes. */
struct db_field {
    uint16_t field, cell;
    bool is_rowid; /* INTEGER PRIMARY KEY: its value is the row's number */
    bool is_real;  /* whole numbers in it are reals that were stored short */
};

enum { DB_TABLE_DEPTH = 16 };

struct db_level {
    unsigned char *page;
    unsigned next, n; /* children; n counts the cells, one more child is behind them */
};

enum db_table_step { DB_TABLE_ROW, DB_TABLE_END, DB_TABLE_ODD };

struct db_table {
    struct db_pages pages;
    const struct db_field *fields; /* by field */
    size_t n_fields;
    struct db_level levels[DB_TABLE_DEPTH];
    size_t depth;
    uint32_t visited;
    bool is_odd; /* there is not even a first page */
    const unsigned char *leaf;
    unsigned next, n, cells; /* of the leaf: cells taken, all, and where their list is */
    unsigned char *window;   /* some pages of a file */
    uint32_t first, filled;  /* of the window, in pages */
};

/* `fields` and what `pages` points to must outlive the walk. */
void db_table_open(struct db_table *t, const struct db_pages *pages, uint32_t root,
                   const struct db_field *fields, size_t n);
enum db_table_step db_table_next(struct db_table *t, struct db_cell *cells);
void db_table_close(struct db_table *t);

#endif
