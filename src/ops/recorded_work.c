/*
 * Sizes of calls, read for the rules of work_rules.def.
 */
#include "ops/recorded_work.h"

#include <pthread.h>

#include "base/text/char.h"
#include "base/text/num.h"
#include "ops/name_index.h"

/* ---- what is recorded ---- */

static struct recorded_tensors read_tensors(struct str shapes, struct str types)
{
    struct recorded_tensors o = {.shapes = tensor_shapes_read(shapes)};
    struct str one;

    for (size_t i = 0; i < o.shapes.n && types.n > 0 && str_split(&types, ';', &one); i++)
        o.types[i] = dtype_of(one);
    return o;
}

static double elements_at(const struct recorded_tensors *o, size_t i)
{
    return i < o->shapes.n ? tensor_elements(&o->shapes.at[i]) : 0;
}

static double bytes_at(const struct recorded_tensors *o, size_t i)
{
    return i < o->shapes.n ? elements_at(o, i) * dtype_bytes(o->types[i]) : 0;
}

static double bytes_of_all(const struct recorded_tensors *o)
{
    double bytes = 0;

    for (size_t i = 0; i < o->shapes.n; i++)
        bytes += bytes_at(o, i);
    return bytes;
}

static enum dtype first_type(const struct recorded_tensors *o)
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

/* ---- sizes for the rules ---- */

/* Whatever a rule needs; what it does not name is 0. */
struct work_args {
    double size, made;        /* bytes of an element of the first tensor; of a product's output */
    double in;                /* bytes of all inputs */
    double first, first_size; /* the first input: elements, bytes of each */
    double read, out;         /* elements of factors and the like; of the output */
    double m, k, n;           /* of a product; k and n: sizes of heads of attention */
    double sums;              /* multiplications of a convolution */
    double pairs;             /* of attention: queries with keys */
    double row, place;        /* bytes of a row that is picked, and of the number that picks it */
    bool is_causal, is_known;
};

struct work_call {
    const struct recorded_tensors *o;
    struct str op, values;
};

static struct work_args args_of(const struct work_call *c)
{
    double size = dtype_bytes(first_type(c->o));

    return (struct work_args){
        .size = size,
        .made = size > 0 && size < 2 ? 2 : size,
        .in = bytes_of_all(c->o),
        .first = elements_at(c->o, 0),
        .first_size = dtype_bytes(c->o->types[0]),
        .is_known = c->o->shapes.n > 0,
    };
}

/* Which side is summed over is told by the shapes where only one of them fits. */
struct recorded_product recorded_product_of(const struct tensor_shape *a,
                                            const struct tensor_shape *b, bool is_transposed)
{
    if (a->n < 2 || b->n < 2)
        return (struct recorded_product){0};
    double k = tensor_back_dim(a, 0);
    bool fits = tensor_back_dim(b, 1) == k, fits_transposed = tensor_back_dim(b, 0) == k;
    if (k <= 0 || (!fits && !fits_transposed))
        return (struct recorded_product){0};
    if (fits != fits_transposed)
        is_transposed = fits_transposed;
    double units = 1;
    for (size_t i = 2; i < b->n; i++)
        units *= tensor_back_dim(b, i);
    return (struct recorded_product){
        .rows = tensor_elements(a) / k,
        .depth = k,
        .columns = tensor_back_dim(b, is_transposed ? 1 : 0),
        .units = units,
        .read = tensor_elements(a) + tensor_elements(b),
    };
}

/* `first` is the number of the first factor. */
static struct work_args factors(const struct work_call *c, size_t first, bool is_transposed)
{
    const struct tensor_shapes *s = &c->o->shapes;
    struct work_args a = args_of(c);

    if (s->n < first + 2 && s->n > 1 && s->at[0].n > 1)
        first = 0; /* a kernel may have the sum behind the factors */
    if (s->n < first + 2)
        return (struct work_args){0};
    struct recorded_product p =
        recorded_product_of(&s->at[first], &s->at[first + 1], is_transposed);
    a.m = p.rows;
    a.k = p.depth;
    a.n = p.columns;
    a.read = p.read;
    a.out = a.m * a.n;
    return a;
}

/* Every output element sums over a filter and the channels of a group; transposed, every input
 * element is spread over a filter. Not known without the stride. */
