/*
 * Every conversion goes through one exact form: sign, a significand with its top bit set, and an
 * exponent. Rounding is then a matter of where the last kept bit is, which each format answers.
 */
#include <math.h>
#include <string.h>

#include "kernels/pto/values/elem_in.h"

/* A binary float of at most 32 bits. `top` is the largest finite code without the sign. */
struct format {
    int32_t man, bias;
    uint32_t top, inf, nan; /* inf == 0: the format has no infinity */
    uint32_t sign;
};

static const struct format formats[PTO_DTYPE_COUNT] = {
    [PTO_F32] = {23, 127, 0x7f7fffff, 0x7f800000, 0x7fc00000, 0x80000000u},
    [PTO_F16] = {10, 15, 0x7bff, 0x7c00, 0x7e00, 0x8000},
    [PTO_BF16] = {7, 127, 0x7f7f, 0x7f80, 0x7fc0, 0x8000},
    [PTO_BF16X2] = {7, 127, 0x7f7f, 0x7f80, 0x7fc0, 0x8000},
    [PTO_F8E4M3] = {3, 7, 0x7e, 0, 0x7f, 0x80},
    [PTO_F8E5M2] = {2, 15, 0x7b, 0x7c, 0x7f, 0x80},
    [PTO_F4E2M1X2] = {1, 1, 7, 0, 0, 8}, /* no NaN: it becomes 0 */
    [PTO_F4E1M2X2] = {2, 1, 7, 0, 0, 8},
};

static const struct format *format_of(enum pto_dtype t)
{
    return (size_t)t < ARRAY_LEN(formats) && formats[t].man != 0 ? &formats[t] : NULL;
}

/* HiFloat8: sign, a prefix that gives the width of the exponent, a sign-magnitude exponent with a
 * hidden leading one, and 1 to 3 bits of fraction; the lowest prefix holds powers of two. */
enum { HIF8_INF = 0x6f, HIF8_NAN = 0x80, HIF8_TOP = 0x6e, HIF8_LEAST = -22, HIF8_MOST = 15 };

enum kind { ZERO, FINITE, INFINITE, NOT_A_NUMBER };

/* m * 2^(e - 63) with the top bit of m set: e is the exponent of the leading bit. */
struct number {
    enum kind kind;
    bool negative;
    uint64_t m;
    int32_t e;
};

static struct number convert_number_of(bool negative, uint64_t m, int32_t scale)
{
    if (m == 0)
        return (struct number){.kind = ZERO, .negative = negative};
    int32_t up = __builtin_clzll(m);
    return (struct number){FINITE, negative, m << up, 63 - up + scale};
}

static struct number unpack_hif8(uint32_t code)
{
    bool negative = (code & 0x80) != 0;
    uint32_t b = code & 0x7f;
    if (code == HIF8_NAN)
        return (struct number){.kind = NOT_A_NUMBER};
    if (b == HIF8_INF)
        return (struct number){.kind = INFINITE, .negative = negative};
    if (b < 8) /* 0000 mmm: 2^(m - 23) */
        return convert_number_of(negative, b != 0, (int32_t)b - 23);
    if (b < 16) /* 0001 mmm */
        return convert_number_of(negative, 8 + (b & 7), -3);
    /* The exponent has `width` bits: a sign, then the magnitude without its leading one. */
    int32_t width = b >= 96 ? 4 : b >= 64 ? 3 : b >= 32 ? 2 : 1;
    int32_t man = width == 1 ? 3 : 5 - width;
    uint32_t field = b >> man & ((1u << width) - 1);
    uint32_t low = 1u << (width - 1);
    int32_t e = (int32_t)(low | (field & (low - 1)));
    if (field & low)
        e = -e;
    return convert_number_of(negative, (1u << man) | (b & ((1u << man) - 1)), e - man);
}

static struct number unpack_float(uint64_t bits, const struct format *f)
{
    bool negative = (bits & f->sign) != 0;
    uint32_t code = (uint32_t)(bits & (f->sign - 1));
    if (code > f->top)
        return (struct number){.kind = code == f->inf && f->inf != 0 ? INFINITE : NOT_A_NUMBER,
                               .negative = negative};
    uint32_t fraction = code & ((1u << f->man) - 1);
    int32_t e = (int32_t)(code >> f->man);
    if (e == 0)
        return convert_number_of(negative, fraction, 1 - f->bias - f->man);
    return convert_number_of(negative, (1u << f->man) | fraction, e - f->bias - f->man);
}

static bool is_hif8(enum pto_dtype t)
{
    return t == PTO_HIF8 || t == PTO_HIF8X2;
}

