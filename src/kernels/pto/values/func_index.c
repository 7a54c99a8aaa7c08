/*
 * Gathers and scatters. Indices come from tiles, so each one is checked: out of range means what
 * the attribute says, and an error where it says nothing.
 */
#include "kernels/pto/values/func_call.h"

/* Which columns a mask pattern keeps. */
static bool in_pattern(int32_t pattern, int64_t i)
{
    switch (pattern) {
    case 1:
        return i % 2 == 0;
    case 2:
        return i % 2 == 1;
    case 3:
    case 4:
    case 5:
    case 6:
        return i % 4 == pattern - 3;
    default:
        return true;
    }
}

static enum status bad_index(struct func_call *c, int64_t index, int64_t count)
{
    return diag_fail(c->diag, ST_FORMAT, "pto-run.index-range", c->args->where,
                     "%s: index %lld of %lld elements", pto_op_name(c->op), (long long)index,
                     (long long)count);
}

static int64_t index_at(const struct pto_tile *t, int32_t r, int32_t col)
{
    return pto_elem_i64(func_at(t, r, col), t->type.dtype);
}

/* A source taken with its whole physical shape, since any element may be asked for. */
static enum status whole_source(struct func_call *c, size_t i, struct pto_tile *t)
{
    const struct pto_tile *given;

    TRY(func_given(c, i, &given));
    return func_in_as(c, i, given->type.rows, given->type.cols, false, t);
}

/* dst(r, c) = src[idx(r, c)], counted through the rows of src; out of range gives 0. */
static enum status gather_index(struct func_call *c)
{
    struct pto_tile dst, src, idx;
    TRY(func_out(c, 0, &dst));
    TRY(whole_source(c, 0, &src));
    TRY(func_in_as_number(c, 1, dst.v_row, dst.v_col, false, &idx));
    TRY(func_same_size(c, src.type.dtype, dst.type.dtype));
    int64_t count = (int64_t)src.v_row * src.v_col;
    for (int32_t r = 0; r < dst.v_row; r++)
        for (int32_t col = 0; col < dst.v_col; col++) {
            int64_t k = index_at(&idx, r, col);
            bool in = k >= 0 && k < count;
            func_set(&dst, r, col,
                     in ? func_at(&src, (int32_t)(k / src.v_col), (int32_t)(k % src.v_col)) : 0);
        }
    return ST_OK;
}

/* The selected columns of all rows, one after the other, into the rows of dst. */
static enum status gather_mask(struct func_call *c)
{
    struct pto_tile dst, src;
    TRY(func_out(c, 0, &dst));
    TRY(func_in(c, 0, &src));
    TRY(func_same_size(c, src.type.dtype, dst.type.dtype));
    int64_t k = 0, room = (int64_t)dst.v_row * dst.v_col;
    for (int32_t r = 0; r < src.v_row; r++)
        for (int32_t col = 0; col < src.v_col && k < room; col++)
            if (in_pattern(c->attrs->mask_pattern, col)) {
                func_set(&dst, (int32_t)(k / dst.v_col), (int32_t)(k % dst.v_col),
                         func_at(&src, r, col));
                k++;
            }
    return ST_OK;
}

/* Indices of the elements of each row that compare true with the scalar; their number beside. */
static enum status gather_compare(struct func_call *c)
{
    struct pto_tile dst, src, counts = {0};
    struct pto_scalar limit;
    TRY(func_out_number(c, 0, &dst));
    bool has_counts = func_has_out(c, 1);
    if (has_counts)
        TRY(func_out_number(c, 1, &counts));
    TRY(func_in_number(c, 0, &src));
    TRY(func_value(c, 1, &limit));
    for (int32_t r = 0; r < src.v_row; r++) {
        int32_t n = 0;
        for (int32_t col = 0; col < src.v_col; col++) {
            if (!func_compare(c->attrs->cmp, func_at(&src, r, col), src.type.dtype, limit.bits,
                              limit.dtype))
                continue;
            uint64_t at = (uint64_t)c->attrs->offset + (uint64_t)col;
            if (r < dst.v_row && n < dst.v_col)
                func_set(&dst, r, n, pto_elem_from_i64((int64_t)at, dst.type.dtype));
            n++;
        }
        uint64_t bits = has_counts ? pto_elem_from_i64(n, counts.type.dtype) : 0;
        if (counts.v_col > 0 && r < counts.v_row)
            func_set(&counts, r, 0, bits);
        else if (counts.v_row == 1 && r < counts.v_col)
            func_set(&counts, 0, r, bits);
    }
    return ST_OK;
}