static struct work_args convolution(const struct work_call *c, bool is_full)
{
    const struct tensor_shapes *s = &c->o->shapes;
    const struct tensor_shape *in = &s->at[0], *weight = &s->at[1];
    bool is_transposed = is_full && str_equal(value_at(c->values, 6), S("True"));
    struct work_args a = args_of(c);

    if (s->n < 2 || in->n < 3 || weight->n != in->n)
        return (struct work_args){0};
    a.in = bytes_at(c->o, 0) + bytes_at(c->o, 1);
    a.read = tensor_elements(in) + tensor_elements(weight);
    a.sums = (double)in->dim[0] * tensor_elements(weight);
    a.out = (double)in->dim[0] * (double)weight->dim[is_transposed ? 1 : 0];
    if (is_transposed) /* [in, out of a group, ...] */
        a.out *= number_at(value_at(c->values, 8), 0, 1);
    for (size_t i = 2; i < in->n; i++) {
        double size = (double)in->dim[i], taps = (double)weight->dim[i];
        double stride = number_at(value_at(c->values, 3), i - 2, 0);
        double padding = number_at(value_at(c->values, 4), i - 2, 0);
        double reach = number_at(value_at(c->values, 5), i - 2, 1) * (taps - 1) + 1;
        if (!(stride >= 1 && stride < 1e9))
            return (struct work_args){0};
        double out = (size + 2 * padding - reach) / stride + 1;
        out = out > 0 && out < 1e15 ? (double)num_i64_of(out) : 0;
        double more = is_transposed ? number_at(value_at(c->values, 7), i - 2, 0) : 0;
        a.sums *= is_transposed ? size : out;
        a.out *= is_transposed ? (size - 1) * stride - 2 * padding + reach + more : out;
    }
    return a;
}

/* A convolution whose output has this shape; the weight is [out, in of a group, ...]. */
static struct work_args sums_of(const struct work_call *c, const struct tensor_shape *output,
                                const struct tensor_shape *input, const struct tensor_shape *weight)
{
    struct work_args a = args_of(c);

    if (input->n < 3 || weight->n != input->n || weight->dim[0] <= 0)
        return (struct work_args){0};
    a.sums = tensor_elements(output) * tensor_elements(weight) / (double)weight->dim[0];
    a.read = tensor_elements(input) + tensor_elements(weight);
    a.out = tensor_elements(output);
    return a;
}

enum { CONV_MASK = 10 }; /* which gradients are asked for */

/* One for the gradient of the input and one for that of the weight, if they are asked for. */
static struct work_args gradients(const struct work_call *c)
{
    const struct tensor_shape *s = c->o->shapes.at;
    struct str one, mask = inside(value_at(c->values, CONV_MASK));
    bool is_told = mask.n > 0;

    if (c->o->shapes.n < 3)
        return (struct work_args){0};
    struct work_args a = sums_of(c, &s[0], &s[1], &s[2]);
    for (int i = 0; i < 2 && str_split(&mask, ',', &one); i++)
        a.n += str_equal(str_trim(one), S("True"));
    a.n = is_told ? a.n : 2;
    return a;
}

/* Queries, keys and values of [batch, heads, length, size]; `first` is the number of the queries:
 * backward the gradient of the output comes before them. */
static struct work_args heads(const struct work_call *c, size_t first)
{
    const struct tensor_shape *q = &c->o->shapes.at[first], *k = q + 1, *v = q + 2;
    struct work_args a = args_of(c);

    if (c->o->shapes.n < first + 3 || q->n != 4 || k->n != 4 || v->n != 4)
        return (struct work_args){0};
    bool is_flash = str_contains(c->op, S("_flash_"));
    bool is_wrapper = str_equal(c->op, S("aten::scaled_dot_product_attention"));
    size_t causal = is_flash ? 4 : is_wrapper ? 5 : 6;
    double rows = (double)q->dim[0] * (double)q->dim[1] * (double)q->dim[2];
    a.pairs = rows * (double)k->dim[2];
    a.k = (double)q->dim[3];
    a.n = (double)v->dim[3];
    a.read = tensor_elements(q) + tensor_elements(k) + tensor_elements(v);
    a.out = rows * a.n;
    a.is_causal =
        first == 0 && q->dim[2] == k->dim[2] && str_equal(value_at(c->values, causal), S("True"));
    return a;
}

