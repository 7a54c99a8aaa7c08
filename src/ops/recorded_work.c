/*
 * Formulas of work by operator.
 */
#include "ops/recorded_work.h"

#include "base/text/num.h"

/* ---- what is recorded ---- */

struct op_tensors {
    struct tensor_shapes shapes;
    enum dtype types[TENSOR_SHAPES];
};

static struct op_tensors read_tensors(struct str shapes, struct str types)
{
    struct op_tensors o = {.shapes = tensor_shapes_read(shapes)};
    struct str one;

    for (size_t i = 0; i < o.shapes.n && types.n > 0 && str_split(&types, ';', &one); i++)
        o.types[i] = dtype_of(one);
    return o;
}

static double elements_at(const struct op_tensors *o, size_t i)
{
    return i < o->shapes.n ? tensor_shape_elements(&o->shapes.at[i]) : 0;
}

static double bytes_at(const struct op_tensors *o, size_t i)
{
    return i < o->shapes.n ? elements_at(o, i) * dtype_bytes(o->types[i]) : 0;
}

static double bytes_of_all(const struct op_tensors *o)
{
    double bytes = 0;

    for (size_t i = 0; i < o->shapes.n; i++)
        bytes += bytes_at(o, i);
    return bytes;
}

static enum dtype first_type(const struct op_tensors *o)
{
    for (size_t i = 0; i < o->shapes.n; i++)
        if (o->shapes.at[i].n > 0 && dtype_bits(o->types[i]) > 0)
            return o->types[i];
    return DTYPE_NONE;
}

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

/* Elements of "[2, 1]", one by one. */
static struct str inside(struct str list)
{
    return list.n > 1 && list.at[0] == '[' ? str_part(list, 1, list.n - 2) : list;
}

/* The number of that place out of "[2, 1]", or out of "[2]" for all places. */
static double number_at(struct str list, size_t place, double otherwise)
{
    struct str one, rest = inside(list);
    double value = otherwise;

    for (size_t i = 0; i <= place && str_split(&rest, ',', &one); i++)
        if (!num_f64(str_trim(one), &value))
            return otherwise;
    return value;
}

/* ---- products, convolutions, attention ---- */

static struct recorded_work product(struct str op, const struct op_tensors *o, bool is_leaf)
{
    struct tensor_product p = tensor_product_of(op, &o->shapes);
    enum dtype type = first_type(o);

    return (struct recorded_work){
        .kind = p.flops > 0 ? RECORDED_WORK_PRODUCT : RECORDED_WORK_UNKNOWN,
        .is_leaf = is_leaf,
        .flops = p.flops,
        .bytes = p.elements * dtype_bytes(type),
        .type = type,
    };
}

/* Products of a convolution: every output element sums over a kernel and the channels of a group;
 * transposed, every input element is spread over a kernel. */
static struct recorded_work convolution(const struct op_tensors *o, struct str values, bool is_full)
{
    const struct tensor_shape *in = &o->shapes.at[0], *weight = &o->shapes.at[1];
    bool is_transposed = is_full && str_equal(value_at(values, 6), S("True"));

    if (o->shapes.n < 2 || in->n < 3 || weight->n != in->n)
        return (struct recorded_work){0};
    double flops = 2 * in->dims[0] * tensor_shape_elements(weight);
    double output = in->dims[0] * weight->dims[is_transposed ? 1 : 0];
    for (size_t i = 2; i < in->n; i++) {
        double stride = number_at(value_at(values, 3), i - 2, 0);
        double padding = number_at(value_at(values, 4), i - 2, 0);
        double dilation = number_at(value_at(values, 5), i - 2, 1);
        double reach = dilation * (weight->dims[i] - 1) + 1;
        if (!(stride >= 1 && stride < 1e9))
            return (struct recorded_work){0}; /* not recorded */
        double out = (in->dims[i] + 2 * padding - reach) / stride + 1;
        out = out > 0 && out < 1e15 ? (double)num_i64_of(out) : 0;
        flops *= is_transposed ? in->dims[i] : out;
        output *= is_transposed ? (in->dims[i] - 1) * stride - 2 * padding + reach : out;
    }
    enum dtype type = first_type(o);
    return (struct recorded_work){
        .kind = RECORDED_WORK_CONVOLUTION,
        .is_leaf = is_full,
        .flops = flops,
        .bytes = bytes_at(o, 0) + bytes_at(o, 1) + output * dtype_bytes(type),
        .type = type,
    };
}

