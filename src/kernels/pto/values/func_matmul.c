/*
 * Matrix products. Every element is one f32 sum from 0 over ascending k, each step a fused
 * multiply-add; an accumulator or a bias is added once at the end. The order is the same on every
 * machine: only several elements are computed side by side.
 */
#include <math.h>

#include "kernels/pto/values/func_call.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { GROUP = 32, LARGEST = 4095, STRIP = 16 };

struct product {
    int32_t m, k, n;
    float *a;     /* m x k */
    float *b;     /* k x wide */
    float *sum;   /* m x wide */
    int32_t wide; /* n rounded up to a strip */
};

/* Elements [row .. row + rows) x [col .. col + STRIP) of the product of k steps from `from`. */
typedef void strip_fn(const struct product *p, int32_t row, int32_t rows, int32_t col, int32_t from,
                      int32_t to);

static void strip_plain(const struct product *p, int32_t row, int32_t rows, int32_t col,
                        int32_t from, int32_t to)
{
    for (int32_t r = row; r < row + rows; r++) {
        float sum[STRIP] = {0};
        for (int32_t k = from; k < to; k++) {
            const float x = p->a[(size_t)r * (size_t)p->k + (size_t)k];
            const float *y = p->b + (size_t)k * (size_t)p->wide + col;
            for (int32_t i = 0; i < STRIP; i++)
                sum[i] = fmaf(x, y[i], sum[i]);
        }
        for (int32_t i = 0; i < STRIP; i++)
            p->sum[(size_t)r * (size_t)p->wide + (size_t)(col + i)] = sum[i];
    }
}

#if defined(__x86_64__)
enum { TALL = 6 }; /* rows at a time: 12 sums, 2 columns and a factor fill the 16 registers */

__attribute__((target("avx2,fma"))) static void strip_tall(const struct product *p, int32_t row,
                                                           int32_t col, int32_t from, int32_t to)
{
    __m256 sum[TALL][2];
    for (int32_t r = 0; r < TALL; r++)
        sum[r][0] = sum[r][1] = _mm256_setzero_ps();
    const float *a = p->a + (size_t)row * (size_t)p->k;
    for (int32_t k = from; k < to; k++) {
        const float *y = p->b + (size_t)k * (size_t)p->wide + col;
        const __m256 low = _mm256_loadu_ps(y), high = _mm256_loadu_ps(y + 8);
        for (int32_t r = 0; r < TALL; r++) {
            const __m256 x = _mm256_broadcast_ss(a + (size_t)r * (size_t)p->k + (size_t)k);
            sum[r][0] = _mm256_fmadd_ps(x, low, sum[r][0]);
            sum[r][1] = _mm256_fmadd_ps(x, high, sum[r][1]);
        }
    }
    for (int32_t r = 0; r < TALL; r++) {
        float *out = p->sum + (size_t)(row + r) * (size_t)p->wide + col;
        _mm256_storeu_ps(out, sum[r][0]);
        _mm256_storeu_ps(out + 8, sum[r][1]);
    }
}

__attribute__((target("avx2,fma"))) static void strip_one(const struct product *p, int32_t row,
                                                          int32_t col, int32_t from, int32_t to)
{
    __m256 low = _mm256_setzero_ps(), high = low;
    for (int32_t k = from; k < to; k++) {
        const float *y = p->b + (size_t)k * (size_t)p->wide + col;
        const __m256 x = _mm256_broadcast_ss(p->a + (size_t)row * (size_t)p->k + (size_t)k);
        low = _mm256_fmadd_ps(x, _mm256_loadu_ps(y), low);
        high = _mm256_fmadd_ps(x, _mm256_loadu_ps(y + 8), high);
    }
    float *out = p->sum + (size_t)row * (size_t)p->wide + col;
    _mm256_storeu_ps(out, low);
    _mm256_storeu_ps(out + 8, high);
}

static void strip_fma(const struct product *p, int32_t row, int32_t rows, int32_t col, int32_t from,
                      int32_t to)
{
    int32_t r = row;
    for (; r + TALL <= row + rows; r += TALL)
        strip_tall(p, r, col, from, to);
    for (; r < row + rows; r++)
        strip_one(p, r, col, from, to);
}
#endif

