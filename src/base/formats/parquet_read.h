/*
 * parquet_read - columns of Parquet files, one row group at a time.
 *
 *     TRY(parquet_open(&p, path, (struct str){0}, diag));
 *     int c = parquet_find(&p, S("latency"));
 *     for (size_t g = 0; g < p.n_groups && st == ST_OK; g++)
 *         st = parquet_read(&p, g, c, &values);         values.reals[i], parquet_has(&values, i)
 *     parquet_values_free(&values);
 *     parquet_close(&p);
 *
 * Whole numbers of any width, booleans, reals and texts are read, flat columns with and without
 * values that are missing; pages plain, by dictionary or as differences; stored or compressed with
 * Snappy, gzip or zstd. What is not read (nested columns, decimals, other codecs) is refused by
 * name, and the columns beside it are read. The file is hostile: no offset, size or count of it is
 * believed.
 */
#ifndef STRATA_BASE_FORMATS_PARQUET_READ_H
#define STRATA_BASE_FORMATS_PARQUET_READ_H

#include "base/files/mapfile.h"
#include "base/tables/columns.h"

/* How values are stored: numbers of the format. */
enum parquet_type {
    PARQUET_BOOL,
    PARQUET_I32,
    PARQUET_I64,
    PARQUET_I96,
    PARQUET_FLOAT,
    PARQUET_DOUBLE,
    PARQUET_BYTES,
    PARQUET_FIXED
};

struct parquet_column {
    struct str name; /* "a.b" of one that is nested */
    enum column_kind kind;
    bool is_optional;  /* values may be missing */
    const char *why;   /* why it cannot be read; NULL: it can */
    int type, width;   /* enum parquet_type; bytes of a fixed one */
    int64_t converted; /* number of its meaning in the format; -1: none */
};

struct parquet_chunk {
    uint64_t begin, end; /* bytes of the file */
    uint64_t values;
    int codec;
};

struct parquet_group {
    uint64_t rows;
    struct parquet_chunk *chunks; /* one a column */
};

/* What a file says of itself. */
struct parquet_note {
    struct str key, value;
};

struct parquet {
    struct str text;
    const char *path;
    struct diag *diag;
    struct parquet_column *columns;
    size_t n;
    struct parquet_group *groups;
    size_t n_groups;
    struct parquet_note *notes;
    size_t n_notes;
    uint64_t rows; /* of all groups */
    struct arena arena;
    struct mapfile map;
};

/* The values of one column in one row group. A row without a value has 0 or an empty text. */
struct parquet_values {
    enum column_kind kind;
    size_t n, nulls;
    union {
        int64_t *numbers;  /* VALUES_INT */
        double *reals;     /* VALUES_REAL */
        struct str *texts; /* VALUES_TEXT: until the next call and while the file is open */
        void *values;
    };
    uint64_t *valid; /* a bit a row */

    /* Private. */
    size_t room;
    uint32_t *places; /* scratch */
    struct arena arena;
};

/* Opens the file, or with `text.at` set those bytes, which must live until parquet_close(). After a
 * failure nothing needs to be closed. `path` and `diag` must outlive it. */
enum status parquet_open(struct parquet *p, const char *path, struct str text, struct diag *d);
void parquet_close(struct parquet *p);

/* True for the first bytes of every Parquet file. */
bool parquet_is(struct str head);

/* The column of that name; -1: there is none. And a note, empty when there is none. */
int parquet_find(const struct parquet *p, struct str name);
struct str parquet_note(const struct parquet *p, struct str key);

/* All values of a column in a row group: exactly as many as the group has rows. `out` is
 * zero-initialised, or used before; after a failure it is empty. */
enum status parquet_read(const struct parquet *p, size_t group, size_t column,
                         struct parquet_values *out);
void parquet_values_free(struct parquet_values *values);

static inline bool parquet_has(const struct parquet_values *values, size_t row)
{
    return (values->valid[row / 64] >> (row % 64) & 1) != 0;
}

/* Between the files that read: damage at a byte, and four bytes as a number. */
enum status parquet_damaged(const struct parquet *p, uint64_t byte, const char *what);
uint32_t parquet_word(const char *at);

#endif
