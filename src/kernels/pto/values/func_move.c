/* Loads, stores and moves: copies between layouts; out of the accumulator they convert as well. */
#include <math.h>

#include "kernels/pto/values/func_call.h"

bool func_pad(const struct pto_tile_type *type, uint64_t *bits)
{
    enum pto_dtype t = type->dtype;
    if (type->pad >> 32 & 1) {
        uint64_t low = (uint64_t)type->pad & UINT32_MAX;
        *bits = pto_dtype_is_float(t) && pto_elem_lanes(t) == 1
                    ? pto_elem_convert(low, PTO_F32, t,
                                       (struct pto_convert){.saturation = PTO_SATURATION_AUTO})
                    : low;
        return true;
    }
    *bits = type->pad == 2 ? pto_elem_highest(t) : type->pad == 3 ? pto_elem_lowest(t) : 0;
    return type->pad >= 1 && type->pad <= 3;
}

uint64_t func_cast(uint64_t bits, enum pto_dtype from, enum pto_dtype to)
{
    return pto_elem_convert(
        bits, from, to,
        (struct pto_convert){.round = PTO_ROUND_RINT, .saturation = PTO_SATURATION_AUTO});
}

/* What a move out of the accumulator does to each element on its way. */
struct fix {
    bool has_scale, relu;
    struct pto_scalar scale; /* one for all */
    struct pto_tile per_col; /* or one a column, where v_col > 0 */
};

static enum status read_fix(struct func_call *c, size_t first, struct fix *f)
{
    *f = (struct fix){0};
    if (c->attrs->relu > PTO_RELU_NORMAL)
        return func_fail(c, ST_UNSUPPORTED, "pto-run.func-unknown",
                         "only reluPreMode normal_relu is known");
    f->relu = c->attrs->relu == PTO_RELU_NORMAL;
    for (size_t i = first; i < c->args->n_ins; i++) {
        if (func_has_value(c, i)) {
            TRY(func_value(c, i, &f->scale));
            f->has_scale = true;
        } else if (func_has_tile(c, i)) {
            TRY(func_in(c, i, &f->per_col));
            f->has_scale = f->per_col.v_row > 0 && f->per_col.v_col > 0;
        }
    }
    return ST_OK;
}

static uint64_t fix_one(const struct fix *f, uint64_t bits, enum pto_dtype from, enum pto_dtype to,
                        int32_t col)
{
    float x = pto_elem_f32(bits, from);
    if (f->relu && x < 0)
        x = 0, bits = 0;
    if (!f->has_scale)
        return func_cast(bits, from, to);
    struct pto_scalar s = f->scale;
    if (f->per_col.v_col > 0)
        s = (struct pto_scalar){f->per_col.type.dtype,
                                func_at(&f->per_col, 0, func_min(col, f->per_col.v_col - 1))};
    /* Scales travel as 64-bit words with the bits of an f32 in the low half, or as floats. */
    float by = pto_dtype_is_float(s.dtype) ? pto_elem_f32(s.bits, s.dtype)
                                           : pto_elem_f32(s.bits & UINT32_MAX, PTO_F32);
    return func_cast(pto_elem_from_f32(x * by, PTO_F32), PTO_F32, to);
}

/* Copies src to dst over rows x cols, converting. */
static enum status convert_tile(struct func_call *c, const struct pto_tile *src,
                                const struct pto_tile *dst, int32_t rows, int32_t cols,
                                const struct fix *f)
{
    enum pto_dtype from = src->type.dtype, to = dst->type.dtype;
    bool plain = !f->has_scale && !f->relu;
    if (plain && (from == to ||
                  (src->type.space != PTO_ACC && pto_dtype_size(from) == pto_dtype_size(to)))) {
        func_copy(src, dst, rows, cols);
        return ST_OK;
    }
    TRY(func_number(c, src));
    TRY(func_number(c, dst));
    bool floats = plain && from == PTO_F32 && (to == PTO_F16 || to == PTO_BF16);
    float x[FUNC_PIECE];
    uint64_t bits[FUNC_PIECE];
    for (int32_t r = 0; r < rows; r++)
        for (int32_t col = 0; col < cols; col += FUNC_PIECE) {
            int32_t n = func_min(FUNC_PIECE, cols - col);
            if (floats) {
                func_f32(src, r, col, n, x);
                func_put_f32(dst, r, col, n, x);
                continue;
            }
            func_bits(src, r, col, n, bits);
            for (int32_t i = 0; i < n; i++)
                bits[i] = fix_one(f, bits[i], from, to, col + i);
            func_put_bits(dst, r, col, n, bits);
        }
    return ST_OK;
}