static void multiply(const struct product *p, int32_t from, int32_t to)
{
    strip_fn *strip = strip_plain;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        strip = strip_fma;
#endif
    for (int32_t col = 0; col < p->wide; col += STRIP)
        strip(p, 0, p->m, col, from, to);
}

struct matmul {
    struct pto_tile dst, left, right, acc, bias, left_scale, right_scale;
    int32_t m, k, n;
    bool k_pairs, n_pairs; /* the right operand holds pairs along k, along n */
    bool is_int;
};

/* Operand positions: [Cin,] A, [Ascale,] B, [Bscale,] [bias]. */
static enum status read_operands(struct func_call *c, int how, struct matmul *w)
{
    size_t at = 0, acc = 0;
    TRY(func_out(c, 0, &w->dst));
    if (how & FUNC_ACCUMULATE)
        acc = at++;
    TRY(func_in(c, at++, &w->left));
    if (how & FUNC_SCALED)
        TRY(func_in(c, at++, &w->left_scale));
    TRY(func_in(c, at++, &w->right));
    if (how & FUNC_SCALED)
        TRY(func_in(c, at++, &w->right_scale));
    w->m = w->left.v_row;
    int32_t lanes = (int32_t)pto_elem_lanes(w->left.type.dtype);
    if (w->left.v_col > LARGEST || w->right.v_col > LARGEST || w->right.v_row > LARGEST)
        return func_bad_shape(c, "M, K and N must be 1 to 4095");
    w->k = w->left.v_col * lanes;
    w->k_pairs = lanes == 2 && w->right.v_row == w->left.v_col;
    w->n_pairs = pto_elem_lanes(w->right.type.dtype) == 2 && !w->k_pairs;
    w->n = w->right.v_col * (w->n_pairs ? 2 : 1);
    if (w->right.v_row * (w->k_pairs ? 2 : 1) != w->k)
        return diag_fail(c->diag, ST_FORMAT, "pto-run.func-shape", c->args->where,
                         "%s: K is %d on the left and %d on the right", pto_op_name(c->op), w->k,
                         w->right.v_row);
    if (w->m < 1 || w->k < 1 || w->n < 1 || w->m > LARGEST || w->k > LARGEST || w->n > LARGEST)
        return func_bad_shape(c, "M, K and N must be 1 to 4095");
    if (how & FUNC_ACCUMULATE)
        TRY(func_in_as(c, acc, w->m, w->n, true, &w->acc));
    if (how & FUNC_BIAS)
        TRY(func_in_as(c, at++, 1, w->n, false, &w->bias));
    if (w->dst.type.rows < w->m || w->dst.type.cols < w->n)
        return func_bad_shape(c, "the destination is smaller than the product");
    w->dst.v_row = w->m;
    w->dst.v_col = w->n;
    TRY(pto_tile_check(&w->dst, c->args->where, c->diag));
    w->is_int = !pto_dtype_is_float(w->left.type.dtype);
    if (pto_elem_lanes(w->dst.type.dtype) == 2 ||
        (w->is_int && pto_dtype_is_float(w->right.type.dtype)))
        return func_fail(c, ST_UNSUPPORTED, "pto-run.func-dtype",
                         "these element types do not multiply");
    return ST_OK;
}

/* Row r of an operand as floats; pairs become two elements. */
static void spread_row(const struct pto_tile *t, int32_t r, int32_t lanes, float *out)
{
    if (lanes == 1) {
        func_f32(t, r, 0, t->v_col, out);
        return;
    }
    enum pto_dtype type = t->type.dtype, lane = pto_elem_lane_type(type);
    for (int32_t c = 0; c < t->v_col; c++) {
        uint64_t pair = func_at(t, r, c);
        for (uint32_t i = 0; i < 2; i++)
            out[2 * c + (int32_t)i] = pto_elem_f32(pto_elem_lane(pair, type, i), lane);
    }
}

