/*
 * signature - when two rows of an operator describe the same case.
 *
 * Rows are told apart by the shapes, dtypes and formats of their inputs and the shapes and dtypes
 * of their outputs, all in one normal form (docs/perfdb.md). Duplicates of generated rows and the
 * row a replay belongs to are both found by it.
 */
#ifndef STRATA_OPDB_ROWS_SIGNATURE_H
#define STRATA_OPDB_ROWS_SIGNATURE_H

#include <stdint.h>

#include "opdb/rows/columns.h"

/* The cells that matter, by enum identity, as they stand in the file. ID_OP_TYPE and ID_OP_STATE
 * serve only to name the operator when the caller does not. */
struct signature_row {
    struct str cell[SIGNATURE_CELLS];
};

enum { SIGNATURE_PARTS = 6 };

/* Input shapes, dtypes, formats, output shapes, dtypes; for DispatchFFNCombine also the EP size. */
struct signature {
    struct str part[SIGNATURE_PARTS];
    size_t n;        /* 5 or 6 */
    bool is_product; /* of two matrices, in the form m,k;n,k */
};

/* An operator without blanks and quotes around it and without one "_run.py", "_run" or ".csv". */
struct str signature_op(struct str name);

/* The signature of a row; texts live in the arena or in the row. `op` may be empty. */
struct signature signature_of(struct arena *arena, struct str op, const struct signature_row *row);

bool signature_equal(const struct signature *a, const struct signature *b);
uint64_t signature_hash(const struct signature *s);

/* "<Input Shapes or N/A> -> <Output Shapes or N/A>". */
struct str signature_text(struct arena *arena, struct str input_shapes, struct str output_shapes);

/* MatMulV2, MatMulV3 and MatMulCommon: one call may end in any of the three kernels. */
bool signature_is_matmul(struct str op);

/* Where the cells of a signature_row are in a table; -1: not there. */
struct op_table;
struct signature_columns {
    int at[SIGNATURE_CELLS];
};
struct signature_columns signature_find(const struct op_table *t);
struct signature_row signature_read(const struct op_table *t, size_t row,
                                    const struct signature_columns *c);

/* Rows by signature: zero-initialised is empty. Texts given must outlive it. */
struct signature_index {
    struct signature_slot *slots;
    size_t n, cap;
};

/* The value of `s`, which becomes `fresh` when it is new. `*is_new` may be NULL. */
uint32_t signature_index_add(struct signature_index *index, const struct signature *s,
                             uint32_t fresh, bool *is_new);

/* UINT32_MAX when there is none. */
uint32_t signature_index_get(const struct signature_index *index, const struct signature *s);
void signature_index_free(struct signature_index *index);

#endif
