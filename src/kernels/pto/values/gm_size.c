/*
 * Sizes of buffers from the views that the text makes of them.
 */
#include "kernels/pto/values/gm_size.h"

#include "base/text/num.h"

enum { MAX_DEPTH = 16, MAX_ARGS = 64 };

/* What a function is looked at with: its arguments as the caller hands them over. */
struct scope {
    const struct pto_module *m;
    const struct pto_function *f;
    struct pto_gm_size *out;
    struct {
        int32_t root;   /* argument of the kernel that a pointer comes from; -1 */
        int64_t offset; /* elements added on the way */
        bool is_known;  /* a scalar whose value is known */
        int64_t value;
        bool is_dynamic; /* the offset is not */
    } arg[MAX_ARGS];
    int depth;
};

/* ---- numbers ---- */

static bool size_number(const struct scope *s, uint32_t value, int depth, int64_t *out);

static bool two(const struct scope *s, const struct pto_op *op, int depth, int64_t *a, int64_t *b)
{
    const struct pto_operand *o = pto_operands(s->m, op);

    return op->operand_count == 2 && size_number(s, o[0].value, depth + 1, a) &&
           size_number(s, o[1].value, depth + 1, b);
}

/* A divisor of -1 is left out because INT64_MIN / -1 overflows. */
static bool computed(const struct scope *s, const struct pto_op *op, int depth, int64_t *out)
{
    int64_t a = 0, b = 0;

    switch (op->code) {
    case PTO_ADDI:
        return two(s, op, depth, &a, &b) && !__builtin_add_overflow(a, b, out);
    case PTO_SUBI:
        return two(s, op, depth, &a, &b) && !__builtin_sub_overflow(a, b, out);
    case PTO_MULI:
        return two(s, op, depth, &a, &b) && !__builtin_mul_overflow(a, b, out);
    case PTO_MAXSI:
    case PTO_MINSI:
        if (!two(s, op, depth, &a, &b))
            return false;
        *out = (op->code == PTO_MAXSI) == (a > b) ? a : b;
        return true;
    case PTO_DIVSI:
    case PTO_REMSI:
        if (!two(s, op, depth, &a, &b) || b == 0 || b == -1)
            return false;
        *out = op->code == PTO_DIVSI ? a / b : a % b;
        return true;
    case PTO_INDEX_CAST:
    case PTO_INDEX_CASTUI:
    case PTO_EXTSI:
    case PTO_EXTUI:
    case PTO_TRUNCI:
        return op->operand_count == 1 &&
               size_number(s, pto_operands(s->m, op)[0].value, depth + 1, out);
    default:
        return false;
    }
}

static bool size_number(const struct scope *s, uint32_t value, int depth, int64_t *out)
{
    if (value >= s->f->value_count || depth > MAX_DEPTH)
        return false;
    if (value < s->f->arg_count) {
        if (value >= MAX_ARGS || !s->arg[value].is_known)
            return false;
        *out = s->arg[value].value;
        return true;
    }
    uint32_t at = pto_value_at(s->m, s->f, value)->op;
    if (at == PTO_NONE)
        return false;
    const struct pto_op *op = &s->m->ops.at[at];
    if (op->code != PTO_CONSTANT)
        return computed(s, op, depth, out);
    const struct pto_attr *attr = pto_op_attr(s->m, op, PTO_KEY_VALUE);
    if (!attr || (attr->kind != PTO_ATTR_INT && attr->kind != PTO_ATTR_BOOL))
        return false;
    *out = attr->i;
    return true;
}

/* The number, or 256 for one that the text does not tell. */
static int64_t number_or(const struct scope *s, uint32_t value, bool *is_dynamic)
{
    int64_t n;

    if (size_number(s, value, 0, &n))
        return n;
    *is_dynamic = true;
    return PTO_GM_UNKNOWN;
}

/* ---- pointers ---- */

/* The kernel's argument behind a pointer, and what is added to it. */
static int32_t root_of(const struct scope *s, uint32_t value, int64_t *offset, bool *is_dynamic)
{
    for (int depth = 0; depth < MAX_DEPTH && value < s->f->value_count; depth++) {
        if (value < s->f->arg_count) {
            if (value >= MAX_ARGS || s->arg[value].root < 0)
                return -1;
            *offset = num_most_sum(*offset, s->arg[value].offset);
            *is_dynamic = *is_dynamic || s->arg[value].is_dynamic;
            return s->arg[value].root;
        }
        const struct pto_value *v = pto_value_at(s->m, s->f, value);
        const struct pto_op *op = v->op != PTO_NONE ? &s->m->ops.at[v->op] : NULL;
        if (!op || op->operand_count == 0 || (op->code != PTO_ADDPTR && op->code != PTO_CASTPTR))
            return -1;
        const struct pto_operand *o = pto_operands(s->m, op);
        if (op->code == PTO_ADDPTR && op->operand_count > 1)
            *offset = num_most_sum(*offset, number_or(s, o[1].value, is_dynamic));
        value = o[0].value;
    }
    return -1;
}

static void size_grow(const struct scope *s, int32_t root, int64_t elements, bool is_view,
                      bool is_dynamic)
{
    struct pto_gm_size *g = &s->out[root];

    if (elements > g->elements)
        g->elements = elements;
    g->has_view = g->has_view || is_view;
    g->is_dynamic = g->is_dynamic || is_dynamic;
}

