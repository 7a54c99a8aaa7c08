/*
 * Comparisons, selections and the part* operations.
 *
 * A predicate is packed: bit j % 8 of byte j / 8 of a mask row belongs to column j. Mask tiles are
 * row-major; their element type only says how the bytes are grouped.
 */
#include "kernels/pto/values/func_call.h"

/* The bytes of row r of a mask, enough for `bits` columns; fails when the tile has fewer. The
 * mask's whole row may be used, also beyond its valid part. */
static enum status check_mask(struct func_call *c, struct pto_tile *mask, int32_t rows,
                              int32_t bits)
{
    int64_t size = pto_dtype_size(mask->type.dtype);
    int64_t cols = size > 0 ? (((int64_t)bits + 7) / 8 + size - 1) / size : INT64_MAX;
    if (mask->type.slayout != PTO_NONE_BOX || mask->type.blayout != PTO_ROW_MAJOR ||
        cols > mask->type.cols || rows > mask->type.rows)
        return func_bad_shape(c, "the mask must be row-major with one bit for each element");
    mask->v_row = rows;
    mask->v_col = (int32_t)cols;
    return pto_tile_check(mask, c->args->where, c->diag);
}

static enum status read_mask(struct func_call *c, size_t i, int32_t rows, int32_t bits,
                             struct pto_tile *mask)
{
    if (!func_has_tile(c, i))
        return func_bad_operand(c, "the mask is missing");
    *mask = *c->args->ins[i].u.tile;
    TRY(check_mask(c, mask, rows, bits));
    return func_copy_aside(c, mask, false);
}

/* Domain: the valid part of the first source. */
enum status func_compare_tiles(struct func_call *c)
{
    struct pto_tile mask, a, b = {0};
    struct pto_scalar s = {0};
    uint64_t x[FUNC_PIECE], y[FUNC_PIECE];
    TRY(func_out(c, 0, &mask));
    TRY(func_in_number(c, 0, &a));
    bool scalar = func_has_value(c, 1);
    if (scalar)
        TRY(func_value(c, 1, &s));
    else
        TRY(func_in_as_number(c, 1, a.v_row, a.v_col, false, &b));
    if (a.v_row == 0 || a.v_col == 0)
        return ST_OK;
    TRY(check_mask(c, &mask, a.v_row, a.v_col));
    enum pto_dtype b_type = scalar ? s.dtype : b.type.dtype;
    for (int32_t r = 0; r < a.v_row; r++) {
        unsigned char *out = mask.base + pto_tile_offset(&mask, r, 0);
        for (int32_t col = 0; col < a.v_col; col += FUNC_PIECE) {
            int32_t n = func_min(FUNC_PIECE, a.v_col - col);
            func_bits(&a, r, col, n, x);
            if (!scalar)
                func_bits(&b, r, col, n, y);
            for (int32_t i = 0; i < n; i++) {
                unsigned bit =
                    func_compare(c->attrs->cmp, x[i], a.type.dtype, scalar ? s.bits : y[i], b_type);
                unsigned char *byte = &out[(col + i) / 8];
                *byte = (unsigned char)((i % 8 == 0 ? 0 : *byte) | bit << (i % 8));
            }
        }
    }
    return ST_OK;
}

