/*
 * Reductions over rows and columns, and broadcasts of one element a row or a column.
 *
 * The order of a sum is part of its result: along a row in f32 over ascending columns with one
 * rounding to the type at the end; down a column in the element type, rounded after every row.
 */
#include "kernels/pto/values/func_call.h"

static float join_f32(enum func_join how, float a, float b)
{
    switch (how) {
    case FUNC_SUM:
        return a + b;
    case FUNC_PROD:
        return a * b;
    case FUNC_MAX:
        return a < b ? b : a;
    default:
        return b < a ? b : a;
    }
}

static int64_t join_i64(enum func_join how, int64_t a, int64_t b, bool wide)
{
    bool less = wide ? (uint64_t)a < (uint64_t)b : a < b;
    switch (how) {
    case FUNC_SUM:
        return (int64_t)((uint64_t)a + (uint64_t)b);
    case FUNC_PROD:
        return (int64_t)((uint64_t)a * (uint64_t)b);
    case FUNC_MAX:
        return less ? b : a;
    default:
        return less ? a : b;
    }
}

/* One f32 or 64-bit number, as the element type asks. */
union number {
    float f;
    int64_t v;
};

static bool is_float(const struct pto_tile *t)
{
    return pto_dtype_is_float(t->type.dtype);
}

static uint64_t number_bits(union number x, bool from_float, enum pto_dtype t)
{
    return from_float ? pto_elem_from_f32(x.f, t) : pto_elem_from_i64(x.v, t);
}

static void row_numbers(const struct pto_tile *t, int32_t r, int32_t col, int32_t n,
                        union number *out)
{
    if (is_float(t)) {
        float f[FUNC_PIECE];
        func_f32(t, r, col, n, f);
        for (int32_t i = 0; i < n; i++)
            out[i].f = f[i];
    } else {
        int64_t v[FUNC_PIECE];
        func_i64(t, r, col, n, v);
        for (int32_t i = 0; i < n; i++)
            out[i].v = v[i];
    }
}

static union number reduce_join(enum func_join how, const struct pto_tile *t, union number a,
                                union number b)
{
    if (is_float(t))
        return (union number){.f = join_f32(how, a.f, b.f)};
    return (union number){.v = join_i64(how, a.v, b.v, t->type.dtype == PTO_U64)};
}

/* b is a new extreme after a. */
static bool is_better(enum func_join how, const struct pto_tile *t, union number a, union number b)
{
    union number x = how == FUNC_ARGMAX ? a : b, y = how == FUNC_ARGMAX ? b : a;
    if (is_float(t))
        return x.f < y.f;
    return t->type.dtype == PTO_U64 ? (uint64_t)x.v < (uint64_t)y.v : x.v < y.v;
}

static float reduce_row_f32(const struct pto_tile *src, int32_t r, enum func_join how)
{
    float x[FUNC_PIECE], best = 0;
    for (int32_t col = 0; col < src->v_col; col += FUNC_PIECE) {
        int32_t n = func_min(FUNC_PIECE, src->v_col - col);
        func_f32(src, r, col, n, x);
        if (col == 0)
            best = x[0];
        for (int32_t i = col == 0; i < n; i++)
            best = join_f32(how, best, x[i]);
    }
    return best;
}

static uint64_t reduce_row(const struct pto_tile *src, int32_t r, enum func_join how,
                           enum pto_dtype to)
{
    union number x[FUNC_PIECE], best = {0};
    int64_t at = 0;
    if (how < FUNC_ARGMAX && is_float(src))
        return pto_elem_from_f32(reduce_row_f32(src, r, how), to);
    for (int32_t col = 0; col < src->v_col; col += FUNC_PIECE) {
        int32_t n = func_min(FUNC_PIECE, src->v_col - col);
        row_numbers(src, r, col, n, x);
        for (int32_t i = 0; i < n; i++) {
            if (col + i == 0) {
                best = x[0];
            } else if (how < FUNC_ARGMAX) {
                best = reduce_join(how, src, best, x[i]);
            } else if (is_better(how, src, best, x[i])) {
                best = x[i];
                at = col + i;
            }
        }
    }
    return how < FUNC_ARGMAX ? number_bits(best, is_float(src), to) : pto_elem_from_i64(at, to);
}

/* Source and destination of a reduction; the count along the other axis is the destination's. */
static enum status read_reduction(struct func_call *c, bool by_row, struct pto_tile *dst,
                                  struct pto_tile *src)
{
    const struct pto_tile *given;
    TRY(func_out_number(c, 0, dst));
    TRY(func_given(c, 0, &given));
    TRY(func_in_as(c, 0, by_row ? dst->v_row : given->v_row, by_row ? given->v_col : dst->v_col,
                   false, src));
    return func_number(c, src);
}

