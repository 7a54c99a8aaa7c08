/* Conversions of type, quantisation and the histogram. */
#include <math.h>

#include "kernels/pto/values/func_call.h"

/* One side holds pairs: numbers are counted, not elements. */
static enum status convert_lanes(struct func_call *c, const struct pto_tile *dst,
                                 const struct pto_convert *how)
{
    struct pto_tile src;
    int32_t lanes = (int32_t)pto_elem_lanes(dst->type.dtype);
    if (!func_has_tile(c, 0))
        return func_bad_operand(c, "a source tile is missing");
    int32_t per = (int32_t)pto_elem_lanes(c->args->ins[0].u.tile->type.dtype);
    if (dst->v_col > INT32_MAX / 2)
        return func_bad_shape(c, "the tile is too wide");
    int32_t n = dst->v_col * lanes;
    TRY(func_in_as(c, 0, dst->v_row, (n + per - 1) / per, false, &src));
    enum pto_dtype from = pto_elem_lane_type(src.type.dtype);
    enum pto_dtype to = pto_elem_lane_type(dst->type.dtype);
    for (int32_t r = 0; r < dst->v_row; r++)
        for (int32_t k = 0; k < n; k += lanes) {
            uint64_t pair[2] = {0};
            for (int32_t i = 0; i < lanes; i++) {
                uint64_t held = func_at(&src, r, (k + i) / per);
                uint64_t bits = pto_elem_lane(held, src.type.dtype, (uint32_t)((k + i) % per));
                pair[i] = pto_elem_convert(bits, from, to, *how);
            }
            func_set(dst, r, k / lanes, pto_elem_join(pair[0], pair[1], dst->type.dtype));
        }
    return ST_OK;
}

enum status func_convert(struct func_call *c)
{
    struct pto_tile tiles[2]; /* destination, source */
    struct pto_tile *dst = &tiles[0], *src = &tiles[1];
    const struct pto_convert rule = {c->attrs->round, c->attrs->saturation, c->args->reference};
    float x[FUNC_PIECE];
    uint64_t bits[FUNC_PIECE];
    TRY(func_out(c, 0, dst));
    if (dst->v_row == 0 || dst->v_col == 0)
        return ST_OK;
    if (pto_elem_lanes(dst->type.dtype) == 2 ||
        (func_has_tile(c, 0) && pto_elem_lanes(c->args->ins[0].u.tile->type.dtype) == 2))
        return convert_lanes(c, dst, &rule);
    TRY(func_in_as(c, 0, dst->v_row, dst->v_col, true, src));
    enum pto_dtype from = src->type.dtype, to = dst->type.dtype;
    func_straighten(tiles, 2);
    bool wide_from = from == PTO_F32 || from == PTO_F16 || from == PTO_BF16;
    bool wide_to = to == PTO_F32 || to == PTO_F16 || to == PTO_BF16;
    enum pto_round mode = c->attrs->round;
    bool is_nearest = mode == PTO_ROUND_NONE || mode == PTO_ROUND_RINT ||
                      mode == PTO_ROUND_CAST_RINT || c->args->reference;
    bool quick = wide_from && wide_to && c->attrs->saturation == PTO_SATURATION_AUTO &&
                 (to == PTO_F32 || is_nearest);
    for (int32_t r = 0; r < dst->v_row; r++)
        for (int32_t col = 0; col < dst->v_col; col += FUNC_PIECE) {
            int32_t n = func_min(FUNC_PIECE, dst->v_col - col);
            if (quick) {
                func_f32(src, r, col, n, x);
                func_put_f32(dst, r, col, n, x);
                continue;
            }
            func_bits(src, r, col, n, bits);
            for (int32_t i = 0; i < n; i++)
                bits[i] = pto_elem_convert(bits[i], from, to, rule);
            func_put_bits(dst, r, col, n, bits);
        }
    return ST_OK;
}

/* A parameter of each row: element (r, 0) of a tile, the last row for those beyond; or a scalar. */
struct parameter {
    struct pto_tile tile;
    float value;
    bool is_tile;
};

