/*
 * Formulas of work by operator.
 */
#include "analysis/op_stats.h"

#include "analysis/diagnose/tensor_shapes.h"
#include "base/num.h"

/* The input of that number out of ["", "[2, 2]", "False"]; empty when it is not there. */
static struct str value_at(struct str values, size_t number)
{
    size_t begin = 0, quotes = 0;

    for (size_t i = 0; i < values.n; i++) {
        if (values.at[i] != '"')
            continue;
        if (quotes++ % 2 == 0)
            begin = i + 1;
        else if (quotes == 2 * (number + 1))
            return str_part(values, begin, i - begin);
    }
    return (struct str){0};
}

/* The number of that place out of "[2, 1]", or out of "[2]" for all places. */
static double number_at(struct str list, size_t place, double otherwise)
{
    struct str one, rest = list;
    double value = otherwise;

    if (rest.n > 1 && rest.at[0] == '[')
        rest = str_part(rest, 1, rest.n - 2);
    for (size_t i = 0; i <= place && str_split(&rest, ',', &one); i++)
        if (!num_f64(str_trim(one), &value))
            return otherwise;
    return value;
}

/* Products of a convolution: every output element sums over a kernel and the channels of a group;
 * transposed, every input element is spread over a kernel. */
static double convolution(const struct tensor_shapes *s, struct str values, bool is_full)
{
    const struct tensor_shape *in = &s->at[0], *weight = &s->at[1];
    bool is_transposed = is_full && str_equal(value_at(values, 6), S("True"));

    if (s->n < 2 || in->n < 3 || weight->n != in->n)
        return 0;
    double flops = 2 * in->dims[0] * tensor_shape_elements(weight);
    for (size_t i = 2; i < in->n; i++) {
        double stride = number_at(value_at(values, 3), i - 2, 0);
        double padding = number_at(value_at(values, 4), i - 2, 0);
        double dilation = number_at(value_at(values, 5), i - 2, 1);
        double reach = dilation * (weight->dims[i] - 1) + 1;
        if (stride < 1)
            return 0; /* not recorded */
        double out = (in->dims[i] + 2 * padding - reach) / stride + 1;
        flops *= is_transposed ? in->dims[i] : out > 0 ? (double)(int64_t)out : 0;
    }
    return flops;
}

/* Scores and their product with the values, of all heads, masked or not. */
static double attention(const struct tensor_shapes *s)
{
    const struct tensor_shape *q = &s->at[0], *k = &s->at[1], *v = &s->at[2];

    if (s->n < 3 || q->n != 4 || k->n != 4 || v->n != 4)
        return 0;
    return 2 * q->dims[0] * q->dims[1] * q->dims[2] * k->dims[2] * (q->dims[3] + v->dims[3]);
}

static bool is_attention_leaf(struct str op)
{
    return str_starts(op, S("aten::_scaled_dot_product_")) && str_ends(op, S("_attention"));
}

struct op_work op_work_of(struct str op, struct str shapes, struct str values)
{
    static const struct str products[] = {S_INIT("aten::mm"), S_INIT("aten::addmm"),
                                          S_INIT("aten::bmm"), S_INIT("aten::baddbmm"),
                                          S_INIT("aten::_scaled_mm")};
    static const struct str plain[] = {S_INIT("aten::add"), S_INIT("aten::mul")};
    static const struct str convs[] = {S_INIT("aten::conv1d"), S_INIT("aten::conv2d"),
                                       S_INIT("aten::conv3d")};
    struct tensor_shapes s;

    if (shapes.n == 0 || !str_starts(op, S("aten::")))
        return (struct op_work){0};
    s = tensor_shapes_read(shapes);
    if (str_is_one_of(op, products, ARRAY_LEN(products)))
        return (struct op_work){tensor_product_of(op, &s).flops, true};
    if (str_is_one_of(op, plain, ARRAY_LEN(plain)))
        return (struct op_work){tensor_shape_elements(&s.at[0]), true};
    if (str_equal(op, S("aten::convolution")))
        return (struct op_work){convolution(&s, values, true), true};
    if (str_is_one_of(op, convs, ARRAY_LEN(convs)))
        return (struct op_work){convolution(&s, values, false), false};
    if (is_attention_leaf(op))
        return (struct op_work){attention(&s), true};
    if (str_equal(op, S("aten::scaled_dot_product_attention")))
        return (struct op_work){attention(&s), false};
    return (struct op_work){0};
}