static struct number unpack(uint64_t bits, enum pto_dtype t)
{
    const struct format *f = format_of(t);
    if (f != NULL)
        return unpack_float(bits, f);
    if (is_hif8(t))
        return unpack_hif8((uint32_t)(bits & 0xff));
    if (t == PTO_F8E8M0 && bits == 0xff)
        return (struct number){.kind = NOT_A_NUMBER};
    if (t == PTO_F8E8M0)
        return convert_number_of(false, 1, (int32_t)bits - 127);
    if (elem_is_signed(t) && (int64_t)bits < 0)
        return convert_number_of(true, -bits, 0);
    return convert_number_of(false, bits, 0);
}

/* x / 2^q as an integer, rounded by `mode`. x.e - q < 64. */
static uint64_t round_to(struct number x, int32_t q, enum pto_round mode)
{
    int32_t drop = q - (x.e - 63); /* bits of m below the last kept one */
    if (drop <= 0)
        return x.m;
    uint64_t kept = drop < 64 ? x.m >> drop : 0;
    uint64_t rest = drop < 64 ? x.m << (64 - drop) : drop == 64 ? x.m : 1;
    if (rest == 0)
        return kept;
    const uint64_t half = 1ull << 63;
    bool up = false;
    switch (mode) {
    case PTO_ROUND_AWAY:
        up = rest >= half;
        break;
    case PTO_ROUND_FLOOR:
        up = x.negative;
        break;
    case PTO_ROUND_CEIL:
        up = !x.negative;
        break;
    case PTO_ROUND_TRUNC:
        break;
    case PTO_ROUND_ODD:
        up = (kept & 1) == 0;
        break;
    default:
        up = rest > half || (rest == half && (kept & 1) != 0);
    }
    return kept + up;
}

/* The code beyond the largest finite value. */
static uint64_t overflow_code(const struct format *f, struct pto_convert how)
{
    bool small = f->sign <= 0x80;
    if (how.saturation == PTO_SATURATION_ON || (how.saturation == PTO_SATURATION_AUTO && small))
        return f->top;
    return f->inf != 0 ? f->inf : f->nan != 0 ? f->nan : f->top;
}

static uint64_t pack_float(struct number x, const struct format *f, struct pto_convert how)
{
    uint64_t sign = x.negative ? f->sign : 0;
    if (x.kind == NOT_A_NUMBER)
        return f->nan | (f->nan != 0 ? sign : 0);
    if (x.kind == ZERO)
        return sign;
    if (x.kind == INFINITE)
        return sign | overflow_code(f, how);
    int32_t least = 1 - f->bias;
    if (x.e > f->bias + 1)
        return sign | overflow_code(f, how);
    int32_t e = x.e < least ? least : x.e;
    uint64_t n = round_to(x, e - f->man, how.round);
    /* Without the hidden one for subnormals; a carry moves into the exponent by itself. */
    uint64_t code = ((uint64_t)(e - least) << f->man) + n;
    return sign | (code > f->top ? overflow_code(f, how) : code);
}

/* Bits of fraction beside exponent e. */
static int32_t hif8_man(int32_t e)
{
    int32_t size = e < 0 ? -e : e;
    return size <= 3 ? 3 : size <= 7 ? 2 : size <= 15 ? 1 : 0;
}

static uint64_t hif8_code(int32_t e, uint64_t fraction)
{
    if (e < -15)
        return (uint64_t)e + 23;
    uint64_t size = (uint64_t)(e < 0 ? -e : e);
    if (size == 0)
        return 8 | fraction;
    int32_t width = size >= 8 ? 4 : size >= 4 ? 3 : size >= 2 ? 2 : 1;
    uint64_t low = 1ull << (width - 1);
    uint64_t field = (e < 0 ? low : 0) | (size & (low - 1));
    uint64_t prefix = width == 1 ? 16 : (uint64_t)(width - 1) << 5;
    return prefix | field << hif8_man(e) | fraction;
}

/* The mantissa gets narrower as the exponent grows: one that is rounded up to 2.0 goes to the
 * next exponent, whose width may differ. */
static uint64_t pack_hif8(struct number x, struct pto_convert how)
{
    if (x.kind == NOT_A_NUMBER)
        return HIF8_NAN;
    if (x.kind == ZERO)
        return 0;
    uint64_t sign = x.negative ? 0x80 : 0;
    uint64_t over = sign | (how.saturation == PTO_SATURATION_OFF ? HIF8_INF : HIF8_TOP);
    if (x.kind == INFINITE || x.e > HIF8_MOST)
        return over;
    int32_t e = x.e < HIF8_LEAST ? HIF8_LEAST : x.e;
    int32_t man = hif8_man(e);
    uint64_t n = round_to(x, e - man, how.round);
    if (n == 0)
        return 0;
    if (n == 2ull << man) {
        e++;
        n = 1ull << hif8_man(e);
        man = hif8_man(e);
    }
    uint64_t fraction = n - (1ull << man);
    if (e > HIF8_MOST || (e == HIF8_MOST && fraction != 0))
        return over;
    return sign | hif8_code(e, fraction);
}