static enum status read_parameter(struct func_call *c, size_t i, float missing, struct parameter *p)
{
    *p = (struct parameter){.value = missing};
    if (func_has_value(c, i)) {
        struct pto_scalar v;
        TRY(func_value(c, i, &v));
        p->value = pto_elem_f32(v.bits, v.dtype);
    } else if (func_has_tile(c, i)) {
        TRY(func_in(c, i, &p->tile));
        TRY(func_number(c, &p->tile));
        p->is_tile = p->tile.v_row > 0 && p->tile.v_col > 0;
    }
    return ST_OK;
}

static float parameter_at(const struct parameter *p, int32_t r)
{
    if (!p->is_tile)
        return p->value;
    return pto_elem_f32(func_at(&p->tile, func_min(r, p->tile.v_row - 1), 0), p->tile.type.dtype);
}

/* To whole numbers x * scale + offset, back (x - offset) * scale; each step is rounded to f32. */
enum status func_quantise(struct func_call *c)
{
    int how = c->how;
    struct pto_tile dst, src;
    struct parameter scale, offset;
    float x[FUNC_PIECE];
    uint64_t bits[FUNC_PIECE];
    TRY(func_out_number(c, 0, &dst));
    if (dst.v_row == 0 || dst.v_col == 0)
        return ST_OK;
    TRY(func_in_as_number(c, 0, dst.v_row, dst.v_col, false, &src));
    TRY(read_parameter(c, 1, 1, &scale));
    TRY(read_parameter(c, 2, 0, &offset));
    const struct pto_convert rule = {PTO_ROUND_RINT, PTO_SATURATION_ON, false};
    for (int32_t r = 0; r < dst.v_row; r++) {
        float by = parameter_at(&scale, r), shift = parameter_at(&offset, r);
        for (int32_t col = 0; col < dst.v_col; col += FUNC_PIECE) {
            int32_t n = func_min(FUNC_PIECE, dst.v_col - col);
            func_f32(&src, r, col, n, x);
            for (int32_t i = 0; i < n; i++) {
                float y = how == FUNC_QUANT ? x[i] * by : x[i] - shift;
                y = how == FUNC_QUANT ? y + shift : y * by;
                uint64_t f32 = pto_elem_from_f32(y, PTO_F32);
                bits[i] = how == FUNC_QUANT ? pto_elem_convert(f32, PTO_F32, dst.type.dtype, rule)
                                            : func_cast(f32, PTO_F32, dst.type.dtype);
            }
            func_put_bits(&dst, r, col, n, bits);
        }
    }
    return ST_OK;
}

enum { GROUP = 32 };

/* Exponent of the largest power of two that a format holds. */
static int32_t top_exponent(enum pto_dtype t)
{
    switch (t) {
    case PTO_F8E4M3:
        return 8;
    case PTO_F8E5M2:
        return 15;
    case PTO_F4E2M1X2:
        return 2;
    default: /* of F4E1M2X2, which is all that is left */
        return 0;
    }
}

struct mx_outs {
    struct pto_tile data, exponent, most, scaling;
    bool has_exponent, has_most, has_scaling;
};

static void put_inside(bool has, const struct pto_tile *t, int32_t r, int32_t g, uint64_t bits)
{
    if (has && r < t->v_row && g < t->v_col)
        func_set(t, r, g, bits);
}

/* One group of 32: the scale is a power of two that brings the largest value near the top of the
 * format; data = x / scale, exponent = its E8M0 code, scaling = 1 / scale. */