static struct work_args unknown(void)
{
    return (struct work_args){0};
}

static struct work_args plain(const struct work_call *c)
{
    return args_of(c);
}

/* Both sides of a copy. */
static struct work_args copied(const struct work_call *c)
{
    struct work_args a = args_of(c);

    a.is_known = c->o->shapes.n > 1;
    a.in = bytes_at(c->o, 0) + bytes_at(c->o, 1);
    return a;
}

/* Elements of what inputs that are stretched to one another make. */
static struct work_args stretched(const struct work_call *c)
{
    const struct tensor_shapes *s = &c->o->shapes;
    struct work_args a = args_of(c);
    double dims[SHAPE_DIMS];

    for (size_t i = 0; i < SHAPE_DIMS; i++)
        dims[i] = 1;
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < s->at[i].n; k++) {
            double dim = tensor_back_dim(&s->at[i], k);
            dims[k] = dim > dims[k] ? dim : dims[k];
            a.out = 1;
        }
    for (size_t i = 0; i < SHAPE_DIMS; i++)
        a.out *= dims[i];
    return a;
}

/* What is left of the first without the dimensions "[-1]"; one element where none is named. */
static struct work_args reduced(const struct work_call *c)
{
    const struct tensor_shape *s = &c->o->shapes.at[0];
    struct str one, rest = inside(value_at(c->values, 1));
    struct work_args a = args_of(c);
    bool is_any = false;
    double dim;

    if (s->n == 0)
        return (struct work_args){0};
    a.out = a.first;
    while (str_split(&rest, ',', &one)) {
        if (!num_f64(str_trim(one), &dim))
            continue;
        dim += dim < 0 ? (double)s->n : 0;
        if (dim < 0 || dim >= (double)s->n || s->dim[(size_t)dim] <= 0)
            continue;
        a.out /= (double)s->dim[(size_t)dim];
        is_any = true;
    }
    a.out = is_any ? a.out : 1;
    return a;
}

/* Numbers in a list of tensors have no type of their own: they have 8 bytes. */
static double size_of_place(const struct recorded_tensors *o, size_t by)
{
    return dtype_bits(o->types[by]) > 0 ? dtype_bytes(o->types[by]) : 8;
}

/* Rows of the first by the numbers in operand `by`. */
static struct work_args picked(const struct work_call *c, size_t by)
{
    const struct tensor_shapes *s = &c->o->shapes;
    struct work_args a = args_of(c);

    if (s->n <= by || s->at[0].n == 0 || s->at[0].dim[0] <= 0 || s->at[by].n == 0 || by == 0)
        return (struct work_args){0};
    a.out = elements_at(c->o, by);
    a.row = a.first_size * a.first / (double)s->at[0].dim[0];
    a.place = size_of_place(c->o, by);
    return a;
}

/* An element for each number in the third operand. */
static struct work_args places(const struct work_call *c)
{
    struct work_args a = args_of(c);

    if (c->o->shapes.n < 3)
        return (struct work_args){0};
    a.out = elements_at(c->o, 2);
    a.place = dtype_bytes(c->o->types[2]);
    return a;
}

/* As many of each row as the second value says. */
static struct work_args top(const struct work_call *c)
{
    struct work_args a = args_of(c);
    double k = number_at(value_at(c->values, 1), 0, 0);

    if (c->o->shapes.at[0].n == 0 || k < 1)
        return (struct work_args){0};
    a.out = tensor_shape_rows(&c->o->shapes.at[0]) * k;
    return a;
}

/* A table of as many rows as the third value says, made from gradients of those that were picked.
 */
static struct work_args table(const struct work_call *c)
{
    struct work_args a = args_of(c);
    double k = number_at(value_at(c->values, 2), 0, 0);

    if (c->o->shapes.n < 2 || c->o->shapes.at[0].n == 0 || k < 1)
        return (struct work_args){0};
    a.in = bytes_at(c->o, 0) + bytes_at(c->o, 1);
    a.out = k * tensor_back_dim(&c->o->shapes.at[0], 0);
    return a;
}

