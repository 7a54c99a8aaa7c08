/*
 * db - reading tables of SQLite files that someone else wrote.
 *
 * A file is opened read-only and immutable: no locks, no journal, nothing beside it is touched,
 * so read-only media and files in WAL mode work. A file that a writer left in the middle of a
 * transaction is refused. Only plain tables can be read, one scan at a time, in the order of their
 * rows; no views and triggers of the file run, and a scan of a view is reported as a loss. A column
 * the table lacks reads as NULL, and no value is trusted to have its declared type. When a page
 * turns out to be damaged the scan ends, what came before it counts, and the loss is told.
 *
 * Plain tables are read by base/tables/db_table, several times as fast as by the engine, which
 * takes over at the first row that is not plain: only the time shows which of the two it was, or a
 * row more that was got out of a damaged page. With STRATA_SQLITE=engine in the environment the
 * engine reads everything.
 */
#ifndef STRATA_BASE_TABLES_DB_H
#define STRATA_BASE_TABLES_DB_H

#include <stddef.h>

#include "base/diag.h"
#include "base/files/mapfile.h"
#include "base/run/progress.h"
#include "base/tables/db_table.h"
#include "base/text/num.h"

struct sqlite3;
struct sqlite3_stmt;

enum { DB_COLUMNS = 40 };

/* A table, view or virtual table. */
struct db_relation {
    struct str name;
    uint32_t root; /* first page; 0: not known */
    bool is_plain; /* a table with rows of its own */
    bool is_reported;
};

struct db {
    struct sqlite3 *handle;
    const char *path;
    struct diag *diag;
    struct mapfile map; /* of a file that has no name */
    char *copy;         /* of the content, where it had to be changed */
    uint64_t bytes;     /* size of the file */
    uint64_t handed;    /* bytes of text given out: a file cannot hold much more than itself */
    uint64_t damages;   /* scans that ended early, or the rows that they lost where that is known */
    struct db_relation *tables; /* in the order of the file; in `arena` */
    size_t n_tables;
    struct db_pages pages;
    const struct progress *progress;    /* told the rows of each table; may be NULL */
    char printed[DB_COLUMNS][NUM_TEXT]; /* numbers of the row that were asked for as text */
    struct arena arena;
};

/* Opens `path`, or with `text.at` set those bytes, which must live until db_close(). After a
 * failure nothing needs to be closed. */
enum status db_open(struct db *db, const char *path, struct str text, struct diag *d);
void db_close(struct db *db);

/* The same for a look at the names of tables: also in the middle of a transaction. */
enum status db_peek(struct db *db, const char *path, struct diag *d);

/* True for the first bytes of every SQLite file. */
bool db_is_sqlite(struct str head);

/* True for a view or virtual table of that name too, of which no rows can be read. */
bool db_has_table(const struct db *db, struct str table);

/*
 * Rows as structs: each column of interest has a member that its value goes to.
 *
 *     static const struct db_column task_columns[] = {
 *         DB_COLUMN(struct task, stream, "streamId"),
 *         DB_COLUMN(struct task, blocks, "blockDim|blockNum"),     (* either spelling *)
 *     };
 *     DB_SCAN(&rows, &db, "TASK", task_columns);
 *     while (db_read_row(&rows, &task)) ...
 *
 * For a value that is not there, or not of that sort, the member gets DB_NONE, or what DB_OR() has
 * for it; fractions and texts get 0 and nothing.
 */
enum db_type { DB_AS_I64, DB_AS_F64, DB_AS_TEXT, DB_AS_NAME, DB_AS_US, DB_AS_MS };

struct db_column {
    const char *name;
    uint16_t offset;
    uint16_t type; /* enum db_type */
    int64_t none;  /* in place of a whole number or time that is missing */
};

#define DB_NONE INT64_MIN

/* A text, or the number that it has in a table of texts. */
struct db_name {
    int64_t id; /* DB_NONE: see the text */
    struct str text;
};

#define DB_OR(struct_, member, name_, none_)                                                       \
    {                                                                                              \
        (name_), offsetof(struct_, member),                                                        \
            _Generic(((struct_ *)0)->member, int64_t                                               \
                     : DB_AS_I64, double                                                           \
                     : DB_AS_F64, struct str                                                       \
                     : DB_AS_TEXT, struct db_name                                                  \
                     : DB_AS_NAME),                                                                \
            (none_)                                                                                \
    }
#define DB_COLUMN(struct_, member, name_) DB_OR(struct_, member, name_, DB_NONE)
/* A time in microseconds or milliseconds: `type_` is DB_AS_US or DB_AS_MS. */
#define DB_TIME(struct_, member, name_, type_, none_)                                              \
    {                                                                                              \
        (name_), offsetof(struct_, member), (type_), (none_)                                       \
    }

struct db_rows {
    const struct db_column *columns; /* of db_scan() */
    size_t n_columns;
    struct db *db;
    struct sqlite3_stmt *stmt; /* NULL: no such table; the scan is empty */
    const char *table;
    uint64_t n;                /* rows handed out so far */
    int16_t place[DB_COLUMNS]; /* of each wanted column in the statement; -1: the table lacks it */

    /* Without the engine: */
    bool is_direct;
    struct db_table walk;
    struct db_field fields[DB_COLUMNS];
    size_t n_fields;
    struct db_cell cells[DB_COLUMNS]; /* of the current row, by wanted column */
};

/* Starts a scan of `table` with the columns of interest. A name may offer older and newer
 * spellings: "blockDim|blockNum". False when the table is missing or cannot be read. */
bool db_rows_open(struct db_rows *rows, struct db *db, const char *table,
                  const char *const *columns, size_t n);

/* The next row; false at the end, at damage and after an interruption. */
bool db_rows_next(struct db_rows *rows);
void db_rows_close(struct db_rows *rows);

/* The same for structs. */
bool db_scan(struct db_rows *rows, struct db *db, const char *table,
             const struct db_column *columns, size_t n);
bool db_read_row(struct db_rows *rows, void *row);
#define DB_SCAN(rows, db, table, columns) db_scan(rows, db, table, columns, ARRAY_LEN(columns))

/* Values of the current row. False, with `out` untouched, when there is none of that sort: NULL,
 * a blob, text that is no number, a fraction where an integer is asked for. */
bool db_i64(const struct db_rows *rows, size_t column, int64_t *out);
bool db_f64(const struct db_rows *rows, size_t column, double *out);

/* A time given in microseconds or milliseconds (DB_AS_US, DB_AS_MS), as number or text. */
bool db_time(const struct db_rows *rows, size_t column, enum db_type unit, nanos *out);

/* Text as it stands, numbers printed, nothing for NULL and blobs. Lives until the next row. */
struct str db_text(const struct db_rows *rows, size_t column);

#endif