static void quantise_group(const struct mx_outs *o, const struct pto_tile *src, int32_t r,
                           int32_t g, int32_t n)
{
    enum pto_dtype type = o->data.type.dtype, lane = pto_elem_lane_type(type);
    int32_t lanes = pto_elem_lanes(type) == 2 ? 2 : 1, from = g * GROUP;
    float x[GROUP] = {0}, most = 0;
    func_f32(src, r, from, n, x);
    for (int32_t i = 0; i < n; i++)
        most = fabsf(x[i]) > most ? fabsf(x[i]) : most;
    int e = 0;
    frexpf(most, &e); /* most = f * 2^e with f in [1/2, 1) */
    int32_t code = isfinite(most) && most > 0 ? e - 1 - top_exponent(type) + 127 : 0;
    code = most == 0 ? 0 : !isfinite(most) ? 254 : code < 0 ? 0 : code > 254 ? 254 : code;
    for (int32_t i = 0; i < n; i += lanes) {
        uint64_t pair[2] = {0};
        for (int32_t k = 0; k < lanes; k++)
            pair[k] = pto_elem_from_f32(ldexpf(x[i + k], 127 - code), lane);
        func_set(&o->data, r, (from + i) / lanes, pto_elem_join(pair[0], pair[1], type));
    }
    put_inside(o->has_exponent, &o->exponent, r, g,
               pto_dtype_size(o->exponent.type.dtype) == 1
                   ? (uint64_t)code
                   : pto_elem_from_i64(code, o->exponent.type.dtype));
    put_inside(o->has_most, &o->most, r, g, pto_elem_from_f32(most, o->most.type.dtype));
    put_inside(o->has_scaling, &o->scaling, r, g,
               pto_elem_from_f32(ldexpf(1, 127 - code), o->scaling.type.dtype));
}

static enum status optional_out(struct func_call *c, size_t i, struct pto_tile *t, bool *has)
{
    *has = func_has_out(c, i);
    if (!*has)
        return ST_OK;
    TRY(func_out(c, i, t));
    return func_number(c, t);
}

enum status func_quantise_mx(struct func_call *c)
{
    struct mx_outs o;
    struct pto_tile src;
    TRY(func_out(c, 0, &o.data));
    TRY(optional_out(c, 1, &o.exponent, &o.has_exponent));
    TRY(optional_out(c, 2, &o.most, &o.has_most));
    TRY(optional_out(c, 3, &o.scaling, &o.has_scaling));
    if (!pto_dtype_is_float(o.data.type.dtype))
        return func_fail(c, ST_UNSUPPORTED, "pto-run.func-dtype",
                         "the data must be floats of 8 or 4 bits");
    int64_t n = (int64_t)o.data.v_col * pto_elem_lanes(o.data.type.dtype);
    if (n > INT32_MAX)
        return func_bad_shape(c, "the tile is too wide");
    TRY(func_in_as_number(c, 0, o.data.v_row, (int32_t)n, false, &src));
    for (int32_t r = 0; r < src.v_row; r++)
        for (int32_t g = 0; (int64_t)g * GROUP < n; g++)
            quantise_group(&o, &src, r, g, func_min(GROUP, (int32_t)n - g * GROUP));
    return ST_OK;
}

enum { BINS = 256 };

/* Of each row: how many elements have a top byte of at most b. With an index tile the next lower
 * byte is counted, of the elements whose top byte is the index of the row. */
enum status func_histogram(struct func_call *c)
{
    struct pto_tile dst, src, idx = {0};
    TRY(func_out_number(c, 0, &dst));
    TRY(func_in_number(c, 0, &src));
    uint32_t bits = pto_dtype_size(src.type.dtype) * 8;
    bool filtered = func_has_tile(c, 1) && bits > 8;
    if (filtered && dst.v_row > 0)
        TRY(func_in_as_number(c, 1, dst.v_row, 1, false, &idx));
    for (int32_t r = 0; r < func_min(dst.v_row, src.v_row); r++) {
        int64_t bins[BINS] = {0}, sum = 0;
        for (int32_t col = 0; col < src.v_col; col++) {
            uint64_t x = func_at(&src, r, col);
            uint64_t top = x >> (bits - 8) & 0xff;
            if (!filtered)
                bins[top]++;
            else if (top == (func_at(&idx, r, 0) & 0xff))
                bins[x >> (bits - 16) & 0xff]++;
        }
        for (int32_t b = 0; b < func_min(BINS, dst.v_col); b++) {
            sum += bins[b];
            func_set(&dst, r, b, pto_elem_from_i64(sum, dst.type.dtype));
        }
    }
    return ST_OK;
}
