/*
 * grid_gen - the shapes of one kernel, made from a pattern of the rules.
 *
 * Most patterns are loops over grids with a shape for each operand. Four kinds of kernels need more
 * than expressions and are made in code: grouped matrix products and their dispatch over cards
 * and the fused split of q, k and v (grid_kernels.c), and attention (grid_attention.c).
 */
#ifndef STRATA_OPDB_GRID_GRID_GEN_H
#define STRATA_OPDB_GRID_GRID_GEN_H

#include <stdint.h>

#include "base/arena.h"
#include "base/tables/vec.h"
#include "opdb/grid/grid_models.h"
#include "opdb/grid/grid_shapes.h"

enum { GRID_RANDOM_WORDS = 624, GRID_SEED_DIGITS = 1000 };

/* MT19937 (Matsumoto and Nishimura 1998), seeded by an array of words, and samples as
 * docs/perfdb-grid.md describes: tools that follow the same steps choose the same rows. */
struct grid_random {
    uint32_t word[GRID_RANDOM_WORDS];
    size_t next; /* the next word to hand out */
};

/* By words, least significant first; at least one. */
void grid_random_seed(struct grid_random *r, const uint32_t *key, size_t n);

/* By a decimal number of up to GRID_SEED_DIGITS digits, whose sign does not matter; false when
 * `text` is none. */
bool grid_random_seed_text(struct grid_random *r, struct str text);

/* By what the system has to offer; every call gives another sequence. */
void grid_random_seed_any(struct grid_random *r);

uint32_t grid_random_next(struct grid_random *r);

/* `k` different numbers below `n`, in the order they were drawn. k <= n. */
void grid_random_sample(struct grid_random *r, uint32_t n, uint32_t k, uint32_t *out);

/* The shapes of an attention row as the operator got them; beside the runtime columns of
 * opdb/rows/columns.h. */
#define GRID_COL_RAW_SHAPES S("Runtime operator_input_shapes_raw")

/* A cell that the generator knows better than the template row. */
struct grid_cell {
    struct str column, text;
};

struct grid_row {
    struct grid_shapes in, out;
    const struct grid_cell *cells;
    size_t cells_n;
};

struct grid_rows {
    struct grid_row *at;
    size_t n;
};

struct grid_job {
    const struct grid_rules *rules;
    struct grid_models models; /* those asked for, else all */
    bool has_targets;          /* models were asked for */
    bool is_replayable;        /* weights of grouped products in the form that can be replayed */
    uint32_t cap;              /* rows of a kernel; 0: no cap */
    struct grid_random *random;
};

/* Whether code for this generator_function exists. */
bool grid_gen_is_known(struct str generator);

/* All rows of the pattern or, where these are more than the cap, a random sample in the order it
 * was drawn. Rows live in the arena. */
enum status grid_generate(const struct grid_job *job, const struct grid_pattern *pattern,
                          struct str kernel, struct arena *arena, struct grid_rows *out,
                          struct diag *d);

/* The text of the cell that a row brings along for a column; NULL pointer: none. */
struct str grid_row_cell(const struct grid_row *row, struct str column);

/*
 * Inside grid_gen: where generators put their rows. A generator runs from the start for each pass.
 * The first pass keeps rows until there are too many; then they are only counted, and a second pass
 * keeps the ones that were drawn.
 */
struct grid_out {
    const struct grid_job *job;
    const struct grid_pattern *pattern;
    struct str kernel;
    struct diag *d;
    struct arena scratch; /* of the generator; released after the pass */

    /* For grid_add_row(). */
    struct arena *arena;
    uint64_t n;            /* rows made so far */
    const uint32_t *place; /* of row i among the kept ones, UINT32_MAX: not kept */
    VEC_OF(struct grid_row) kept;
};

/* Takes a copy of a row, if it is wanted. */
enum status grid_add_row(struct grid_out *out, const struct grid_row *row);

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
