/*
 * call_cells - calls of a model (ops/model_calls.h) as rows of tables.
 */
#ifndef STRATA_OPDB_ROWS_CALL_CELLS_H
#define STRATA_OPDB_ROWS_CALL_CELLS_H

#include "opdb/rows/op_tables.h"
#include "ops/model_calls.h"

/* False for what no table has: a module. Texts are in the arena. Tokens become whole. */
bool call_cells(struct arena *arena, const struct model_call *c, struct op_cells *out);

/* "all_reduce": as collectives are asked for. */
const char *call_comm_name(enum model_comm kind);

/* Rows of a model: which batches and lengths. */
struct build_sizes {
    const int64_t *batches, *lengths; /* sequences at a time; tokens of each */
    size_t n_batches, n_lengths;
    struct model_layout layout; /* of one stage */
    struct model_types types;
};

struct build_count {
    uint64_t tables, rows, added;
};

/* Adds the rows that the tables in `dir` lack, for whole prompts and for one more token of each
 * sequence; new tables are made. */
enum status build_rows(const char *dir, const struct llm *model, const struct build_sizes *sizes,
                       struct build_count *out, struct diag *d);

#endif
