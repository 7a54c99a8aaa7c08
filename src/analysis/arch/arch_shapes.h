/*
 * arch_shapes - the few tensor shapes that tell a model's sizes.
 */
#ifndef STRATA_ANALYSIS_ARCH_ARCH_SHAPES_H
#define STRATA_ANALYSIS_ARCH_ARCH_SHAPES_H

#include "ops/shape.h"

struct arch_markers;
struct arch_ops;
struct study;

/* False when the text is no list of shapes. */
bool arch_shapes_read(struct str text, struct tensor_shapes *out);

/* Query tokens and sequences of each marker; sequences is 0 where they are not known. */
struct arch_query {
    int64_t tokens, sequences;
};

struct arch_queries {
    struct arch_query *at;
};

struct arch_queries arch_queries_of(struct study *st, const struct arch_markers *markers);

/* First dimension of the first matmul between two kernels; 0 unknown. */
int64_t arch_rows_between(struct study *st, const struct arch_ops *ops, size_t from, size_t to);

/* The middle first dimension of all matmuls: tokens that go through a layer at once; 0 unknown. */
int64_t arch_matmul_rows(struct study *st, const struct arch_ops *ops);

#endif
