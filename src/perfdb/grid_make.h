/*
 * grid_make - inside grid_gen: where generators put their rows.
 *
 * A generator runs from the start for each pass. The first pass keeps rows until there are too
 * many; then they are only counted, and a second pass keeps the ones that were drawn.
 */
#ifndef STRATA_PERFDB_GRID_MAKE_H
#define STRATA_PERFDB_GRID_MAKE_H

#include "base/vec.h"
#include "perfdb/grid_gen.h"

struct grid_out {
    const struct grid_job *job;
    const struct grid_pattern *pattern;
    struct str kernel;
    struct diag *d;
    struct arena scratch; /* of the generator; released after the pass */

    /* For grid_take(). */
    struct arena *arena;
    uint64_t n;            /* rows made so far */
    const uint32_t *place; /* of row i among the kept ones, UINT32_MAX: not kept */
    VEC_OF(struct grid_row) kept;
};

/* Takes a copy of a row, if it is wanted. */
enum status grid_take(struct grid_out *out, const struct grid_row *row);

/* The values of the pattern's first iterator, or of a grid when it has none. */
struct grid_list grid_make_tokens(const struct grid_out *out, struct str grid);

int64_t grid_share(int64_t whole, int64_t parts); /* at least 1 */

/* The generators. */
enum status grid_make_template(struct grid_out *out);
enum status grid_make_grouped(struct grid_out *out);
enum status grid_make_dispatch(struct grid_out *out);
enum status grid_make_split_qkv(struct grid_out *out);
enum status grid_make_attention(struct grid_out *out);

/* A shape in the scratch arena: GRID_SHAPE(out, t, h). */
#define GRID_SHAPE(out, ...)                                                                       \
    grid_make_shape(out, (const int64_t[]){__VA_ARGS__},                                           \
                    sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
struct grid_shape grid_make_shape(struct grid_out *out, const int64_t *dim, size_t n);

#endif
