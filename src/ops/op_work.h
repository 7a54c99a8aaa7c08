/*
 * op_work - what an operator computes and moves, out of the shapes, types and values beside it.
 *
 * Floating-point operations are counted as PyTorch counts them: two for a multiplication and
 * addition, one an element of a sum or product, attention without regard to its mask. Bytes are the
 * least that has to be read and written: each input once, each output once. Rules by operator:
 * docs/analyses/ops.md.
 */
#ifndef STRATA_OPS_OP_WORK_H
#define STRATA_OPS_OP_WORK_H

#include "ops/tensor_shapes.h"

enum op_work_kind {
    OP_WORK_UNKNOWN,
    OP_WORK_PRODUCT,
    OP_WORK_CONVOLUTION,
    OP_WORK_ATTENTION,
    OP_WORK_MEMORY, /* whatever reads, writes and computes little */
};

/* What is recorded of a call; texts that are not are empty. `shapes` as tensor_shapes.h reads
 * them; `values` are the inputs that are no tensors: ["", "", "", "[2, 2]"]. */
struct op_inputs {
    struct str op; /* "aten::mm"; of a kernel with outputs its type: "MatMulV3" */
    struct str shapes, types, values;
    struct str out_shapes, out_types;
};

struct op_work {
    enum op_work_kind kind;
    bool is_leaf;            /* no operator inside has the same work: these add up */
    bool is_causal;          /* attention that needs half of `flops` */
    double flops;            /* 0: none, or not known */
    double bytes;            /* 0: not known */
    double head;             /* of attention: the size of a head */
    struct tensor_type type; /* of the first tensor */
};

struct op_work op_work_of(const struct op_inputs *in);

/* The same of a kernel whose outputs are recorded, by its type. */
struct op_work op_work_of_kernel(const struct op_inputs *in);

#endif
