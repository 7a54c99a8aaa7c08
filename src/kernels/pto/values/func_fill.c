/* Tiles filled from scalars, padded, transposed and joined. */
#include "kernels/pto/values/func_call.h"

static void fill(const struct pto_tile *t, int32_t r0, int32_t r1, int32_t c0, int32_t c1,
                 uint64_t bits)
{
    uint64_t row[FUNC_PIECE];
    for (int32_t i = 0; i < FUNC_PIECE; i++)
        row[i] = bits;
    for (int32_t r = r0; r < r1; r++)
        for (int32_t col = c0; col < c1; col += FUNC_PIECE)
            func_put_bits(t, r, col, func_min(FUNC_PIECE, c1 - col), row);
}

enum status func_expands(struct func_call *c)
{
    struct pto_tile dst;
    struct pto_scalar v;
    TRY(func_out(c, 0, &dst));
    TRY(func_value(c, 0, &v));
    func_straighten(&dst, 1);
    /* The number in the type of the tile, but the bits where the type is no number. */
    enum pto_dtype t = dst.type.dtype;
    bool is_kept = v.dtype == t || pto_elem_lanes(t) == 2 || pto_elem_lanes(v.dtype) == 2;
    fill(&dst, 0, dst.v_row, 0, dst.v_col, is_kept ? v.bits : func_cast(v.bits, v.dtype, t));
    return ST_OK;
}

/* Row 0: start, start + 1, ... or start, start - 1, ... */
enum status func_count_up(struct func_call *c)
{
    struct pto_tile dst;
    struct pto_scalar start;
    TRY(func_out_number(c, 0, &dst));
    TRY(func_value(c, 0, &start));
    if (dst.v_row == 0)
        return ST_OK;
    bool is_float = pto_dtype_is_float(dst.type.dtype);
    double x = pto_elem_f64(start.bits, start.dtype);
    uint64_t first = (uint64_t)pto_elem_i64(start.bits, start.dtype);
    for (int32_t j = 0; j < dst.v_col; j++) {
        int64_t by = c->attrs->descending ? -(int64_t)j : j;
        func_set(&dst, 0, j,
                 is_float ? pto_elem_from_f64(x + (double)by, dst.type.dtype)
                          : pto_elem_from_i64((int64_t)(first + (uint64_t)by), dst.type.dtype));
    }
    return ST_OK;
}

enum status func_triangle(struct func_call *c)
{
    struct pto_tile dst;
    struct pto_scalar v = {PTO_I64, 0};
    TRY(func_out_number(c, 0, &dst));
    if (c->args->n_ins > 0)
        TRY(func_value(c, 0, &v));
    int64_t diagonal = pto_elem_i64(v.bits, v.dtype);
    const int64_t far = (int64_t)1 << 40; /* beyond every tile; keeps the sum below in range */
    diagonal = diagonal > far ? far : diagonal < -far ? -far : diagonal;
    uint64_t one = pto_elem_from_i64(1, dst.type.dtype),
             zero = pto_elem_from_i64(0, dst.type.dtype);
    for (int32_t r = 0; r < dst.v_row; r++)
        for (int32_t col = 0; col < dst.v_col; col++) {
            bool in = c->attrs->upper ? col >= r + diagonal : col <= r + diagonal;
            func_set(&dst, r, col, in ? one : zero);
        }
    return ST_OK;
}

/* A good mix of 64 bits: multiply, fold, a few times. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

/* Depends on the scalars, the rounds and the place only. Floats are in [0, 1). */
enum status func_noise(struct func_call *c)
{
    struct pto_tile dst;
    TRY(func_out_number(c, 0, &dst));
    uint64_t key = mix((uint64_t)c->attrs->rounds + 1);
    for (size_t i = 0; i < c->args->n_ins; i++)
        if (func_has_value(c, i))
            key = mix(key ^ (c->args->ins[i].u.value->bits + 0x9e3779b97f4a7c15ull));
    bool is_float = pto_dtype_is_float(dst.type.dtype);
    for (int32_t r = 0; r < dst.v_row; r++)
        for (int32_t col = 0; col < dst.v_col; col++) {
            uint64_t x = mix(key + ((uint64_t)r << 32 | (uint32_t)col));
            uint64_t bits = is_float ? pto_elem_from_f64((double)(x >> 57) / 128, dst.type.dtype)
                                     : pto_elem_from_i64((int64_t)x, dst.type.dtype);
            func_set(&dst, r, col, bits);
        }
    return ST_OK;
}