enum status func_reduce_rows(struct func_call *c)
{
    int how = c->how;
    struct pto_tile dst, src;
    TRY(read_reduction(c, true, &dst, &src));
    if (src.v_col == 0 || dst.v_col == 0)
        return ST_OK;
    for (int32_t r = 0; r < dst.v_row; r++)
        func_set(&dst, r, 0, reduce_row(&src, r, (enum func_join)how, dst.type.dtype));
    return ST_OK;
}

/* Columns col .. col + n of all rows into best and, for the arg forms, at. */
static void reduce_piece(const struct pto_tile *src, int32_t col, int32_t n, enum func_join how,
                         union number *best, int64_t *at)
{
    union number x[FUNC_PIECE];
    row_numbers(src, 0, col, n, best);
    for (int32_t i = 0; i < n; i++)
        at[i] = 0;
    for (int32_t r = 1; r < src->v_row; r++) {
        row_numbers(src, r, col, n, x);
        for (int32_t i = 0; i < n; i++) {
            if (how < FUNC_ARGMAX) {
                best[i] = reduce_join(how, src, best[i], x[i]);
            } else if (is_better(how, src, best[i], x[i])) {
                best[i] = x[i];
                at[i] = r;
            }
        }
    }
}

/* The same for floats without places. */
static void reduce_piece_f32(const struct pto_tile *src, int32_t col, int32_t n, enum func_join how,
                             float *best)
{
    float x[FUNC_PIECE];
    unsigned char rounded[FUNC_PIECE * 4];
    enum pto_dtype type = src->type.dtype;
    func_f32(src, 0, col, n, best);
    for (int32_t r = 1; r < src->v_row; r++) {
        func_f32(src, r, col, n, x);
        for (int32_t i = 0; i < n; i++)
            best[i] = join_f32(how, best[i], x[i]);
        if (type == PTO_F32)
            continue;
        pto_elem_write_f32(rounded, best, type, (size_t)n);
        pto_elem_read_f32(best, rounded, type, (size_t)n);
    }
}

enum status func_reduce_cols(struct func_call *c)
{
    int how = c->how;
    struct pto_tile dst, src;
    union number best[FUNC_PIECE];
    float floats[FUNC_PIECE];
    int64_t at[FUNC_PIECE];
    TRY(read_reduction(c, false, &dst, &src));
    if (src.v_row == 0 || dst.v_row == 0)
        return ST_OK;
    for (int32_t col = 0; col < dst.v_col; col += FUNC_PIECE) {
        int32_t n = func_min(FUNC_PIECE, dst.v_col - col);
        if (how < FUNC_ARGMAX && is_float(&src)) {
            reduce_piece_f32(&src, col, n, (enum func_join)how, floats);
            func_put_f32(&dst, 0, col, n, floats);
            continue;
        }
        reduce_piece(&src, col, n, (enum func_join)how, best, at);
        for (int32_t i = 0; i < n; i++)
            func_set(&dst, 0, col + i,
                     how < FUNC_ARGMAX ? number_bits(best[i], is_float(&src), dst.type.dtype)
                                       : pto_elem_from_i64(at[i], dst.type.dtype));
    }
    return ST_OK;
}

enum status func_expand(struct func_call *c)
{
    int by_row = c->how;
    struct pto_tile dst, src;
    uint64_t bits[FUNC_PIECE];
    TRY(func_out(c, 0, &dst));
    if (dst.v_row == 0 || dst.v_col == 0)
        return ST_OK;
    TRY(func_in_as(c, 0, by_row ? dst.v_row : 1, by_row ? 1 : dst.v_col, false, &src));
    bool same = src.type.dtype == dst.type.dtype;
    if (!same) {
        TRY(func_number(c, &src));
        TRY(func_number(c, &dst));
    }
    for (int32_t r = 0; r < dst.v_row; r++)
        for (int32_t col = 0; col < dst.v_col; col += FUNC_PIECE) {
            int32_t n = func_min(FUNC_PIECE, dst.v_col - col);
            func_bits(&src, by_row ? r : 0, by_row ? 0 : col, by_row ? 1 : n, bits);
            for (int32_t i = by_row ? 1 : n; i < n; i++)
                bits[i] = bits[0];
            for (int32_t i = 0; i < n && !same; i++)
                bits[i] = func_cast(bits[i], src.type.dtype, dst.type.dtype);
            func_put_bits(&dst, r, col, n, bits);
        }
    return ST_OK;
}
