/*
 * op_work - floating-point operations of a host operator, from the shapes of its inputs.
 *
 * Counted as PyTorch counts them: two for a multiplication and addition, one an element of a sum or
 * product, attention without regard to its mask.
 */
#ifndef STRATA_ANALYSIS_OP_WORK_H
#define STRATA_ANALYSIS_OP_WORK_H

#include <stdbool.h>

#include "base/str.h"

struct op_work {
    double flops; /* 0: none, or not known */
    bool is_leaf; /* no operator inside has the same work: these add up */
};

/* `shapes` as tensor_shapes.h reads them, `values` the other inputs: ";;;[2, 2];[1, 1]". */
struct op_work op_work_of(struct str op, struct str shapes, struct str values);

#endif
