/*
 * table - one operator table (a CSV of the database) in memory, and its way back to disk.
 *
 *     TRY(table_read(&t, path, d));
 *     int shapes = table_column(&t, COL_INPUT_SHAPES);
 *     for (size_t row = 0; row < t.n_rows; row++)
 *         use(table_cell(&t, row, shapes), t.lines.at[row]);
 *     table_free(&t);
 *
 * The dialect: UTF-8 with or without a byte-order mark, LF or CR LF, quotes as in RFC 4180. A row
 * shorter than the header reads as empty cells, surplus cells are ignored; both are listed in
 * `ragged`. A table without any row at all has no columns, and the caller decides what that means.
 * Refused, with file and line: a Git LFS pointer in place of a table, a file that ends inside a
 * quoted cell, more cells than LIMIT_TABLE_CELLS or bytes than LIMIT_TABLE_BYTES.
 *
 * Cells are views: into the file, which stays mapped, or into the table's arena. Texts given to
 * table_set() and the column functions are not copied: they live at least as long as the table.
 */
#ifndef STRATA_OPDB_ROWS_TABLE_H
#define STRATA_OPDB_ROWS_TABLE_H

#include <stdint.h>

#include "base/files/mapfile.h"
#include "base/files/sink.h"
#include "base/tables/vec.h"
#include "report/record.h"

/* A row with more or fewer cells than the header. */
struct table_ragged {
    uint64_t line;
    size_t cells;
};

struct op_table {
    const char *path;   /* for messages; in the arena */
    struct arena arena; /* texts that are not in the file */
    VEC_OF(struct str) columns;
    size_t n_rows;
    VEC_OF(uint64_t) lines; /* of each row in the file; 0 for a row that was added */
    VEC_OF(struct table_ragged) ragged;
    bool has_bom;

    /* Private. */
    struct mapfile map;
    VEC_OF(struct str) cells; /* row after row */
};

/* An empty table. `path` is copied. */
void table_init(struct op_table *t, const char *path);
void table_free(struct op_table *t);

/* Reads a file, or bytes that outlive the table. After a failure the table may be freed. */
enum status table_read(struct op_table *t, const char *path, struct diag *d);
enum status table_parse(struct op_table *t, const char *path, struct str text, struct diag *d);

/* How a Git LFS pointer in place of a table begins, and what is told of it. */
#define TABLE_POINTER S("version https://git-lfs.github.com/spec/")
enum status table_refuse_pointer(const char *path, struct diag *d);

/* Index of the first column of that name (blanks around names do not count); -1: none. */
int table_column(const struct op_table *t, struct str name);

/* Empty for column -1. */
static inline struct str table_cell(const struct op_table *t, size_t row, int column)
{
    return column >= 0 ? t->cells.at[row * t->columns.n + (size_t)column] : (struct str){"", 0};
}

static inline void table_set(struct op_table *t, size_t row, int column, struct str text)
{
    t->cells.at[row * t->columns.n + (size_t)column] = text;
}

/* A row of empty cells at the end; returns its index. */
size_t table_add_row(struct op_table *t);

/* The columns are now these, in this order; cells go with their column, new columns are empty,
 * columns not named are dropped. One pass over the table. */
void table_arrange(struct op_table *t, const struct str *names, size_t n);

/* Appends the column unless it is there; its index. One pass over the table. */
int table_add_column(struct op_table *t, struct str name);

/* Drops the rows whose flag is set. */
void table_drop_rows(struct op_table *t, const bool *is_dropped);

/* Same columns and cells. */
bool table_equal(const struct op_table *a, const struct op_table *b);

enum table_bom { TABLE_NO_BOM, TABLE_BOM };

/* Header and rows with CR LF; cells are quoted when they hold a comma, a quote, CR or LF. False
 * when the sink refused. */
bool table_print(const struct op_table *t, enum table_bom bom, struct sink sink);

/* Whether the file at `path` has these very bytes. */
bool table_is_at(const struct op_table *t, enum table_bom bom, const char *path);

/* Replaces the file at `path` as a whole, unless nothing in it changes: written to
 * <stem>.PID.strata.tmp.csv beside it, synced, renamed, the folder synced. A reader, or a crash at
 * any moment, finds the old bytes or the new ones. */
enum status table_write(const struct op_table *t, const char *path, enum table_bom bom,
                        struct diag *d);

/* The same for any text, with the suffix of that: reports beside the tables. */
enum status table_write_text(const char *path, struct str text, struct diag *d);

/* True for "X.tmp.csv", which is no table; and for the temporary of a writer whose process is gone,
 * which the next one removes. */
bool table_is_temporary(struct str name);
bool table_is_leftover(struct str name);

/* The operator of a file: its name without folder and ".csv". */
struct str table_stem(const char *path);

/* Prints "--- path", "+++ path" and the rows that go and come, in the order of the tables; nothing
 * when they are equal. `old` is NULL for a new file. A row that moved is printed twice. */
void table_diff(const struct op_table *old, const struct op_table *fresh, const char *path,
                struct sink sink);

/* Such differences of a result as a member of its document. */
struct field_value table_diff_value(const void *result, const struct record_env *env,
                                    void (*put)(const void *result, struct sink sink));

#endif