enum { CONV_MASK = 10 }; /* which gradients are asked for */

/* One for the gradient of the input and one for that of the weight. */
static struct recorded_work convolution_backward(const struct op_tensors *o, struct str values)
{
    struct tensor_shape output;
    struct tensor_product p =
        tensor_convolution_of(S("aten::convolution_backward"), &o->shapes, &output);
    struct str one, mask = inside(value_at(values, CONV_MASK));
    double asked = 0;

    for (int i = 0; i < 2 && str_split(&mask, ',', &one); i++)
        asked += str_equal(str_trim(one), S("True"));
    asked = mask.n > 0 || asked > 0 ? asked : 2;
    return (struct recorded_work){
        .kind = p.flops > 0 ? RECORDED_WORK_CONVOLUTION : RECORDED_WORK_UNKNOWN,
        .is_leaf = true,
        .flops = p.flops / 2 * asked,
        .bytes = p.elements / 2 * asked * dtype_bytes(first_type(o)),
        .type = first_type(o),
    };
}

/* Scores and their product with the values, of all heads, masked or not; backward the scores once
 * more and four gradients. Backward the gradient of the output comes first. */
static struct recorded_work attention(struct str op, const struct op_tensors *o, struct str values,
                                      bool is_leaf)
{
    bool is_backward = str_ends(op, S("_backward"));
    size_t first = is_backward ? 1 : 0;
    const struct tensor_shape *q = &o->shapes.at[first], *k = q + 1, *v = q + 2;

    if (o->shapes.n < first + 3 || q->n != 4 || k->n != 4 || v->n != 4)
        return (struct recorded_work){0};
    double scores = q->dims[0] * q->dims[1] * q->dims[2] * k->dims[2];
    double output = q->dims[0] * q->dims[1] * q->dims[2] * v->dims[3];
    double moved = tensor_shape_elements(q) + tensor_shape_elements(k) + tensor_shape_elements(v);
    size_t causal = str_contains(op, S("flash")) ? 4 : 6;
    return (struct recorded_work){
        .kind = RECORDED_WORK_ATTENTION,
        .is_leaf = is_leaf,
        .is_causal = !is_backward && q->dims[2] == k->dims[2] &&
                     str_equal(value_at(values, causal), S("True")),
        .flops =
            2 * scores * (is_backward ? 3 * q->dims[3] + 2 * v->dims[3] : q->dims[3] + v->dims[3]),
        .bytes =
            (is_backward ? 2 * moved + 2 * output : moved + output) * dtype_bytes(first_type(o)),
        .head = q->dims[3],
        .type = first_type(o),
    };
}

/* ---- what mostly reads and writes ---- */

enum memory_rule {
    RULE_MAP,     /* each element of the output from one of each input */
    RULE_COMPARE, /* the same, the output is of one byte */
    RULE_FIRST,   /* the output is like the first input */
    RULE_REDUCE,  /* the dimensions that are named go */
    RULE_FILL,
    RULE_COPY,
    RULE_ROWS,         /* rows of the first by the numbers in the second */
    RULE_SELECT,       /* the same by the numbers in the third */
    RULE_GATHER,       /* an element for each of the third */
    RULE_SCATTER,      /* the first as it is, then an element for each of the third */
    RULE_TOP,          /* as many of each row as the second value says */
    RULE_ROW_GRADIENT, /* rows of the first are added to as many rows as the third value says */
    RULE_ALL,          /* outputs are among the operands */
    RULE_NONE,
};

