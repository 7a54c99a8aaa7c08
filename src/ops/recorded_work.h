/*
 * recorded_work - what a call of an operator or kernel computes and moves, from the shapes, types
 * and values beside it.
 *
 * Operators are rows of work_rules.def; kernels whose outputs are recorded have rules of their own
 * in recorded_work.c. Floating-point operations are counted as PyTorch counts them: two for a
 * multiplication and addition, one an element of a sum or product, attention without regard to its
 * mask. Bytes are the least that has to be read and written: each input once, each output once. In
 * words: docs/analyses/ops.md.
 */
#ifndef STRATA_OPS_RECORDED_WORK_H
#define STRATA_OPS_RECORDED_WORK_H

#include "ops/dtype.h"
#include "ops/shape.h"

enum recorded_work_kind {
    RECORDED_WORK_UNKNOWN,
    RECORDED_WORK_PRODUCT,
    RECORDED_WORK_CONVOLUTION,
    RECORDED_WORK_ATTENTION,
    RECORDED_WORK_MEMORY, /* whatever reads, writes and computes little */
};

/* As PyTorch names the values of a call that are no tensors. */
#define RECORDED_VALUES "Concrete Inputs"

/* What is recorded of a call; texts that are not are empty. `shapes` as shape.h reads them;
 * `values` are the inputs that are no tensors: ["", "", "", "[2, 2]"]. */
struct recorded_call {
    struct str op; /* "aten::mm"; of a kernel with outputs its type: "MatMulV3" */
    struct str shapes, types, values;
    struct str out_shapes, out_types;
};

struct recorded_work {
    enum recorded_work_kind kind;
    bool is_leaf;       /* no operator inside has the same work: these add up */
    bool is_causal;     /* attention that needs half of `flops` */
    bool is_estimated;  /* recorded_work_estimate() alone: see there */
    bool has_double;    /* some tensor has 64 bits */
    double flops;       /* 0: none, or not known */
    double bytes;       /* 0: not known */
    double moved;       /* elements that a product or convolution reads and writes */
    double rows, depth; /* of a product: [rows, depth] by the other factor */
    double head;        /* of attention: the size of a head */
    double largest;     /* elements of the largest input */
    enum dtype type;    /* of the first tensor */
};

struct recorded_work recorded_work_of(const struct recorded_call *in);

/* The same for who has read the inputs. */
struct recorded_tensors {
    struct tensor_shapes shapes;
    enum dtype types[SHAPE_INPUTS];
};

struct recorded_work recorded_work_of_tensors(struct str op, const struct recorded_tensors *o,
                                              struct str values);

/* The same of a kernel whose outputs are recorded, by its type. */
struct recorded_work recorded_work_of_kernel(const struct recorded_call *in);

/* The same of either, and where no rule tells it, a guess by name and inputs, for questions to
 * which "about" is an answer: convolutions by any name or without their stride, whose output is
 * taken to be as large as the input, and products of kernels without outputs. */
struct recorded_work recorded_work_estimate(const struct recorded_call *in);

/* Of a product: operations and elements it reads and writes. The second factor may be laid out as
 * [n, k]: which side is summed over is told by the shapes where only one fits, else by
 * `is_transposed`. Rows of zero: the shapes are of no product. */
struct recorded_product {
    double rows, depth, columns, units; /* units: products side by side; rows are of all */
    double read;                        /* elements of both factors */
};
struct recorded_product recorded_product_of(const struct tensor_shape *a,
                                            const struct tensor_shape *b, bool is_transposed);

#endif