/* The valid part of the source, then the pad value in the rest of the physical destination; rows
 * only up to the next 16 when the type says so (compact 3). */
enum status func_fill_pad(struct func_call *c)
{
    struct pto_tile dst, src;
    uint64_t bits;
    TRY(func_out(c, 0, &dst));
    bool has_pad = func_pad(&dst.type, &bits);
    TRY(func_physical(c, &dst));
    TRY(func_in(c, 0, &src));
    TRY(func_same_size(c, src.type.dtype, dst.type.dtype));
    int32_t rows = func_min(src.v_row, dst.v_row), cols = func_min(src.v_col, dst.v_col);
    func_copy(&src, &dst, rows, cols);
    if (!has_pad)
        return ST_OK;
    int32_t last = dst.v_row;
    if (dst.type.compact == 3)
        last = (int32_t)(((int64_t)rows + 15) / 16 * 16 < last ? ((int64_t)rows + 15) / 16 * 16
                                                               : last);
    fill(&dst, 0, rows, cols, dst.v_col, bits);
    fill(&dst, rows, last, 0, dst.v_col, bits);
    return ST_OK;
}

enum status func_transpose(struct func_call *c)
{
    struct pto_tile dst, src;
    TRY(func_out(c, 0, &dst));
    TRY(func_in_as(c, 0, dst.v_col, dst.v_row, false, &src));
    TRY(func_same_size(c, src.type.dtype, dst.type.dtype));
    src = func_flip(&src);
    func_copy(&src, &dst, dst.v_row, dst.v_col);
    return ST_OK;
}

/* Copies n elements of src row r to (r, at) of dst, as far as dst is valid. */
static int32_t fill_append(const struct pto_tile *src, const struct pto_tile *dst, int32_t r,
                           int32_t at, int64_t n)
{
    uint64_t bits[FUNC_PIECE];
    int64_t room = (int64_t)dst->v_col - at;
    n = n < 0 || r >= src->v_row ? 0 : n > src->v_col ? src->v_col : n;
    n = n > room ? room : n;
    for (int32_t col = 0; col < n; col += FUNC_PIECE) {
        int32_t m = func_min(FUNC_PIECE, (int32_t)n - col);
        func_bits(src, r, col, m, bits);
        func_put_bits(dst, r, at + col, m, bits);
    }
    return at + (int32_t)n;
}

/* With index tiles, the count of row r is element (r, 0) of each. */
enum status func_concat(struct func_call *c)
{
    int by_index = c->how;
    struct pto_tile dst, a, b, count[2];
    TRY(func_out(c, 0, &dst));
    TRY(func_in(c, 0, &a));
    TRY(func_in(c, 1, &b));
    TRY(func_same_size(c, a.type.dtype, dst.type.dtype));
    TRY(func_same_size(c, b.type.dtype, dst.type.dtype));
    for (size_t i = 0; i < 2 && by_index && dst.v_row > 0; i++)
        TRY(func_in_as_number(c, 2 + i, dst.v_row, 1, false, &count[i]));
    for (int32_t r = 0; r < dst.v_row; r++) {
        int64_t n[2] = {a.v_col, b.v_col};
        for (size_t i = 0; i < 2 && by_index; i++)
            n[i] = pto_elem_i64(func_at(&count[i], r, 0), count[i].type.dtype);
        fill_append(&b, &dst, r, fill_append(&a, &dst, r, 0, n[0]), n[1]);
    }
    return ST_OK;
}

/* The low bytes of each element. */
enum status func_pack(struct func_call *c)
{
    struct pto_tile dst, src;
    TRY(func_out(c, 0, &dst));
    TRY(func_in_as(c, 0, dst.v_row, dst.v_col, false, &src));
    for (int32_t r = 0; r < dst.v_row; r++)
        fill_append(&src, &dst, r, 0, dst.v_col);
    return ST_OK;
}