enum status func_gather(struct func_call *c)
{
    if (c->attrs->mask_pattern != 0)
        return gather_mask(c);
    return func_has_value(c, 1) ? gather_compare(c) : gather_index(c);
}

/* Byte offsets from the source tile: one an element, or one for each block of 32 bytes. */
enum status func_gather_bytes(struct func_call *c)
{
    struct pto_tile dst, src, offs;
    TRY(func_out(c, 0, &dst));
    TRY(whole_source(c, 0, &src));
    TRY(func_in_number(c, 1, &offs));
    TRY(func_same_size(c, src.type.dtype, dst.type.dtype));
    if (src.type.slayout != PTO_NONE_BOX || src.type.blayout != PTO_ROW_MAJOR ||
        src.window.rows > 0)
        return func_fail(c, ST_UNSUPPORTED, "pto-run.func-shape", "the source must be row-major");
    int32_t size = (int32_t)pto_dtype_size(dst.type.dtype), block = 32 / size;
    int32_t per = (int64_t)offs.v_col * block == dst.v_col ? block : 1;
    int64_t limit = (int64_t)src.v_row * src.v_col * size;
    const unsigned char *bytes = src.base + src.addr;
    for (int32_t r = 0; r < dst.v_row; r++)
        for (int32_t col = 0; col < dst.v_col; col++) {
            if (r >= offs.v_row || col / per >= offs.v_col)
                return func_bad_shape(c, "there are too few offsets");
            int64_t at = index_at(&offs, r, col / per);
            if (at < 0 || at > limit - (int64_t)per * size)
                return bad_index(c, at, limit);
            func_set(&dst, r, col, pto_elem_load(bytes + at + col % per * size, dst.type.dtype));
        }
    return ST_OK;
}

static enum status scatter_index(struct func_call *c)
{
    struct pto_tile dst, src, idx;
    TRY(func_out(c, 0, &dst));
    TRY(func_physical(c, &dst));
    TRY(func_in(c, 0, &src));
    TRY(func_in_as_number(c, 1, src.v_row, src.v_col, false, &idx));
    TRY(func_same_size(c, src.type.dtype, dst.type.dtype));
    int64_t count = (int64_t)dst.v_row * dst.v_col;
    for (int32_t r = 0; r < src.v_row; r++)
        for (int32_t col = 0; col < src.v_col; col++) {
            int64_t k = index_at(&idx, r, col);
            if (k < 0 || k >= count)
                return bad_index(c, k, count);
            func_set(&dst, (int32_t)(k / dst.v_col), (int32_t)(k % dst.v_col),
                     func_at(&src, r, col));
        }
    return ST_OK;
}

/* Columns spread to the places of the pattern, zeros between. */
static enum status scatter_mask(struct func_call *c)
{
    struct pto_tile dst, src;
    TRY(func_out(c, 0, &dst));
    TRY(func_in(c, 0, &src));
    TRY(func_same_size(c, src.type.dtype, dst.type.dtype));
    for (int32_t r = 0; r < dst.v_row; r++) {
        int32_t k = 0;
        for (int32_t col = 0; col < dst.v_col; col++) {
            bool in = in_pattern(c->attrs->mask_pattern, col);
            bool have = in && r < src.v_row && k < src.v_col;
            func_set(&dst, r, col, have ? func_at(&src, r, k) : 0);
            k += in;
        }
    }
    return ST_OK;
}

enum status func_scatter(struct func_call *c)
{
    return c->attrs->mask_pattern != 0 ? scatter_mask(c) : scatter_index(c);
}

static int64_t wrapped(int64_t k, int64_t count)
{
    int64_t rest = k % count;
    return rest < 0 ? rest + count : rest;
}

/* Row mode when the attribute says so, or when there is one index for each row of the tile. */
static bool is_row_mode(const struct func_call *c, const struct pto_tile *t,
                        const struct pto_tile *idx)
{
    if (c->attrs->coalesce != PTO_COALESCE_AUTO)
        return c->attrs->coalesce == PTO_COALESCE_ROW;
    bool same = idx->v_row == t->v_row && idx->v_col == t->v_col;
    return !same && (int64_t)idx->v_row * idx->v_col == t->v_row;
}

