/*
 * shape - the shapes of tensors as profilers write them beside a call.
 *
 * "8,1024;1024,4096;;" of kernel tables and of our importers: inputs with semicolons between, an
 * empty one for what is no tensor; quotes around it and line breaks inside do not matter. And
 * "[[8, 1024], [], []]" of PyTorch's own text. An input that is a list of tensors, "[4,1],[4,2]",
 * has the dimensions of its first.
 */
#ifndef STRATA_OPS_SHAPE_H
#define STRATA_OPS_SHAPE_H

#include <stdint.h>

#include "base/str.h"

enum { SHAPE_DIMS = 8, SHAPE_INPUTS = 8 };

struct tensor_shape {
    int64_t dim[SHAPE_DIMS];
    size_t n;    /* 0: a scalar, no tensor, several, or more dimensions than fit */
    size_t list; /* tensors of an input that is a list; 0: it is none */
};

struct tensor_shapes {
    struct tensor_shape at[SHAPE_INPUTS];
    size_t n;
    bool is_damaged; /* some input is no list of whole numbers; it has no dimensions then */
};

/* Inputs past SHAPE_INPUTS are left out. */
struct tensor_shapes tensor_shapes_read(struct str text);

/* 0 of a shape without dimensions. Doubles, since a file may say anything. */
double tensor_elements(const struct tensor_shape *s);

/* The dimension counted from the end, 0 the last; 1 where there is none. */
double tensor_back_dim(const struct tensor_shape *s, size_t from_end);

/* Elements without the last dimension. */
double tensor_shape_rows(const struct tensor_shape *s);

#endif
