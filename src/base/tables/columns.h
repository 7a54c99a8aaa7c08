/*
 * columns - a chunk of a table as typed columns: what Parquet, Arrow and SQLite files are written
 * from.
 *
 *     columns_init(&c, info, 2);
 *     column_put_int(&c.at[0], 7);
 *     column_put_text(&c.at[1], S("MatMul"));
 *     ... every column has one row more ...
 *     columns_clear(&c);
 *
 * Texts are numbers into the column's list of texts, each once, in order of first appearance; they
 * are UTF-8: broken sequences become U+FFFD.
 */
#ifndef STRATA_BASE_TABLES_COLUMNS_H
#define STRATA_BASE_TABLES_COLUMNS_H

#include <stdint.h>

#include "base/tables/hash.h"
#include "base/tables/intern.h"

enum { COLUMNS_ROWS = 1 << 16 }; /* of a chunk at most */

enum column_kind { VALUES_INT, VALUES_REAL, VALUES_TEXT };

struct column_info {
    struct str name;
    enum column_kind type;
    bool is_open; /* texts may hardly repeat: a dictionary of the whole table could be too large */
};

struct column_data {
    enum column_kind type;
    size_t n, nulls;
    union { /* room for COLUMNS_ROWS; a row without a value has 0 */
        int64_t *numbers;
        double *reals;
        uint32_t *places; /* in `texts` */
        void *values;
    };
    uint64_t *valid; /* a bit a row */
    VEC_OF(struct str) texts;
    struct hash known;     /* address of a lasting text -> its place */
    struct intern strings; /* texts that were copied */
    struct arena arena;    /* texts that were repaired */
};

struct column_chunk {
    struct column_data *at;
    size_t n;
};

void columns_init(struct column_chunk *c, const struct column_info *info, size_t n);
void columns_fini(struct column_chunk *c);

/* Forgets all rows but keeps the memory. */
void columns_clear(struct column_chunk *c);

static inline size_t columns_rows(const struct column_chunk *c)
{
    return c->n > 0 ? c->at[0].n : 0;
}

static inline bool column_has(const struct column_data *c, size_t row)
{
    return (c->valid[row / 64] >> (row % 64) & 1) != 0;
}

static inline void column_mark(struct column_data *c)
{
    c->valid[c->n / 64] |= (uint64_t)1 << (c->n % 64);
    c->n++;
}

static inline void column_put_int(struct column_data *c, int64_t number)
{
    c->numbers[c->n] = number;
    column_mark(c);
}

static inline void column_put_real(struct column_data *c, double real)
{
    c->reals[c->n] = real;
    column_mark(c);
}

void column_put_null(struct column_data *c);

/* A text is copied. A lasting one lives as long as the chunk is used and is known by its address
 * and length. A column takes texts of one of the two sorts. */
void column_put_text(struct column_data *c, struct str text);
void column_put_lasting(struct column_data *c, struct str text);

/* Bytes of text in UTF-8: `text` itself, or a copy with U+FFFD in place of broken sequences. */
struct str columns_utf8(struct arena *arena, struct str text);

#endif