/* ---- the rules ---- */

/* What a rule comes to; without any work it is not known. */
static struct recorded_work work_made(enum recorded_work_kind kind, const struct work_args *a,
                                      double flops, double bytes)
{
    bool has_work = kind == RECORDED_WORK_MEMORY ? bytes > 0 && bytes < 1e18 : flops > 0;

    if (!a->is_known || !has_work)
        return (struct recorded_work){.kind = RECORDED_WORK_UNKNOWN,
                                      .flops = kind == RECORDED_WORK_MEMORY ? flops : 0};
    return (struct recorded_work){
        .kind = kind,
        .flops = flops,
        .bytes = bytes,
        .moved = kind == RECORDED_WORK_MEMORY ? 0
                 : a->size > 0                ? bytes / a->size
                                              : a->read + a->out,
        .rows = kind == RECORDED_WORK_PRODUCT ? a->m : 0,
        .depth = kind == RECORDED_WORK_PRODUCT ? a->k : 0,
        .head = kind == RECORDED_WORK_ATTENTION ? a->k : 0,
        .is_causal = a->is_causal,
    };
}

#define WORK(id, names, kind, is_leaf, arguments, flops, bytes)                                    \
    static struct recorded_work work_of_##id(const struct work_call *c)                            \
    {                                                                                              \
        struct work_args a = arguments;                                                            \
        return work_made(RECORDED_WORK_##kind, &a, flops, bytes);                                  \
    }
#include "ops/work_rules.def"
#undef WORK

static const struct work_rule {
    struct str names;
    struct recorded_work (*of)(const struct work_call *c);
    bool is_leaf;
} rules[] = {
#define WORK(id, names, kind, is_leaf, arguments, flops, bytes)                                    \
    {S_INIT(names), work_of_##id, is_leaf},
#include "ops/work_rules.def"
#undef WORK
};

static struct name_index index_of_rules;

static void index_rules(void)
{
    for (uint16_t i = 0; i < ARRAY_LEN(rules); i++)
        name_index_add(&index_of_rules, rules[i].names, ' ', i);
}

/* "add" for "aten::add_": PyTorch's own are bare in the table. A bare name of a call is a kernel's,
 * and these begin with a capital. */
static const struct work_rule *find_rule(struct str op)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, index_rules);
    if (!str_skip(&op, S("aten::")) && !str_contains(op, S("::")) &&
        (op.n == 0 || !char_is_upper(op.at[0])))
        return NULL;
    if (op.n > 1 && op.at[op.n - 1] == '_')
        op.n--;
    uint16_t rule = name_index_find(&index_of_rules, op);
    return rule != NAME_INDEX_NONE ? &rules[rule] : NULL;
}

/* What is the same for all. */
static struct recorded_work work_finish(struct recorded_work w, const struct recorded_tensors *o)
{
    w.type = first_type(o);
    for (size_t i = 0; i < o->shapes.n; i++) {
        double elements = elements_at(o, i);
        w.largest = elements > w.largest ? elements : w.largest;
        w.has_double |= o->shapes.at[i].n > 0 && o->types[i] == DTYPE_F64;
    }
    return w;
}

struct recorded_work recorded_work_of_tensors(struct str op, const struct recorded_tensors *o,
                                              struct str values)
{
    const struct work_rule *rule = find_rule(op);
    struct recorded_work w = {0};

    if (rule != NULL)
        w = rule->of(&(struct work_call){o, op, values});
    w.is_leaf = rule == NULL || rule->is_leaf;
    return work_finish(w, o);
}

struct recorded_work recorded_work_of(const struct recorded_call *in)
{
    struct recorded_tensors o = read_tensors(in->shapes, in->types);

    return in->shapes.n > 0 ? recorded_work_of_tensors(in->op, &o, in->values)
                            : (struct recorded_work){0};
}

/* ---- kernels with outputs ---- */

/* Rows of a product follow from its output: [.., m, n] of k = elements of the first / (m ..). It
 * holds for inputs that are transposed or laid out in fractals. */
