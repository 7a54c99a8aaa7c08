/*
 * Shapes as numbers, and what a matrix product of them costs.
 */
#include "analysis/diagnose/tensor_shapes.h"

#include "base/num.h"

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
        out.at[out.n++] = read_shape(one);
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
    {S_INIT("aten::mm"), 0, false},         {S_INIT("aten::addmm"), 1, false},
    {S_INIT("aten::bmm"), 0, false},        {S_INIT("aten::baddbmm"), 1, false},
    {S_INIT("aten::matmul"), 0, false},     {S_INIT("aten::linear"), 0, true},
    {S_INIT("aten::_scaled_mm"), 0, false},
};

static struct tensor_product product_of(const struct tensor_shape *a, const struct tensor_shape *b,
                                        bool is_transposed)
{
    if (a->n < 2 || b->n < 2)
        return (struct tensor_product){0};
    double n = b->dims[is_transposed ? b->n - 2 : b->n - 1], rows = tensor_shape_elements(a);
    double k = a->dims[a->n - 1];
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
        if (str_equal(op, products[i].op) && products[i].first + 1 < shapes->n)
            return product_of(&shapes->at[products[i].first], &shapes->at[products[i].first + 1],
                              products[i].is_transposed);
    return (struct tensor_product){0};
}
