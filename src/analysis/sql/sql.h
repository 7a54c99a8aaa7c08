/*
 * sql - SQL over sealed captures, through SQLite's virtual tables: the columns are read in place.
 *
 * The database lives in memory and is read-only: an authorizer refuses everything but SELECT.
 * Tables and columns are described in docs/queries.md; sql_schema() lists them.
 */
#ifndef STRATA_ANALYSIS_SQL_SQL_H
#define STRATA_ANALYSIS_SQL_SQL_H

#include "analysis/sql/sql_view.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/text/num.h"

struct capture;
struct sql;

enum sql_type { SQL_NULL, SQL_INT, SQL_REAL, SQL_TEXT, SQL_BLOB };

/* One cell; texts and blobs live until the next row. */
struct sql_value {
    enum sql_type type;
    union {
        int64_t number;
        double real;
        struct str text;
    };
};

/* A blob as hexadecimal digits. */
struct str sql_hex(struct arena *arena, struct str blob);

/* One statement and who takes its rows. A callback that gives false ends the run quietly. */
struct sql_query {
    struct str text;
    nanos timeout; /* 0: none */
    bool (*head)(void *ctx, const char *const *names, size_t n);
    bool (*row)(void *ctx, const struct sql_value *cells, size_t n);
    void *ctx;
    uint64_t skip, limit; /* rows: left out first; given at most (0: all) */
    bool *has_more;       /* set when the limit left rows out; may be NULL */
};

/* One table as users see it. */
struct sql_table_info {
    const char *name;
    const char *columns; /* "id INTEGER, name TEXT, ..." */
    const char *summary;
};

/* The captures, one per rank, are sealed and outlive the sql. ST_LIMIT when they hold more slices
 * than a 32-bit number counts. */
enum status sql_open(struct sql **out, const struct capture *const *caps, size_t n, struct diag *d);
void sql_close(struct sql *sql);

/* SQLite counts the memory of a process as one, so this is for a program that owns its process: a
 * statement that needs more fails. */
void sql_limit_memory(int64_t bytes);

/* ST_FORMAT: the statement is wrong. ST_LIMIT: it ran past its time. */
enum status sql_run(struct sql *sql, const struct sql_query *query, struct diag *d);

/* Every table, by number; NULL past the last. */
const struct sql_table_info *sql_schema(size_t i);

/*
 * sql_scan - whole columns of slices for statements that ask for nothing else:
 *
 *     SELECT ts, dur, name FROM kernels
 *
 * Such a statement needs no engine: its rows are the captures' own, and columns are copied as they
 * lie. What sql_scan_parse() does not take goes to sql_run(), with the same rows.
 */

enum sql_scan_column {
    SCAN_ID,
    SCAN_TS,
    SCAN_DUR,
    SCAN_END_TS,
    SCAN_LANE,
    SCAN_NAME, /* texts from here on */
    SCAN_KIND,
    SCAN_COLUMNS,
};

enum { SQL_SCAN_MOST = 16 };

struct sql_scan {
    enum sql_set set;
    enum sql_scan_column columns[SQL_SCAN_MOST];
    size_t n;
};

const char *sql_scan_name(enum sql_scan_column column);

/* False for any other statement. */
bool sql_scan_parse(struct str statement, struct sql_scan *out);

/* Rows of the table. */
uint64_t sql_scan_rows(const struct capture *const *caps, size_t n, enum sql_set set);

/* Fills a column of numbers; `out` has room for all rows. */
void sql_scan_numbers(const struct capture *const *caps, size_t n, enum sql_set set,
                      enum sql_scan_column column, int64_t *out);

/* A text of a slice, which lives as long as its capture. */
static inline struct str sql_scan_text(const struct capture *cap, size_t i,
                                       enum sql_scan_column column)
{
    return column == SCAN_NAME ? capture_text(cap, cap->slices.name[i])
                               : str_of(slice_kind_name((enum slice_kind)cap->slices.kind[i]));
}

#endif