/* Columns between the valid part and the next 32 bytes, which a load fills as well. */
static enum status pad_columns(struct func_call *c, struct pto_tile dst)
{
    uint64_t bits = 0;
    bool has_pad = func_pad(&dst.type, &bits), is_first = c->attrs->pad_mode == PTO_PAD_FIRST;
    int32_t from = dst.v_col, unit = 32 / (int32_t)pto_dtype_size(dst.type.dtype);
    int64_t to = ((int64_t)from + unit - 1) / unit * unit;
    if ((!has_pad && !is_first) || dst.type.slayout != PTO_NONE_BOX ||
        dst.type.blayout != PTO_ROW_MAJOR || dst.v_row == 0 || from == 0)
        return ST_OK;
    dst.v_col = to < dst.type.cols ? (int32_t)to : dst.type.cols;
    TRY(pto_tile_check(&dst, c->args->where, c->diag));
    for (int32_t r = 0; r < dst.v_row; r++)
        for (int32_t col = from; col < dst.v_col; col++)
            func_set(&dst, r, col, is_first ? func_at(&dst, r, 0) : bits);
    return ST_OK;
}

enum status func_load(struct func_call *c)
{
    struct pto_tile dst;
    struct pto_view src;
    TRY(func_out(c, 0, &dst));
    TRY(func_in_view(c, 0, &src));
    TRY(func_same_size(c, src.dtype, dst.type.dtype));
    func_copy_view(&dst, &src, false);
    return pad_columns(c, dst);
}

/* GM element += the tile's element, in the type of the view. */
static void add_to_view(const struct pto_tile *src, const struct pto_view *dst)
{
    int64_t rows = pto_view_rows(dst), cols = pto_view_cols(dst);
    bool reshaped = (rows != src->v_row || cols != src->v_col) &&
                    rows * cols == (int64_t)src->v_row * src->v_col;
    for (int32_t r = 0; r < src->v_row; r++)
        for (int32_t col = 0; col < src->v_col; col++) {
            int64_t k = (int64_t)r * src->v_col + col;
            int64_t y = reshaped ? k / cols : r, x = reshaped ? k % cols : col;
            if (y < rows && x < cols)
                func_view_set(dst, y, x,
                              func_add(func_view_at(dst, y, x), func_at(src, r, col), dst->dtype));
        }
}

enum status func_store(struct func_call *c)
{
    struct pto_view dst;
    struct pto_tile src;
    struct fix f;
    TRY(func_out_view(c, 0, &dst));
    TRY(func_in(c, 0, &src));
    TRY(read_fix(c, 1, &f));
    if (src.type.space != PTO_ACC && !f.has_scale)
        TRY(func_same_size(c, src.type.dtype, dst.dtype));
    if (src.v_row == 0 || src.v_col == 0)
        return ST_OK;
    if (src.type.dtype != dst.dtype || f.relu || f.has_scale) {
        struct pto_tile as = func_scratch(c, dst.dtype, src.v_row, src.v_col);
        TRY(convert_tile(c, &src, &as, src.v_row, src.v_col, &f));
        src = as;
    }
    if (c->attrs->atomic == 1) {
        TRY(func_number(c, &src));
        add_to_view(&src, &dst);
    } else {
        func_copy_view(&src, &dst, true);
    }
    return ST_OK;
}

enum status func_move(struct func_call *c)
{
    struct pto_tile dst, src;
    struct fix f;
    TRY(func_out(c, 0, &dst));
    if (dst.v_row == 0 || dst.v_col == 0)
        return ST_OK;
    TRY(func_in(c, 0, &src));
    TRY(read_fix(c, 1, &f));
    /* What both have; equal counts of another shape are paired in row-major order. */
    int32_t rows = func_min(src.v_row, dst.v_row), cols = func_min(src.v_col, dst.v_col);
    int64_t have = (int64_t)src.v_row * src.v_col, want = (int64_t)dst.v_row * dst.v_col;
    if (have != want || rows == dst.v_row)
        return convert_tile(c, &src, &dst, rows, cols, &f);
    struct pto_tile flat = func_scratch(c, dst.type.dtype, src.v_row, src.v_col);
    TRY(convert_tile(c, &src, &flat, src.v_row, src.v_col, &f));
    for (int64_t k = 0; k < want; k++)
        func_set(&dst, (int32_t)(k / dst.v_col), (int32_t)(k % dst.v_col),
                 func_at(&flat, (int32_t)(k / src.v_col), (int32_t)(k % src.v_col)));
    return ST_OK;
}

/* Row and column operands of textract and tinsert. */
static enum status read_corner(struct func_call *c, int64_t *row, int64_t *col)
{
    struct pto_scalar r, k;
    TRY(func_value(c, 1, &r));
    TRY(func_value(c, 2, &k));
    *row = pto_elem_i64(r.bits, r.dtype);
    *col = pto_elem_i64(k.bits, k.dtype);
    return ST_OK;
}