/* Elements from the pointer to the last one reached: 1 + the sum of (dim - 1) * stride; without
 * strides all of them. */
static void see_view(const struct scope *s, const struct pto_op *op)
{
    bool is_dynamic = false;
    int64_t offset = 0, elements = 1, all = 1;
    uint32_t rank = pto_operand_total(s->m, op, PTO_ROLE_SHAPE);
    uint32_t strides = pto_operand_total(s->m, op, PTO_ROLE_STRIDE);
    int32_t root = root_of(s, pto_operand(s->m, op, PTO_ROLE_BASE), &offset, &is_dynamic);

    if (root < 0)
        return;
    for (uint32_t i = 0; i < rank; i++) {
        int64_t dim = number_or(s, pto_operand_nth(s->m, op, PTO_ROLE_SHAPE, i), &is_dynamic);
        int64_t stride = 0;
        if (rank == strides)
            stride = number_or(s, pto_operand_nth(s->m, op, PTO_ROLE_STRIDE, i), &is_dynamic);
        all = num_most_product(all, dim > 0 ? dim : 0);
        if (rank == strides && dim > 0)
            elements = num_most_sum(elements, num_most_product(dim - 1, stride));
    }
    size_grow(s, root, num_most_sum(offset, rank == strides ? elements : all), true, is_dynamic);
}

static void see_scalar(const struct scope *s, const struct pto_op *op)
{
    bool is_dynamic = false;
    int64_t offset = 0, at = 0;
    uint32_t index = pto_operand(s->m, op, PTO_ROLE_INDEX);
    int32_t root = root_of(s, pto_operand(s->m, op, PTO_ROLE_BASE), &offset, &is_dynamic);

    if (root >= 0 && (index == PTO_NONE || size_number(s, index, 0, &at)))
        size_grow(s, root, num_most_sum(num_most_sum(offset, at), 1), false, is_dynamic);
}

static void see_function(const struct scope *s);

static void see_call(const struct scope *s, const struct pto_op *op)
{
    const struct pto_attr *callee = pto_op_attr(s->m, op, PTO_KEY_CALLEE);
    const struct pto_function *f =
        callee ? pto_find_function(s->m, intern_get(&s->m->names, callee->text)) : NULL;

    if (!f || !f->has_body || s->depth >= MAX_DEPTH)
        return;
    struct scope *inner = mem_grow(NULL, sizeof(*inner), 1);
    memset(inner, 0, sizeof(*inner));
    inner->m = s->m;
    inner->f = f;
    inner->out = s->out;
    inner->depth = s->depth + 1;
    for (uint32_t i = 0; i < MAX_ARGS; i++) {
        uint32_t value = i < f->arg_count ? pto_operand_nth(s->m, op, PTO_ROLE_ARG, i) : PTO_NONE;
        inner->arg[i].root = -1;
        if (value == PTO_NONE)
            continue;
        inner->arg[i].root = root_of(s, value, &inner->arg[i].offset, &inner->arg[i].is_dynamic);
        inner->arg[i].is_known = size_number(s, value, 0, &inner->arg[i].value);
    }
    see_function(inner);
    mem_free(inner);
}

static void see_function(const struct scope *s)
{
    for (uint32_t i = s->f->op_first; i < s->f->op_end; i++) {
        const struct pto_op *op = &s->m->ops.at[i];
        if (op->code == PTO_MAKE_TENSOR_VIEW)
            see_view(s, op);
        else if (op->code == PTO_LOAD_SCALAR || op->code == PTO_STORE_SCALAR)
            see_scalar(s, op);
        else if (op->code == PTO_CALL)
            see_call(s, op);
    }
}

void pto_gm_sizes(const struct pto_module *m, const struct pto_function *f,
                  const struct pto_gm_scalar *scalars, bool join, struct pto_gm_size *out)
{
    struct scope *s = mem_grow(NULL, sizeof(*s), 1);

    memset(s, 0, sizeof(*s));
    s->m = m;
    s->f = f;
    s->out = out;
    for (uint32_t i = 0; i < f->arg_count; i++) {
        const struct pto_type *type = pto_value_type(m, f, i);
        bool is_pointer = type->kind == PTO_TYPE_PTR;
        if (!join)
            out[i] = (struct pto_gm_size){.is_pointer = is_pointer, .dtype = type->dtype};
        else if (is_pointer && !out[i].is_pointer) {
            out[i].is_pointer = true;
            out[i].dtype = type->dtype;
        }
        if (i >= MAX_ARGS)
            continue;
        s->arg[i].root = is_pointer ? (int32_t)i : -1;
        if (scalars && !is_pointer) {
            s->arg[i].is_known = scalars[i].is_known;
            s->arg[i].value = scalars[i].value;
        }
    }
    see_function(s);
    mem_free(s);
}

int64_t pto_gm_elements(const struct pto_gm_size *size)
{
    if (!size->has_view && size->elements < PTO_GM_NO_VIEW)
        return PTO_GM_NO_VIEW;
    return size->elements > 0 ? size->elements : 0;
}

size_t pto_gm_bytes(const struct pto_gm_size *size)
{
    size_t bytes;

    if (!num_mul((size_t)pto_gm_elements(size), pto_dtype_size(size->dtype), &bytes))
        return SIZE_MAX;
    return bytes;
}
