/*
 * sql - SQL over sealed captures, through SQLite's virtual tables: the columns are read in place.
 *
 * The database lives in memory and is read-only: an authorizer refuses everything but SELECT.
 * Tables and columns are described in docs/queries.md; sql_schema() lists them.
 */
#ifndef STRATA_ANALYSIS_SQL_SQL_H
#define STRATA_ANALYSIS_SQL_SQL_H

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

#endif