/* tsel: mask ? a : b. tsels: mask ? a : scalar, where a tmp tile may stand before the scalar. */
enum status func_select_tiles(struct func_call *c)
{
    int with_scalar = c->how;
    struct pto_tile dst, mask, a, b = {0};
    uint64_t x[FUNC_PIECE], y[FUNC_PIECE], bits = 0;
    TRY(func_out(c, 0, &dst));
    if (dst.v_row == 0 || dst.v_col == 0)
        return ST_OK;
    TRY(read_mask(c, 0, dst.v_row, dst.v_col, &mask));
    TRY(func_in_as(c, 1, dst.v_row, dst.v_col, true, &a));
    if (with_scalar) {
        struct pto_scalar s;
        TRY(func_value(c, func_has_value(c, 2) ? 2 : 3, &s));
        TRY(func_number(c, &dst));
        bits = func_cast(s.bits, s.dtype, dst.type.dtype);
    } else {
        TRY(func_in_as(c, 2, dst.v_row, dst.v_col, true, &b));
    }
    for (int32_t r = 0; r < dst.v_row; r++) {
        const unsigned char *in = mask.base + pto_tile_offset(&mask, r, 0);
        for (int32_t col = 0; col < dst.v_col; col += FUNC_PIECE) {
            int32_t n = func_min(FUNC_PIECE, dst.v_col - col);
            func_bits(&a, r, col, n, x);
            if (!with_scalar)
                func_bits(&b, r, col, n, y);
            for (int32_t i = 0; i < n; i++)
                if ((in[(col + i) / 8] >> (col + i) % 8 & 1) == 0)
                    x[i] = with_scalar ? bits : y[i];
            func_put_bits(&dst, r, col, n, x);
        }
    }
    return ST_OK;
}

static bool is_inside(const struct pto_tile *t, int32_t r, int32_t col)
{
    return r < t->v_row && col < t->v_col;
}

static enum status same_types(struct func_call *c, const struct pto_tile *dst,
                              const struct pto_tile *a, const struct pto_tile *b)
{
    TRY(func_number(c, dst));
    if (a->type.dtype == dst->type.dtype && b->type.dtype == dst->type.dtype)
        return ST_OK;
    return func_fail(c, ST_FORMAT, "pto-run.func-dtype", "the tiles have different element types");
}

enum status func_join_parts(struct func_call *c)
{
    struct pto_tile dst, a, b;
    TRY(func_out(c, 0, &dst));
    TRY(func_in(c, 0, &a));
    TRY(func_in(c, 1, &b));
    TRY(same_types(c, &dst, &a, &b));
    for (int32_t r = 0; r < dst.v_row; r++)
        for (int32_t col = 0; col < dst.v_col; col++) {
            bool in_a = is_inside(&a, r, col), in_b = is_inside(&b, r, col);
            uint64_t x = in_a ? func_at(&a, r, col) : 0, y = in_b ? func_at(&b, r, col) : 0;
            func_set(&dst, r, col,
                     in_a && in_b ? func_joined((enum func_join)c->how, x, y, dst.type.dtype)
                     : in_a       ? x
                                  : y);
        }
    return ST_OK;
}

/* Values a, b and their indices; of two equal values the first is kept. */
enum status func_join_extremes(struct func_call *c)
{
    struct pto_tile dst, at, a, b, a_at, b_at;
    TRY(func_out(c, 0, &dst));
    TRY(func_out(c, 1, &at));
    TRY(func_in(c, 0, &a));
    TRY(func_in(c, 1, &b));
    TRY(func_in_as(c, 2, a.v_row, a.v_col, false, &a_at));
    TRY(func_in_as(c, 3, b.v_row, b.v_col, false, &b_at));
    TRY(same_types(c, &dst, &a, &b));
    if (at.v_row < dst.v_row || at.v_col < dst.v_col)
        return func_bad_shape(c, "the index destination is too small");
    for (int32_t r = 0; r < dst.v_row; r++)
        for (int32_t col = 0; col < dst.v_col; col++) {
            bool in_a = is_inside(&a, r, col), in_b = is_inside(&b, r, col);
            uint64_t x = in_a ? func_at(&a, r, col) : 0, y = in_b ? func_at(&b, r, col) : 0;
            enum pto_cmp better = c->how == FUNC_ARGMAX ? PTO_CMP_GT : PTO_CMP_LT;
            bool take_b =
                in_b && (!in_a || func_compare(better, y, dst.type.dtype, x, dst.type.dtype));
            func_set(&dst, r, col, take_b ? y : x);
            func_set(&at, r, col,
                     take_b ? func_at(&b_at, r, col)
                     : in_a ? func_at(&a_at, r, col)
                            : 0);
        }
    return ST_OK;
}
