/*
 * recorded_work - what a call of an operator or kernel computes and moves, from the shapes, types
 * and values beside it.
 *
 * Floating-point operations are counted as PyTorch counts them: two for a multiplication and
 * addition, one an element of a sum or product, attention without regard to its mask. Bytes are the
 * least that has to be read and written: each input once, each output once. Rules by operator:
 * docs/analyses/ops.md.
 */
#ifndef STRATA_OPS_RECORDED_WORK_H
#define STRATA_OPS_RECORDED_WORK_H

#include "ops/dtype.h"
#include "ops/tensor_shapes.h"

enum recorded_work_kind {
    RECORDED_WORK_UNKNOWN,
    RECORDED_WORK_PRODUCT,
    RECORDED_WORK_CONVOLUTION,
    RECORDED_WORK_ATTENTION,
    RECORDED_WORK_MEMORY, /* whatever reads, writes and computes little */
};

/* As PyTorch names the values of a call that are no tensors. */
#define RECORDED_VALUES "Concrete Inputs"

/* What is recorded of a call; texts that are not are empty. `shapes` as tensor_shapes.h reads
 * them; `values` are the inputs that are no tensors: ["", "", "", "[2, 2]"]. */
struct recorded_call {
    struct str op; /* "aten::mm"; of a kernel with outputs its type: "MatMulV3" */
    struct str shapes, types, values;
    struct str out_shapes, out_types;
};

struct recorded_work {
    enum recorded_work_kind kind;
    bool is_leaf;    /* no operator inside has the same work: these add up */
    bool is_causal;  /* attention that needs half of `flops` */
    double flops;    /* 0: none, or not known */
    double bytes;    /* 0: not known */
    double head;     /* of attention: the size of a head */
    enum dtype type; /* of the first tensor */
};

struct recorded_work recorded_work_of(const struct recorded_call *in);

/* The same of a kernel whose outputs are recorded, by its type. */
struct recorded_work recorded_work_of_kernel(const struct recorded_call *in);

#endif