static void read_right(const struct matmul *w, int32_t wide, float *out)
{
    enum pto_dtype type = w->right.type.dtype, lane = pto_elem_lane_type(type);
    for (int32_t r = 0; r < w->right.v_row; r++) {
        if (!w->k_pairs) {
            spread_row(&w->right, r, w->n_pairs ? 2 : 1, out + (size_t)r * (size_t)wide);
            continue;
        }
        for (int32_t c = 0; c < w->n; c++) {
            uint64_t pair = func_at(&w->right, r, c);
            for (uint32_t i = 0; i < 2; i++)
                out[((size_t)r * 2 + i) * (size_t)wide + (size_t)c] =
                    pto_elem_f32(pto_elem_lane(pair, type, i), lane);
        }
    }
}

static struct product product_of(struct func_call *c, const struct matmul *w)
{
    struct product p = {.m = w->m, .k = w->k, .n = w->n};
    p.wide = (w->n + STRIP - 1) / STRIP * STRIP;
    p.a = ARENA_ARRAY(&c->scratch, float, (size_t)p.m *(size_t)p.k);
    p.b = ARENA_ARRAY(&c->scratch, float, (size_t)p.k *(size_t)p.wide);
    p.sum = ARENA_ARRAY(&c->scratch, float, (size_t)p.m *(size_t)p.wide);
    int32_t lanes = (int32_t)pto_elem_lanes(w->left.type.dtype);
    for (int32_t r = 0; r < w->m; r++)
        spread_row(&w->left, r, lanes, p.a + (size_t)r * (size_t)w->k);
    read_right(w, p.wide, p.b);
    return p;
}

static void finish_f32(struct func_call *c, const struct matmul *w, int how,
                       const struct product *p)
{
    float *extra = ARENA_ARRAY(&c->scratch, float, (size_t)w->n);
    if (how & FUNC_BIAS)
        func_f32(&w->bias, 0, 0, w->n, extra);
    for (int32_t r = 0; r < w->m; r++) {
        float *sum = p->sum + (size_t)r * (size_t)p->wide;
        if (how & FUNC_ACCUMULATE)
            func_f32(&w->acc, r, 0, w->n, extra);
        for (int32_t i = 0; i < w->n && (how & (FUNC_BIAS | FUNC_ACCUMULATE)); i++)
            sum[i] = extra[i] + sum[i];
        func_put_f32(&w->dst, r, 0, w->n, sum);
    }
}

/* Integer sums wrap in 32 bits; 64 bits hold them until the store. */
static void multiply_ints(struct func_call *c, const struct matmul *w, int how)
{
    int64_t *a = ARENA_ARRAY(&c->scratch, int64_t, (size_t)w->k);
    int64_t *b = ARENA_ARRAY(&c->scratch, int64_t, (size_t)w->k * (size_t)w->n);
    int64_t *sum = ARENA_ARRAY(&c->scratch, int64_t, (size_t)w->n);
    int64_t *extra = ARENA_ARRAY(&c->scratch, int64_t, (size_t)w->n);
    for (int32_t k = 0; k < w->k; k++)
        func_i64(&w->right, k, 0, w->n, b + (size_t)k * (size_t)w->n);
    if (how & FUNC_BIAS)
        func_i64(&w->bias, 0, 0, w->n, extra);
    for (int32_t r = 0; r < w->m; r++) {
        func_i64(&w->left, r, 0, w->k, a);
        if (how & FUNC_ACCUMULATE)
            func_i64(&w->acc, r, 0, w->n, extra);
        for (int32_t i = 0; i < w->n; i++)
            sum[i] = extra[i];
        for (int32_t k = 0; k < w->k; k++) {
            const uint64_t x = (uint64_t)a[k];
            const int64_t *y = b + (size_t)k * (size_t)w->n;
            for (int32_t i = 0; i < w->n; i++)
                sum[i] = (int64_t)((uint64_t)sum[i] + x * (uint64_t)y[i]);
        }
        func_put_i64(&w->dst, r, 0, w->n, sum);
    }
}

