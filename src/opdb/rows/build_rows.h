/*
 * build_rows - the operators of a model as rows of tables: what one layer runs for a prompt and for
 * one more token.
 */
#ifndef STRATA_OPDB_ROWS_BUILD_ROWS_H
#define STRATA_OPDB_ROWS_BUILD_ROWS_H

#include "opdb/grid/grid_models.h"
#include "opdb/rows/op_tables.h"

struct build_sizes {
    const int64_t *batches, *lengths; /* sequences at a time; tokens of each */
    size_t n_batches, n_lengths;
    int64_t tp;    /* cards that share a layer */
    int64_t ep;    /* cards that share the experts */
    int64_t vocab; /* tokens that are told apart */
};

struct build_count {
    uint64_t tables, rows, added;
};

/* Adds the rows that the tables in `dir` lack; new tables are made. */
enum status build_rows(const char *dir, const struct grid_model *model,
                       const struct build_sizes *sizes, struct build_count *out, struct diag *d);

/* One step of a model: a whole prompt, or one more token of each sequence. */
struct build_step {
    int64_t batch, length, layers;
    bool is_decode;
};

/* Calls of a step in their order; a layer is emitted once, with how often it runs. */
typedef void build_emit(void *ctx, const struct op_cells *c);
void build_step(const struct grid_model *model, const struct build_sizes *sizes,
                const struct build_step *step, build_emit *emit, void *ctx);

#endif
