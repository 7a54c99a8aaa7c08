/*
 * arch_shapes - tensor shapes as profilers print them, and the few that tell a model's sizes.
 *
 * Kernel tables print "4096,4096;4096,1024" (inputs parted by semicolons); PyTorch prints
 * "[[4, 512], [], []]" on host operators.
 */
#ifndef STRATA_ANALYSIS_ARCH_ARCH_SHAPES_H
#define STRATA_ANALYSIS_ARCH_ARCH_SHAPES_H

#include "base/text/num.h"

struct arch_markers;
struct arch_ops;
struct study;

enum { SHAPE_DIMS = 8, SHAPE_INPUTS = 8 };

struct arch_shape {
    int64_t dim[SHAPE_DIMS];
    size_t n; /* 0: a scalar, or more dimensions than fit */
};

struct shapes {
    struct arch_shape at[SHAPE_INPUTS];
    size_t n;
};

/* False when the text is no list of shapes. Inputs past SHAPE_INPUTS are left out. */
bool shapes_read(struct str text, struct shapes *out);

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
