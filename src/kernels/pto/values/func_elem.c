/*
 * Element-wise operations: every source is a tile or a scalar, the result depends on the elements
 * at one place. Floats are computed in f32, integers in 64 bits, and cut to the type when stored.
 */
#include <math.h>

#include "kernels/pto/values/func_call.h"

enum { SOURCES = 3, BLOCK = 8 };

/* Element i of each source. Float kernels may run over the end up to a multiple of BLOCK. */
typedef void f32_fn(float *restrict d, const float *restrict a, const float *restrict b,
                    const float *restrict c, int32_t n);

/* False: a division by zero. `wide` marks ui64, whose values do not fit in the sign. */
typedef bool i64_fn(int64_t *restrict d, const int64_t *restrict a, const int64_t *restrict b,
                    const int64_t *restrict c, int32_t n, bool wide);

/* In blocks of a fixed size, which compilers turn into vector instructions. */
#define F32_FAST(name, expression)                                                                 \
    static void f32_##name(float *restrict d, const float *restrict a, const float *restrict b,    \
                           const float *restrict c, int32_t n)                                     \
    {                                                                                              \
        (void)b, (void)c;                                                                          \
        for (int32_t j = 0; j < n; j += BLOCK)                                                     \
            for (int32_t i = j; i < j + BLOCK; i++)                                                \
                d[i] = expression;                                                                 \
    }

#define F32_CALL(name, expression)                                                                 \
    static void f32_##name(float *restrict d, const float *restrict a, const float *restrict b,    \
                           const float *restrict c, int32_t n)                                     \
    {                                                                                              \
        (void)b, (void)c;                                                                          \
        for (int32_t i = 0; i < n; i++)                                                            \
            d[i] = expression;                                                                     \
    }

/* Arithmetic on unsigned words, where overflow wraps. A, B and C are the elements. */
#define I64(name, expression)                                                                      \
    static bool i64_##name(int64_t *restrict d, const int64_t *restrict a,                         \
                           const int64_t *restrict b, const int64_t *restrict c, int32_t n,        \
                           bool wide)                                                              \
    {                                                                                              \
        (void)wide;                                                                                \
        for (int32_t i = 0; i < n; i++) {                                                          \
            const uint64_t A = (uint64_t)a[i], B = (uint64_t)b[i], C = (uint64_t)c[i];             \
            (void)A, (void)B, (void)C;                                                             \
            d[i] = (int64_t)(expression);                                                          \
        }                                                                                          \
        return true;                                                                               \
    }

#define I64_DIVIDE(name, expression)                                                               \
    static bool i64_##name(int64_t *restrict d, const int64_t *restrict a,                         \
                           const int64_t *restrict b, const int64_t *restrict c, int32_t n,        \
                           bool wide)                                                              \
    {                                                                                              \
        (void)c;                                                                                   \
        for (int32_t i = 0; i < n; i++) {                                                          \
            if (b[i] == 0)                                                                         \
                return false;                                                                      \
            d[i] = expression(a[i], b[i], wide);                                                   \
        }                                                                                          \
        return true;                                                                               \
    }

static bool less(uint64_t a, uint64_t b, bool wide)
{
    return wide ? a < b : (int64_t)a < (int64_t)b;
}

/* Toward zero. -2^63 / -1 wraps to itself. */
static int64_t divide(int64_t a, int64_t b, bool wide)
{
    if (wide)
        return (int64_t)((uint64_t)a / (uint64_t)b);
    return b == -1 ? (int64_t) - (uint64_t)a : a / b;
}

static int64_t remain(int64_t a, int64_t b, bool wide)
{
    if (wide)
        return (int64_t)((uint64_t)a % (uint64_t)b);
    return b == -1 ? 0 : a % b;
}

static uint64_t power(uint64_t base, uint64_t exponent, bool wide)
{
    uint64_t result = 1;
    if (!wide && (int64_t)exponent < 0)
        return base == 1 ? 1 : base == ~0ull ? (exponent & 1 ? ~0ull : 1) : 0;
    for (; exponent != 0; exponent >>= 1, base *= base)
        if (exponent & 1)
            result *= base;
    return result;
}

static uint64_t shift_left(uint64_t a, uint64_t by)
{
    return by < 64 ? a << by : 0;
}

static uint64_t shift_right(uint64_t a, uint64_t by, bool wide)
{
    if (by >= 64)
        by = 63, a = wide ? 0 : a;
    return wide ? a >> by : (uint64_t)((int64_t)a >> by);
}