/* Names without "aten::" and without the '_' of the kinds that write their first input. */
static const struct {
    enum memory_rule rule;
    const char *list;
} rules[] = {
    {RULE_MAP,
     "add sub rsub mul div pow square silu gelu relu leaky_relu elu softplus mish hardtanh "
     "hardswish "
     "sigmoid tanh exp log log1p expm1 sqrt rsqrt neg abs sign reciprocal cos sin erf clamp "
     "clamp_min clamp_max where maximum minimum addcmul addcdiv lerp masked_fill bitwise_and "
     "bitwise_or bitwise_not bitwise_xor remainder floor ceil round silu_backward gelu_backward "
     "threshold_backward tanh_backward sigmoid_backward native_dropout native_dropout_backward"},
    {RULE_COMPARE, "eq ne lt le gt ge isnan isinf logical_and logical_or logical_not"},
    {RULE_FIRST,
     "_softmax _log_softmax _softmax_backward_data _log_softmax_backward_data native_layer_norm "
     "native_layer_norm_backward native_group_norm native_group_norm_backward native_batch_norm "
     "native_batch_norm_backward cudnn_batch_norm cudnn_batch_norm_backward miopen_batch_norm "
     "miopen_batch_norm_backward _fused_rms_norm _fused_rms_norm_backward cumsum flip roll triu "
     "tril sort"},
    {RULE_REDUCE, "sum mean amax amin argmax argmin max min var std prod any all logsumexp "
                  "linalg_vector_norm norm"},
    {RULE_FILL, "fill zero normal uniform random bernoulli exponential"},
    {RULE_COPY, "copy"},
    {RULE_ROWS, "embedding index"},
    {RULE_SELECT, "index_select"},
    {RULE_GATHER, "gather"},
    {RULE_SCATTER, "scatter scatter_add index_add"},
    {RULE_TOP, "topk"},
    {RULE_ROW_GRADIENT, "embedding_dense_backward"},
    {RULE_ALL, "_C::silu_and_mul _C::gelu_and_mul _C::rms_norm _moe_C::topk_softmax"},
};

static enum memory_rule rule_of(struct str op)
{
    struct str prefix = S("aten::"), name = op, token;

    if (str_starts(op, prefix))
        name = str_part(op, prefix.n, op.n);
    if (name.n > 1 && name.at[name.n - 1] == '_')
        name = str_part(name, 0, name.n - 1);
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        for (struct str rest = str_of(rules[i].list); str_split(&rest, ' ', &token);)
            if (str_equal(name, token))
                return (rules[i].rule == RULE_ALL) != str_starts(op, prefix) ? rules[i].rule
                                                                             : RULE_NONE;
    return RULE_NONE;
}

/* Elements of what inputs that are stretched to one another make. */
static double broadcast(const struct tensor_shapes *s)
{
    double dims[TENSOR_DIMS];
    double elements = 0;

    for (size_t i = 0; i < TENSOR_DIMS; i++)
        dims[i] = 1;
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < s->at[i].n; k++) {
            double dim = s->at[i].dims[s->at[i].n - 1 - k];
            dims[k] = dim > dims[k] ? dim : dims[k];
            elements = 1;
        }
    for (size_t i = 0; i < TENSOR_DIMS; i++)
        elements *= dims[i];
    return elements;
}

/* What is left of a shape without the dimensions "[-1]"; all go where none is named. */
static double reduced(const struct tensor_shape *s, struct str dims)
{
    struct str one, rest = inside(dims);
    double left = tensor_shape_elements(s), dim;
    bool is_any = false;

    while (str_split(&rest, ',', &one)) {
        if (!num_f64(str_trim(one), &dim))
            continue;
        dim += dim < 0 ? (double)s->n : 0;
        if (dim < 0 || dim >= (double)s->n || s->dims[(size_t)dim] <= 0)
            continue;
        left /= s->dims[(size_t)dim];
        is_any = true;
    }
    return is_any ? left : 1;
}

/* Bytes of rows picked by the numbers in operand `by`: each read and written. */
static double rows_picked(const struct op_tensors *o, size_t by)
{
    const struct tensor_shape *table = &o->shapes.at[0];

    if (o->shapes.n <= by || table->n == 0 || table->dims[0] <= 0 || o->shapes.at[by].n == 0)
        return 0;
    /* Numbers in a list of tensors have no type of their own: they have 8 bytes. */
    double number = dtype_bits(o->types[by]) > 0 ? dtype_bytes(o->types[by]) : 8;
    return elements_at(o, by) * (number + 2 * bytes_at(o, 0) / table->dims[0]);
}