static struct recorded_work product_of_kernel(const struct recorded_tensors *in,
                                              const struct recorded_tensors *out)
{
    const struct tensor_shape *c = &out->shapes.at[0];

    if (in->shapes.n < 2 || out->shapes.n < 1 || c->n < 2 || c->dim[c->n - 1] <= 0 ||
        tensor_elements(c) <= 0)
        return (struct recorded_work){0};
    double rows = tensor_shape_rows(c), depth = elements_at(in, 0) / rows;
    return (struct recorded_work){.kind = RECORDED_WORK_PRODUCT,
                                  .flops = 2 * tensor_elements(c) * depth,
                                  .rows = rows,
                                  .depth = depth};
}

/* The first output of a kernel that fuses attention is [batch, heads, length, 8]. */
static struct recorded_work attention_of_kernel(const struct recorded_tensors *in,
                                                const struct recorded_tensors *out)
{
    const struct tensor_shape *q = &in->shapes.at[0], *k = &in->shapes.at[1];
    const struct tensor_shape *most = &out->shapes.at[0];
    size_t place = 0;

    if (in->shapes.n < 3 || out->shapes.n < 1 || most->n != 4 || most->dim[3] != 8 ||
        q->n != k->n || !(tensor_elements(most) > 0))
        return (struct recorded_work){0};
    while (place < q->n && q->dim[place] != most->dim[2])
        place++;
    if (place == q->n)
        return (struct recorded_work){0};
    return (struct recorded_work){
        .kind = RECORDED_WORK_ATTENTION,
        .flops = 4 * tensor_elements(q) * (double)k->dim[place],
        .head = tensor_elements(q) / (tensor_elements(most) / 8),
    };
}

struct recorded_work recorded_work_of_kernel(const struct recorded_call *in)
{
    static const struct str products[] = {S_INIT("MatMul"), S_INIT("BatchMatMul"),
                                          S_INIT("GroupedMatmul")};
    static const struct str picks[] = {S_INIT("Gather"), S_INIT("Embedding"), S_INIT("Index")};
    static const struct str computing[] = {S_INIT("MatMul"), S_INIT("Attention"), S_INIT("Conv")};
    struct recorded_work work = {0};

    if (in->shapes.n == 0 || in->out_shapes.n == 0)
        return work;
    struct recorded_tensors a = read_tensors(in->shapes, in->types);
    struct recorded_tensors b = read_tensors(in->out_shapes, in->out_types);
    if (STR_ANY(str_starts, in->op, products))
        work = product_of_kernel(&a, &b);
    if (str_equal(in->op, S("FlashAttentionScore")))
        work = attention_of_kernel(&a, &b);
    /* The table that rows are picked from is not read whole. */
    work.bytes = STR_ANY(str_starts, in->op, picks)
                     ? bytes_of_all(&a) - bytes_at(&a, 0) + 2 * bytes_of_all(&b)
                     : bytes_of_all(&a) + bytes_of_all(&b);
    if (work.kind == RECORDED_WORK_UNKNOWN && work.bytes > 0 &&
        !STR_ANY(str_contains, in->op, computing))
        work.kind = RECORDED_WORK_MEMORY;
    work.is_leaf = true;
    return work_finish(work, &a);
}

/* ---- guesses ---- */

struct recorded_work recorded_work_estimate(const struct recorded_call *in)
{
    struct recorded_work w = recorded_work_of(in);

    if (w.kind == RECORDED_WORK_PRODUCT || w.kind == RECORDED_WORK_CONVOLUTION || in->shapes.n == 0)
        return w;
    struct recorded_tensors o = read_tensors(in->shapes, in->types);
    struct work_call c = {&o, in->op, in->values};
    const struct tensor_shape *s = o.shapes.at;
    struct work_args a = {0};
    if (str_contains(in->op, S("conv")) && o.shapes.n > 1) {
        struct tensor_shape output = s[0];
        output.dim[1] = s[1].n > 0 ? s[1].dim[0] : 0;
        a = s[0].n > 2 && s[0].dim[0] > 0 && s[0].dim[1] > 0 ? sums_of(&c, &output, &s[0], &s[1])
                                                             : a;
    }
    if (a.sums > 0) {
        w.is_estimated = true;
        w.kind = RECORDED_WORK_CONVOLUTION;
        w.flops = 2 * a.sums;
        w.moved = a.read + a.out;
        w.bytes = w.moved * a.size;
    }
    return w;
}