F32_FAST(add, a[i] + b[i])
F32_FAST(sub, a[i] - b[i])
F32_FAST(mul, a[i] * b[i])
F32_FAST(div, a[i] / b[i])
F32_FAST(max, a[i] < b[i] ? b[i] : a[i])
F32_FAST(min, b[i] < a[i] ? b[i] : a[i])
F32_CALL(rem, fmodf(a[i], b[i]))
F32_CALL(pow, powf(a[i], b[i]))
F32_FAST(addc, a[i] + b[i] + c[i])
F32_FAST(subc, a[i] - b[i] + c[i])
F32_FAST(addrelu, a[i] + b[i] < 0 ? 0 : a[i] + b[i])
F32_FAST(abs, fabsf(a[i]))
F32_FAST(neg, -a[i])
F32_CALL(exp, expf(a[i]))
F32_CALL(log, logf(a[i]))
F32_CALL(sqrt, sqrtf(a[i]))
F32_CALL(rsqrt, (float)(1.0 / sqrt((double)a[i])))
F32_FAST(recip, 1.0f / a[i])
F32_FAST(relu, a[i] < 0 ? 0 : a[i])
F32_FAST(lrelu, a[i] > 0 ? a[i] : a[i] * b[i])
F32_CALL(expdif, expf(a[i] - b[i]))

/* dst + a * s with two roundings: sources are a, s and the old destination. */
static void f32_axpy(float *restrict d, const float *restrict a, const float *restrict b,
                     const float *restrict c, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const float product = a[i] * b[i];
        d[i] = c[i] + product;
    }
}

I64(add, A + B)
I64(sub, A - B)
I64(mul, A *B)
I64_DIVIDE(div, divide)
I64(max, less(A, B, wide) ? B : A)
I64(min, less(B, A, wide) ? B : A)
I64_DIVIDE(rem, remain)
I64(pow, power(A, B, wide))
I64(and, A &B)
I64(or, A | B)
I64(xor, A ^ B)
I64(shl, shift_left(A, B))
I64(shr, shift_right(A, B, wide))
I64(not, ~A)
I64(axpy, C + A * B)
I64(addc, A + B + C)
I64(subc, A - B + C)
I64(addrelu, (int64_t)(A + B) < 0 ? 0 : A + B)
I64(abs, (int64_t)A < 0 && !wide ? -A : A)
I64(neg, -A)
I64(relu, (int64_t)A < 0 && !wide ? 0 : A)
I64(lrelu, (int64_t)A > 0 ? A : A * B)

enum elem_shape {
    PLAIN,       /* every tile has the element at the same place */
    PER_ROW,     /* the narrow one of the two sources has one element a row */
    PER_COL,     /* the second source has one row */
    ACCUMULATE,  /* the old destination is a source too */
    BITS = 0x10, /* works on the bits of floats as well */
};

static const struct elem_op {
    f32_fn *f32;
    i64_fn *i64;
    int32_t sources;
    enum elem_shape shape;
} ops[PTO_OP_COUNT] = {
#define PTO_ELEM(code, f32, i64, sources, shape) [PTO_##code] = {f32, i64, sources, shape},
#include "kernels/pto/values/elems.def"
#undef PTO_ELEM
};

/* One operand: the tile of the same place, of the row, of the column; or a scalar. */
enum elem_source { SAME, ONE_A_ROW, ONE_A_COL, SCALAR };

struct work {
    const struct elem_op *op;
    struct pto_tile tile[1 + SOURCES]; /* the destination first */
    enum elem_source kind[1 + SOURCES];
    struct pto_scalar value[1 + SOURCES];
    int32_t sources;
    bool is_float, wide;
};

/* Of two sources the one that has a single column; the second when both could be meant. */
static size_t narrow_one(const struct func_call *c, int32_t cols)
{
    if (!func_has_tile(c, 0) || !func_has_tile(c, 1) || cols <= 1)
        return 1;
    const struct pto_tile *a = c->args->ins[0].u.tile, *b = c->args->ins[1].u.tile;
    return a->v_col < cols && b->v_col >= cols ? 0 : 1;
}