static uint64_t pack_e8m0(struct number x, struct pto_convert how)
{
    if (x.kind == NOT_A_NUMBER || (x.negative && x.kind != ZERO))
        return 0xff;
    if (x.kind == ZERO || (x.kind == FINITE && x.e < -127))
        return 0;
    int32_t e = x.kind == INFINITE ? 128 : x.e;
    if (e <= 127 && round_to(x, e, how.round) == 2)
        e++;
    if (e > 127)
        return how.saturation == PTO_SATURATION_OFF ? 0xff : 0xfe;
    return (uint64_t)e + 127;
}

static uint64_t pack_int(struct number x, enum pto_dtype t, struct pto_convert how)
{
    if (x.kind == NOT_A_NUMBER || x.kind == ZERO)
        return 0;
    uint32_t bits = elem_int_bits(t);
    uint64_t most = (bits >= 64 ? ~0ull : (1ull << bits) - 1) >> elem_is_signed(t);
    bool beyond = x.kind == INFINITE || x.e > 63;
    uint64_t n = 0;
    if (!beyond) {
        n = round_to(x, 0, how.round);
        beyond = n == 0 && x.e == 63; /* the carry left 64 bits */
    }
    if (how.saturation == PTO_SATURATION_OFF)
        return beyond ? 0 : elem_wrap(x.negative ? -n : n, t);
    if (x.negative) {
        uint64_t least = elem_is_signed(t) ? most + 1 : 0;
        return elem_wrap(-(beyond || n > least ? least : n), t);
    }
    return beyond || n > most ? most : n;
}

static uint64_t convert_pack(struct number x, enum pto_dtype t, struct pto_convert how)
{
    const struct format *f = format_of(t);
    if (f != NULL)
        return pack_float(x, f, how);
    if (is_hif8(t))
        return pack_hif8(x, how);
    if (t == PTO_F8E8M0)
        return pack_e8m0(x, how);
    return pack_int(x, t, how);
}

uint64_t pto_elem_convert(uint64_t bits, enum pto_dtype from, enum pto_dtype to,
                          struct pto_convert how)
{
    if (from == to)
        return bits;
    if (!elem_is_integer(to) && (elem_is_integer(from) || how.reference))
        how.round = PTO_ROUND_RINT;
    return convert_pack(unpack(bits, from), to, how);
}

/* Bits of a double in the common form; a double has 53 bits of significand. */
static struct number unpack_f64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    bool negative = bits >> 63 != 0;
    uint64_t fraction = bits & ((1ull << 52) - 1);
    int32_t e = (int32_t)(bits >> 52 & 0x7ff);
    if (e == 0x7ff)
        return (struct number){.kind = fraction != 0 ? NOT_A_NUMBER : INFINITE,
                               .negative = negative};
    if (e == 0)
        return convert_number_of(negative, fraction, -1074);
    return convert_number_of(negative, 1ull << 52 | fraction, e - 1075);
}

double pto_elem_f64(uint64_t bits, enum pto_dtype t)
{
    if (elem_is_integer(t))
        return elem_is_signed(t) ? (double)(int64_t)bits : (double)bits;
    if (t == PTO_F32 || t == PTO_F16 || t == PTO_BF16)
        return (double)pto_elem_f32(bits, t);
    struct number x = unpack(bits, t);
    double size = x.kind == ZERO       ? 0
                  : x.kind == FINITE   ? ldexp((double)(x.m >> 11), x.e - 52)
                  : x.kind == INFINITE ? (double)INFINITY
                                       : (double)NAN;
    return x.negative ? -size : size;
}

uint64_t pto_elem_from_f64(double value, enum pto_dtype t)
{
    return convert_pack(unpack_f64(value), t, elem_is_integer(t) ? toward_zero : nearest);
}

uint64_t pto_elem_highest(enum pto_dtype t)
{
    const struct format *f = format_of(t);
    if (f != NULL)
        return f->inf != 0 ? f->inf : f->top;
    if (is_hif8(t))
        return HIF8_INF;
    if (t == PTO_F8E8M0)
        return 0xfe;
    return pack_int((struct number){.kind = INFINITE}, t, toward_zero);
}

uint64_t pto_elem_lowest(enum pto_dtype t)
{
    const struct format *f = format_of(t);
    if (f != NULL || is_hif8(t))
        return pto_elem_highest(t) | (f != NULL ? f->sign : 0x80);
    if (t == PTO_F8E8M0)
        return 0;
    return pack_int((struct number){.kind = INFINITE, .negative = true}, t, toward_zero);
}