/* The largest of each row, with their places. */
static double bytes_of_top(const struct op_tensors *o, struct str values)
{
    double k = number_at(value_at(values, 1), 0, 0);

    if (o->shapes.n == 0 || o->shapes.at[0].n == 0 || k < 1)
        return 0;
    double rows = elements_at(o, 0) / o->shapes.at[0].dims[o->shapes.at[0].n - 1];
    return bytes_at(o, 0) + rows * k * (dtype_bytes(o->types[0]) + 8);
}

/* A table of rows made from the gradients of those that were picked. */
static double bytes_of_row_gradient(const struct op_tensors *o, struct str values)
{
    double k = number_at(value_at(values, 2), 0, 0);

    if (o->shapes.n < 2 || o->shapes.at[0].n == 0 || k < 1)
        return 0;
    return bytes_at(o, 0) + bytes_at(o, 1) +
           k * o->shapes.at[0].dims[o->shapes.at[0].n - 1] * dtype_bytes(o->types[0]);
}

static double memory_bytes(enum memory_rule rule, const struct op_tensors *o, struct str values)
{
    double type = dtype_bytes(o->types[0]);

    switch (rule) {
    case RULE_MAP:
        return bytes_of_all(o) + broadcast(&o->shapes) * dtype_bytes(first_type(o));
    case RULE_COMPARE:
        return bytes_of_all(o) + broadcast(&o->shapes);
    case RULE_FIRST:
        return bytes_of_all(o) + bytes_at(o, 0);
    case RULE_REDUCE:
        return o->shapes.n > 0 && o->shapes.at[0].n > 0
                   ? bytes_at(o, 0) + reduced(&o->shapes.at[0], value_at(values, 1)) * type
                   : 0;
    case RULE_FILL:
        return bytes_at(o, 0);
    case RULE_COPY:
        return o->shapes.n > 1 ? bytes_at(o, 0) + bytes_at(o, 1) : 0;
    case RULE_ROWS:
        return o->shapes.n > 2 && o->shapes.at[2].n > 0 ? 0 : rows_picked(o, 1);
    case RULE_SELECT:
        return rows_picked(o, 2);
    case RULE_GATHER:
        return bytes_at(o, 2) + 2 * elements_at(o, 2) * type;
    case RULE_SCATTER:
        return 2 * bytes_at(o, 0) + bytes_at(o, 2) + 2 * elements_at(o, 2) * type;
    case RULE_TOP:
        return bytes_of_top(o, values);
    case RULE_ROW_GRADIENT:
        return bytes_of_row_gradient(o, values);
    case RULE_ALL:
        return bytes_of_all(o);
    default:
        return 0;
    }
}

static struct recorded_work memory(struct str op, const struct op_tensors *o, struct str values)
{
    double bytes = memory_bytes(rule_of(op), o, values);
    bool is_counted = str_equal(op, S("aten::add")) || str_equal(op, S("aten::mul"));

    return (struct recorded_work){
        .kind = bytes > 0 && bytes < 1e18 ? RECORDED_WORK_MEMORY : RECORDED_WORK_UNKNOWN,
        .is_leaf = true,
        .flops = is_counted ? elements_at(o, 0) : 0,
        .bytes = bytes > 0 && bytes < 1e18 ? bytes : 0,
        .type = first_type(o),
    };
}

/* ---- by operator ---- */

/* product() and attention(): true for an operator that runs the kernel; a wrapper calls another
 * one, which counts the work. */
struct recorded_work recorded_work_of(const struct recorded_call *in)
{
    static const struct str products[] = {S_INIT("aten::mm"),
                                          S_INIT("aten::addmm"),
                                          S_INIT("aten::bmm"),
                                          S_INIT("aten::baddbmm"),
                                          S_INIT("aten::_scaled_mm"),
                                          S_INIT("aten::_grouped_mm"),
                                          S_INIT("aten::_scaled_grouped_mm")};
    static const struct str wrappers[] = {S_INIT("aten::linear"), S_INIT("aten::matmul")};
    static const struct str convs[] = {S_INIT("aten::conv1d"), S_INIT("aten::conv2d"),
                                       S_INIT("aten::conv3d")};
    struct str op = in->op;

