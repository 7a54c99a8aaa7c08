/*
 * Shapes as numbers, and what a matrix product of them costs.
 */
#include "ops/tensor_shapes.h"

#include "base/text/num.h"

static struct tensor_shape read_shape(struct str text)
{
    struct tensor_shape s = {.n = 0};
    struct str dim;

    while (s.n < TENSOR_DIMS && text.n > 0 && str_split(&text, ',', &dim)) {
        if (!num_f64(dim, &s.dims[s.n]) || s.dims[s.n] < 0)
            return (struct tensor_shape){.n = 0};
        s.n++;
    }
    return s;
}

struct tensor_shapes tensor_shapes_read(struct str text)
{
    struct tensor_shapes out = {.n = 0};
    struct str one;

    while (out.n < TENSOR_SHAPES && text.n > 0 && str_split(&text, ';', &one))
        out.at[out.n++] = read_shape(str_trim(one)); /* some sources break lines in between */
    return out;
}

double tensor_shape_elements(const struct tensor_shape *s)
{
    double elements = s->n > 0 ? 1 : 0;

    for (size_t i = 0; i < s->n; i++)
        elements *= s->dims[i];
    return elements;
}

/* Which operand is the first of the product. */
static const struct {
    struct str op;
    size_t first;
    bool is_transposed; /* the second operand is [n, k] */
} products[] = {
    {S_INIT("aten::mm"), 0, false},
    {S_INIT("aten::addmm"), 1, false},
    {S_INIT("aten::bmm"), 0, false},
    {S_INIT("aten::baddbmm"), 1, false},
    {S_INIT("aten::matmul"), 0, false},
    {S_INIT("aten::linear"), 0, true},
    {S_INIT("aten::_scaled_mm"), 0, false},
    {S_INIT("MatMulV2"), 0, false},
    {S_INIT("MatMulV3"), 0, false},
    {S_INIT("BatchMatMulV2"), 0, false},
    {S_INIT("MatMul"), 0, false},
    {S_INIT("BatchMatMul"), 0, false},
    {S_INIT("aten::_grouped_mm"), 0, false},
    {S_INIT("aten::_scaled_grouped_mm"), 0, false},
    {S_INIT("GroupedMatmul"), 0, false},
};

/* Which side is summed over is told by the shapes where only one of them fits. */
static struct tensor_product product_of(const struct tensor_shape *a, const struct tensor_shape *b,
                                        bool is_transposed)
{
    if (a->n < 2 || b->n < 2)
        return (struct tensor_product){0};
    double k = a->dims[a->n - 1], rows = tensor_shape_elements(a);
    bool fits = b->dims[b->n - 2] == k, fits_transposed = b->dims[b->n - 1] == k;
    if (fits != fits_transposed)
        is_transposed = fits_transposed;
    double n = b->dims[is_transposed ? b->n - 2 : b->n - 1];
    if (k <= 0)
        return (struct tensor_product){0};
    return (struct tensor_product){
        2 * rows * n,
        rows + tensor_shape_elements(b) + rows / k * n,
    };
}

struct tensor_product tensor_product_of(struct str op, const struct tensor_shapes *shapes)
{
    for (size_t i = 0; i < ARRAY_LEN(products); i++)
        if (str_equal(op, products[i].op) && shapes->n > 1) {
            /* A kernel may have the sum behind the factors. */
            size_t first =
                shapes->at[0].n > 1 && products[i].first + 1 >= shapes->n ? 0 : products[i].first;
            return first + 1 < shapes->n ? product_of(&shapes->at[first], &shapes->at[first + 1],
                                                      products[i].is_transposed)
                                         : (struct tensor_product){0};
        }
    return (struct tensor_product){0};
}

/* ---- convolutions ---- */

/* Operations and elements of an output of this shape; the weight is [out, in of a group, ...]. */
static struct tensor_product convolution(const struct tensor_shape *output,
                                         const struct tensor_shape *input,
                                         const struct tensor_shape *weight)
{
    double taps = tensor_shape_elements(weight) / weight->dims[0];

    return (struct tensor_product){
        2 * tensor_shape_elements(output) * taps,
        tensor_shape_elements(output) + tensor_shape_elements(input) +
            tensor_shape_elements(weight),
    };
}

struct tensor_product tensor_convolution_of(struct str op, const struct tensor_shapes *shapes,
                                            struct tensor_shape *output)
{
    bool is_backward = str_equal(op, S("aten::convolution_backward"));
    size_t first = is_backward ? 1 : 0;

    *output = (struct tensor_shape){.n = 0};
    if (!str_contains(op, S("conv")) || shapes->n < first + 2)
        return (struct tensor_product){0};
    const struct tensor_shape *input = &shapes->at[first], *weight = &shapes->at[first + 1];
    if (input->n < 3 || !(input->dims[0] > 0) || !(input->dims[1] > 0) || weight->n != input->n ||
        weight->dims[0] <= 0)
        return (struct tensor_product){0};
    if (is_backward) { /* one for the input's gradient and one for the weight's */
        struct tensor_product p = convolution(&shapes->at[0], input, weight);
        return (struct tensor_product){2 * p.flops, 2 * p.elements};
    }
    *output = *input;
    output->dims[1] = weight->dims[0];
    return convolution(output, input, weight);
}