/* 8-bit factors: 256 products sum up to less than 2^24, which f32 holds exactly, so that the float
 * kernel can be used piece by piece. */
static void multiply_bytes(struct func_call *c, const struct matmul *w, int how)
{
    enum { EXACT = 256 };
    struct product p = product_of(c, w);
    uint32_t *total = ARENA_ARRAY(&c->scratch, uint32_t, (size_t)p.m * (size_t)p.wide);
    int64_t *line = ARENA_ARRAY(&c->scratch, int64_t, (size_t)w->n);
    int64_t *extra = ARENA_ARRAY(&c->scratch, int64_t, (size_t)w->n);
    for (int32_t from = 0; from < w->k; from += EXACT) {
        multiply(&p, from, func_min(w->k, from + EXACT));
        for (size_t i = 0; i < (size_t)p.m * (size_t)p.wide; i++)
            total[i] += (uint32_t)(int32_t)p.sum[i];
    }
    if (how & FUNC_BIAS)
        func_i64(&w->bias, 0, 0, w->n, extra);
    for (int32_t r = 0; r < w->m; r++) {
        const uint32_t *sum = total + (size_t)r * (size_t)p.wide;
        if (how & FUNC_ACCUMULATE)
            func_i64(&w->acc, r, 0, w->n, extra);
        for (int32_t i = 0; i < w->n; i++)
            line[i] = (int32_t)(sum[i] + (uint32_t)extra[i]);
        func_put_i64(&w->dst, r, 0, w->n, line);
    }
}

/* 2^(code - 127), doubled for the sum of two codes; NaN where either is. */
static float scale_by(float x, uint64_t left, uint64_t right)
{
    if (left == 0xff || right == 0xff)
        return NAN;
    return ldexpf(x, (int)left + (int)right - 254);
}

/* Groups of 32 along k are summed on their own, scaled by a power of two and then added up. */
static enum status multiply_scaled(struct func_call *c, struct matmul *w, int how)
{
    int32_t groups = (w->k + GROUP - 1) / GROUP;
    if (w->left_scale.type.rows < w->m || w->left_scale.type.cols < groups ||
        w->right_scale.type.rows < groups || w->right_scale.type.cols < w->n)
        return func_bad_shape(c, "a scale tile is smaller than the groups of 32 need");
    w->left_scale.v_row = w->m;
    w->left_scale.v_col = w->right_scale.v_row = groups;
    w->right_scale.v_col = w->n;
    TRY(func_copy_aside(c, &w->left_scale, false));
    TRY(func_copy_aside(c, &w->right_scale, false));
    struct product p = product_of(c, w);
    float *total = ARENA_ARRAY(&c->scratch, float, (size_t)p.m *(size_t)p.wide);
    for (int32_t g = 0; g < groups; g++) {
        multiply(&p, g * GROUP, func_min(w->k, (g + 1) * GROUP));
        for (int32_t r = 0; r < w->m; r++) {
            uint64_t left = func_at(&w->left_scale, r, g) & 0xff;
            size_t row = (size_t)r * (size_t)p.wide;
            for (int32_t i = 0; i < w->n; i++)
                total[row + (size_t)i] +=
                    scale_by(p.sum[row + (size_t)i], left, func_at(&w->right_scale, g, i) & 0xff);
        }
    }
    p.sum = total;
    finish_f32(c, w, how, &p);
    return ST_OK;
}

enum status func_matmul(struct func_call *c)
{
    int how = c->how;
    struct matmul w = {0};
    TRY(read_operands(c, how, &w));
    if (how & FUNC_SCALED)
        return multiply_scaled(c, &w, how);
    if (w.is_int) {
        bool bytes = pto_dtype_size(w.left.type.dtype) == 1 &&
                     pto_dtype_size(w.right.type.dtype) == 1 &&
                     pto_dtype_size(w.dst.type.dtype) <= 4;
        (bytes ? multiply_bytes : multiply_ints)(c, &w, how);
        return ST_OK;
    }
    struct product p = product_of(c, &w);
    multiply(&p, 0, w.k);
    finish_f32(c, &w, how, &p);
    return ST_OK;
}