static enum status bind_sources(struct func_call *c, struct work *w)
{
    enum elem_shape shape = w->op->shape;
    const struct pto_tile *dst = &w->tile[0];
    size_t narrow = shape == PER_ROW ? narrow_one(c, dst->v_col) : shape == PER_COL ? 1 : SOURCES;
    for (size_t i = 0; i < (size_t)w->op->sources; i++) {
        struct pto_tile *t = &w->tile[1 + i];
        if (func_has_value(c, i)) {
            w->kind[1 + i] = SCALAR;
            TRY(func_value(c, i, &w->value[1 + i]));
            continue;
        }
        bool alone = i == narrow;
        w->kind[1 + i] = !alone ? SAME : shape == PER_ROW ? ONE_A_ROW : ONE_A_COL;
        int32_t rows = alone && shape == PER_COL ? 1 : dst->v_row;
        int32_t cols = alone && shape == PER_ROW ? 1 : dst->v_col;
        TRY(func_in_as_number(c, i, rows, cols, !alone, t));
    }
    w->sources = w->op->sources;
    if (shape == ACCUMULATE) {
        w->tile[1 + w->sources] = *dst;
        w->kind[1 + w->sources] = SAME;
        w->sources++;
    }
    return ST_OK;
}

/* The piece of source `k` beside destination elements (r, col ..): f32 or i64 by the work. */
static void read_piece(const struct work *w, int32_t k, int32_t r, int32_t col, int32_t n,
                       void *out)
{
    const struct pto_tile *t = &w->tile[k];
    float *f = out;
    int64_t *v = out;
    if (w->kind[k] == SAME || w->kind[k] == ONE_A_COL) {
        int32_t row = w->kind[k] == SAME ? r : 0;
        if (w->is_float)
            func_f32(t, row, col, n, f);
        else if (w->op->shape & BITS)
            func_bits(t, row, col, n, out);
        else
            func_i64(t, row, col, n, v);
        return;
    }
    struct pto_scalar one = w->value[k];
    if (w->kind[k] == ONE_A_ROW)
        one = (struct pto_scalar){t->type.dtype, func_at(t, r, 0)};
    float x = w->is_float ? pto_elem_f32(one.bits, one.dtype) : 0;
    int64_t y = w->is_float ? 0 : pto_elem_i64(one.bits, one.dtype);
    for (int32_t i = 0; i < n; i++)
        if (w->is_float)
            f[i] = x;
        else
            v[i] = y;
}

static bool elem_compute(const struct work *w)
{
    /* One array for both kinds of numbers; zeroed, for kernels run over the end of a piece. */
    union {
        float f[FUNC_PIECE];
        int64_t v[FUNC_PIECE];
    } in[SOURCES] = {0}, out;
    const struct pto_tile *dst = &w->tile[0];
    for (int32_t r = 0; r < dst->v_row; r++)
        for (int32_t col = 0; col < dst->v_col; col += FUNC_PIECE) {
            int32_t n = func_min(FUNC_PIECE, dst->v_col - col);
            for (int32_t k = 0; k < w->sources; k++)
                if (w->kind[1 + k] != SCALAR || (r == 0 && col == 0))
                    read_piece(w, 1 + k, r, col, w->kind[1 + k] == SCALAR ? FUNC_PIECE : n, &in[k]);
            if (w->is_float) {
                w->op->f32(out.f, in[0].f, in[1].f, in[2].f, n);
                func_put_f32(dst, r, col, n, out.f);
            } else if (w->op->i64(out.v, in[0].v, in[1].v, in[2].v, n, w->wide)) {
                if (w->op->shape & BITS)
                    func_put_bits(dst, r, col, n, (const uint64_t *)out.v);
                else
                    func_put_i64(dst, r, col, n, out.v);
            } else {
                return false;
            }
        }
    return true;
}

enum status func_element_wise(struct func_call *c)
{
    struct work w = {.op = &ops[c->op]};
    TRY(func_out_number(c, 0, &w.tile[0]));
    enum pto_dtype type = w.tile[0].type.dtype;
    w.is_float = pto_dtype_is_float(type) && w.op->f32 != NULL;
    w.wide = type == PTO_U64;
    if (w.tile[0].v_row == 0 || w.tile[0].v_col == 0)
        return ST_OK;
    if (!w.is_float && w.op->i64 == NULL)
        return diag_fail(c->diag, ST_UNSUPPORTED, "pto-run.func-dtype", c->args->where,
                         "%s does not compute with %s", pto_op_name(c->op), pto_dtype_name(type));
    TRY(bind_sources(c, &w));
    size_t tiles = 1;
    for (int32_t k = 1; k <= w.sources && w.kind[k] == SAME; k++)
        tiles++;
    bool scalars_last = true;
    for (int32_t k = (int32_t)tiles; k <= w.sources; k++)
        scalars_last = scalars_last && w.kind[k] == SCALAR;
    if (scalars_last)
        func_straighten(w.tile, tiles);
    if (!elem_compute(&w))
        return func_fail(c, ST_FORMAT, "pto-run.div-zero", "division by zero");
    return ST_OK;
}
