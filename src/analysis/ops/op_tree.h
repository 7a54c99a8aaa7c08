/*
 * op_tree - host events nested per thread, and which of them launched each kernel.
 *
 * Operators, module frames, ranges and runtime calls of one thread lie inside one another; the
 * innermost event around another is its parent. A kernel belongs to the event that launched it and
 * to everything around that.
 */
#ifndef STRATA_ANALYSIS_OPS_OP_TREE_H
#define STRATA_ANALYSIS_OPS_OP_TREE_H

#include "analysis/study.h"

enum { OP_TREE_NONE = UINT32_MAX };

struct op_twin {
    uint32_t backward, forward; /* slices */
};

struct op_tree {
    const uint32_t *parent; /* by slice: the host event around it, or OP_TREE_NONE */
    const uint32_t *launch; /* by place in study_kernels(): what launched it, or OP_TREE_NONE */
    const struct op_twin *twins; /* by backward operator */
    size_t n_twins;
    size_t linked; /* kernels whose launch is known */
};

const struct op_tree *op_tree_find(struct study *st);

/* The forward operator of a backward one, or OP_TREE_NONE. */
uint32_t op_tree_twin(const struct op_tree *t, uint32_t slice);

/* Of each slice the event that launched it: a call of the runtime before an operator, the later
 * before the earlier, OP_TREE_NONE where none is recorded. For mem_free(). */
uint32_t *op_tree_launches(const struct capture *cap);

#endif