    if (in->shapes.n == 0)
        return (struct recorded_work){0};
    struct op_tensors o = read_tensors(in->shapes, in->types);
    if (str_is_one_of(op, products, ARRAY_LEN(products)))
        return product(op, &o, true);
    if (str_is_one_of(op, wrappers, ARRAY_LEN(wrappers)))
        return product(op, &o, false);
    if (str_equal(op, S("aten::convolution")))
        return convolution(&o, in->values, true);
    if (str_is_one_of(op, convs, ARRAY_LEN(convs)))
        return convolution(&o, in->values, false);
    if (str_equal(op, S("aten::convolution_backward")))
        return convolution_backward(&o, in->values);
    if (str_starts(op, S("aten::_scaled_dot_product_")) &&
        (str_ends(op, S("_attention")) || str_ends(op, S("_attention_backward"))))
        return attention(op, &o, in->values, true);
    if (str_equal(op, S("aten::scaled_dot_product_attention")))
        return attention(op, &o, in->values, false);
    return memory(op, &o, in->values);
}

/* ---- kernels with outputs ---- */

/* Rows of a product follow from its output: [.., m, n] of k = elements of the first / (m ..). It
 * holds for inputs that are transposed or laid out in fractals. */
static struct recorded_work product_of_kernel(const struct op_tensors *in,
                                              const struct op_tensors *out)
{
    const struct tensor_shape *c = &out->shapes.at[0];

    if (in->shapes.n < 2 || out->shapes.n < 1 || c->n < 2 || c->dims[c->n - 1] <= 0 ||
        tensor_shape_elements(c) <= 0)
        return (struct recorded_work){0};
    double depth = elements_at(in, 0) / (tensor_shape_elements(c) / c->dims[c->n - 1]);
    return (struct recorded_work){.kind = RECORDED_WORK_PRODUCT,
                                  .is_leaf = true,
                                  .flops = 2 * tensor_shape_elements(c) * depth};
}

/* The first output of a kernel that fuses attention is [batch, heads, length, 8]. */
static struct recorded_work attention_of_kernel(const struct op_tensors *in,
                                                const struct op_tensors *out)
{
    const struct tensor_shape *q = &in->shapes.at[0], *k = &in->shapes.at[1];
    const struct tensor_shape *most = &out->shapes.at[0];
    size_t place = 0;

    if (in->shapes.n < 3 || out->shapes.n < 1 || most->n != 4 || most->dims[3] != 8 ||
        q->n != k->n || most->dims[1] * most->dims[2] * most->dims[0] <= 0)
        return (struct recorded_work){0};
    while (place < q->n && q->dims[place] != most->dims[2])
        place++;
    if (place == q->n)
        return (struct recorded_work){0};
    return (struct recorded_work){
        .kind = RECORDED_WORK_ATTENTION,
        .is_leaf = true,
        .flops = 4 * tensor_shape_elements(q) * k->dims[place],
        .head = tensor_shape_elements(q) / (most->dims[0] * most->dims[1] * most->dims[2]),
    };
}

struct recorded_work recorded_work_of_kernel(const struct recorded_call *in)
{
    static const struct str products[] = {S_INIT("MatMul"), S_INIT("BatchMatMul"),
                                          S_INIT("GroupedMatmul")};
    static const struct str picks[] = {S_INIT("Gather"), S_INIT("Embedding"), S_INIT("Index")};
    struct recorded_work work = {0};

    if (in->shapes.n == 0 || in->out_shapes.n == 0)
        return work;
    struct op_tensors a = read_tensors(in->shapes, in->types);
    struct op_tensors b = read_tensors(in->out_shapes, in->out_types);
    if (STR_ANY(str_starts, in->op, products))
        work = product_of_kernel(&a, &b);
    if (str_equal(in->op, S("FlashAttentionScore")))
        work = attention_of_kernel(&a, &b);
    /* The table that rows are picked from is not read whole. */
    work.bytes = STR_ANY(str_starts, in->op, picks)
                     ? bytes_of_all(&a) - bytes_at(&a, 0) + 2 * bytes_of_all(&b)
                     : bytes_of_all(&a) + bytes_of_all(&b);
    work.is_leaf = true;
    work.type = first_type(&a);
    if (work.kind == RECORDED_WORK_UNKNOWN && work.bytes > 0 &&
        !str_contains(in->op, S("MatMul")) && !str_contains(in->op, S("Attention")) &&
        !str_contains(in->op, S("Conv")))
        work.kind = RECORDED_WORK_MEMORY;
    return work;
}
