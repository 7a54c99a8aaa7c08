/*
 * query_match - does a row of a table answer a question about certain inputs?
 *
 * Models and kernels see one call differently: a batch dimension more, a weight transposed, a
 * length rounded up to a tile. Each such difference is a rule with a name; the first that holds
 * for an input is used. docs/perfdb.md lists them.
 */
#ifndef STRATA_OPDB_PREDICT_QUERY_MATCH_H
#define STRATA_OPDB_PREDICT_QUERY_MATCH_H

#include "opdb/rows/cell.h"
#include "ops/dtype.h"

/* One input tensor. */
struct query_input {
    struct cell_dims dims;
    struct str dtype; /* as the database spells it: DT_BF16, INT8, FLOAT; empty: unknown */
};

struct query_inputs {
    struct query_input *at;
    size_t n;
};

/* The inputs of a row: absent slots are left out, FRACTAL_NZ is unfolded. */
struct query_row {
    struct query_inputs inputs;
    struct str *formats; /* one for each input; "ND" where the row has none */
};

/* False when a shape is no list of numbers. `count` inputs at most; negative: all. */
bool query_row_read(struct arena *arena, struct str shapes, struct str dtypes, struct str formats,
                    int64_t count, struct query_row *out);

/* Of a cell, with or without quotes. */
enum dtype query_type(struct str cell);

/* As the rows of a database are asked for it: halves of both kinds are "DT_BF16"; "" for a type
 * that it has no rows of. */
struct str query_dtype(struct str name);

/* Equal, or floats of any width where the kernel takes them alike. */
bool query_same_dtype(struct str kernel, struct str a, struct str b);

/* MatMulV2 and its kin; and the kernels that write into a cache of keys and values. */
bool query_is_matmul(struct str kernel);
bool query_is_cache_write(struct str kernel);

/* The inputs in the order and layout in which this kernel's rows have them: swiglu, rope, cache.
 * `n_row` is the number of inputs of the row. */
struct query_inputs query_normal(struct arena *arena, struct str kernel, struct query_inputs inputs,
                                 size_t n_row);

/* The rule by which a row fits; NULL when it does not. */
const char *query_match(struct arena *arena, struct str kernel, struct query_inputs inputs,
                        const struct query_row *row);

/* `asked` is `stored` rounded up to a tile. */
bool query_is_padded(int64_t asked, int64_t stored);

#endif