static int64_t nth_index(const struct pto_tile *idx, int64_t k)
{
    return index_at(idx, (int32_t)(k / idx->v_col), (int32_t)(k % idx->v_col));
}

static enum status enough_indices(struct func_call *c, const struct pto_tile *t,
                                  const struct pto_tile *idx, bool by_row)
{
    int64_t want = by_row ? t->v_row : (int64_t)t->v_row * t->v_col;
    if ((int64_t)idx->v_row * idx->v_col >= want)
        return ST_OK;
    return func_bad_shape(c, "there are too few indices");
}

enum status func_gather_memory(struct func_call *c)
{
    struct pto_tile dst, idx;
    struct pto_view mem;
    TRY(func_out(c, 0, &dst));
    TRY(func_in_view(c, 0, &mem));
    TRY(func_in_number(c, 1, &idx));
    TRY(func_same_size(c, mem.dtype, dst.type.dtype));
    bool by_row = is_row_mode(c, &dst, &idx);
    TRY(enough_indices(c, &dst, &idx, by_row));
    int64_t rows = pto_view_rows(&mem), cols = pto_view_cols(&mem);
    int64_t count = by_row ? rows : rows * cols;
    for (int32_t r = 0; r < dst.v_row; r++)
        for (int32_t col = 0; col < dst.v_col; col++) {
            int64_t k = nth_index(&idx, by_row ? r : (int64_t)r * dst.v_col + col);
            bool in = k >= 0 && k < count && (!by_row || col < cols);
            if (!in && (c->attrs->gather_oob == PTO_GATHER_UNDEFINED || count == 0 ||
                        (by_row && col >= cols)))
                return bad_index(c, k, count);
            if (!in && c->attrs->gather_oob == PTO_GATHER_CLAMP)
                k = k < 0 ? 0 : count - 1;
            else if (!in && c->attrs->gather_oob == PTO_GATHER_WRAP)
                k = wrapped(k, count);
            bool zero = !in && c->attrs->gather_oob == PTO_GATHER_ZERO;
            uint64_t bits = 0;
            if (!zero)
                bits = by_row ? func_view_at(&mem, k, col) : func_view_at(&mem, k / cols, k % cols);
            func_set(&dst, r, col, bits);
        }
    return ST_OK;
}

enum status func_scatter_memory(struct func_call *c)
{
    enum pto_scatter_op op = c->attrs->scatter_op;
    enum func_join join = op == PTO_SCATTER_MAX ? FUNC_MAX : FUNC_MIN;
    if (op == PTO_SCATTER_ADD)
        join = FUNC_SUM;
    struct pto_tile src, idx;
    struct pto_view mem;
    TRY(func_out_view(c, 0, &mem));
    TRY(func_in(c, 0, &src));
    TRY(func_in_number(c, 1, &idx));
    TRY(func_same_size(c, src.type.dtype, mem.dtype));
    if (op != PTO_SCATTER_SET)
        TRY(func_number(c, &src));
    bool by_row = is_row_mode(c, &src, &idx);
    TRY(enough_indices(c, &src, &idx, by_row));
    int64_t rows = pto_view_rows(&mem), cols = pto_view_cols(&mem);
    int64_t count = by_row ? rows : rows * cols;
    for (int32_t r = 0; r < src.v_row; r++)
        for (int32_t col = 0; col < src.v_col; col++) {
            int64_t k = nth_index(&idx, by_row ? r : (int64_t)r * src.v_col + col);
            bool in = k >= 0 && k < count;
            if (!in && c->attrs->scatter_oob == PTO_SCATTER_SKIP)
                continue;
            if ((!in && (c->attrs->scatter_oob == PTO_SCATTER_UNDEFINED || count == 0)) ||
                (by_row && col >= cols))
                return bad_index(c, k, count);
            if (!in)
                k = c->attrs->scatter_oob == PTO_SCATTER_WRAP ? wrapped(k, count)
                    : k < 0                                   ? 0
                                                              : count - 1;
            int64_t y = by_row ? k : k / cols, x = by_row ? col : k % cols;
            uint64_t bits = func_at(&src, r, col);
            if (op != PTO_SCATTER_SET)
                bits = func_joined(join, func_view_at(&mem, y, x), bits, mem.dtype);
            func_view_set(&mem, y, x, bits);
        }
    return ST_OK;
}
