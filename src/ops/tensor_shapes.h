/*
 * tensor_shapes - the shapes a trace writes beside an operator: "8,1024;1024,4096;;".
 */
#ifndef STRATA_OPS_TENSOR_SHAPES_H
#define STRATA_OPS_TENSOR_SHAPES_H

#include <stdint.h>

#include "base/str.h"

enum { TENSOR_DIMS = 8, TENSOR_SHAPES = 8 };

struct tensor_shape {
    double dims[TENSOR_DIMS];
    size_t n; /* 0: a scalar, or no tensor */
};

struct tensor_shapes {
    struct tensor_shape at[TENSOR_SHAPES];
    size_t n;
};

struct tensor_shapes tensor_shapes_read(struct str text);

double tensor_shape_elements(const struct tensor_shape *s);

/* Floating-point operations of a matrix product and elements it reads and writes; 0 when the
 * operator is none or its shapes are not known. */
struct tensor_product {
    double flops, elements;
};

struct tensor_product tensor_product_of(struct str op, const struct tensor_shapes *shapes);

/* The same of a convolution. Forward the output is taken to be as large as the input; `output`
 * is then what its elements are of that: [batch, channels, ...]. */
struct tensor_product tensor_convolution_of(struct str op, const struct tensor_shapes *shapes,
                                            struct tensor_shape *output);

#endif