static enum status outside(struct func_call *c, int64_t row, int64_t col, const struct pto_tile *t)
{
    return diag_fail(c->diag, ST_FORMAT, "pto-run.func-shape", c->args->where,
                     "%s: the window at (%lld, %lld) leaves the %dx%d tile", pto_op_name(c->op),
                     (long long)row, (long long)col, t->type.rows, t->type.cols);
}

enum status func_extract(struct func_call *c)
{
    struct pto_tile dst, part;
    const struct pto_tile *src;
    struct fix f;
    int64_t row, col;
    TRY(func_out(c, 0, &dst));
    TRY(read_corner(c, &row, &col));
    TRY(func_given(c, 0, &src));
    if (dst.v_row == 0 || dst.v_col == 0)
        return ST_OK;
    if (row < 0 || col < 0 || row >= src->type.rows || col >= src->type.cols)
        return outside(c, row, col, src);
    int32_t rows = func_min(dst.v_row, src->type.rows - (int32_t)row);
    int32_t cols = func_min(dst.v_col, src->type.cols - (int32_t)col);
    if (!pto_tile_window(src, row, col, rows, cols, &part))
        return outside(c, row, col, src);
    TRY(read_fix(c, 3, &f));
    TRY(func_copy_aside(c, &part, false));
    return convert_tile(c, &part, &dst, rows, cols, &f);
}

enum status func_insert(struct func_call *c)
{
    struct pto_tile dst, part, src;
    struct fix f;
    int64_t row, col;
    TRY(func_out(c, 0, &dst));
    TRY(read_corner(c, &row, &col));
    TRY(func_in(c, 0, &src));
    TRY(read_fix(c, 3, &f));
    if (src.v_row == 0 || src.v_col == 0)
        return ST_OK;
    if (!pto_tile_window(&dst, row, col, src.v_row, src.v_col, &part))
        return outside(c, row, col, &dst);
    TRY(pto_tile_check(&part, c->args->where, c->diag));
    return convert_tile(c, &src, &part, src.v_row, src.v_col, &f);
}

/* The byte of element `at`, counted through the storage of a tile; fails outside of it. */
static enum status element_at(struct func_call *c, struct pto_tile *t, const struct pto_scalar *at,
                              unsigned char **byte)
{
    int64_t k = pto_elem_i64(at->bits, at->dtype);
    int64_t count = (int64_t)t->type.rows * t->type.cols;
    if (k < 0 || k >= count)
        return diag_fail(c->diag, ST_FORMAT, "pto-run.index-range", c->args->where,
                         "%s: element %lld of a tile of %lld", pto_op_name(c->op), (long long)k,
                         (long long)count);
    TRY(func_physical(c, t));
    bool by_rows = t->window.rows > 0 || t->type.blayout == PTO_ROW_MAJOR;
    int32_t major = by_rows ? t->type.cols : t->type.rows;
    int32_t hi = (int32_t)(k / major), lo = (int32_t)(k % major);
    *byte = t->base + pto_tile_offset(t, by_rows ? hi : lo, by_rows ? lo : hi);
    return ST_OK;
}

enum status func_get_value(struct func_call *c)
{
    struct pto_tile src;
    struct pto_scalar at;
    unsigned char *byte;
    TRY(func_in(c, 0, &src));
    TRY(func_value(c, 1, &at));
    if (c->args->n_outs < 1 || c->args->outs[0].kind != PTO_OPERAND_VALUE ||
        c->args->outs[0].u.value == NULL)
        return func_bad_operand(c, "the result is not a scalar");
    src = *c->args->ins[0].u.tile;
    TRY(element_at(c, &src, &at, &byte));
    *c->args->outs[0].u.value =
        (struct pto_scalar){src.type.dtype, pto_elem_load(byte, src.type.dtype)};
    return ST_OK;
}

enum status func_set_value(struct func_call *c)
{
    struct pto_tile dst;
    struct pto_scalar at, value;
    unsigned char *byte;
    TRY(func_out(c, 0, &dst));
    TRY(func_value(c, 0, &at));
    TRY(func_value(c, 1, &value));
    TRY(element_at(c, &dst, &at, &byte));
    bool same = pto_dtype_size(value.dtype) == pto_dtype_size(dst.type.dtype) &&
                pto_dtype_is_float(value.dtype) == pto_dtype_is_float(dst.type.dtype);
    if (!same)
        TRY(func_number(c, &dst));
    pto_elem_store(byte, dst.type.dtype,
                   same ? value.bits : func_cast(value.bits, value.dtype, dst.type.dtype));
    return ST_OK;
}
