/*
 * Scalar arithmetic of control flow and addresses.
 */
#include "kernels/pto/values/arith.h"

#include <math.h>

#include "kernels/pto/values/elem.h"

bool pto_arith_is_division(enum pto_opcode op)
{
    return (op >= PTO_DIVSI && op <= PTO_FLOORDIVSI) || op == PTO_DIVF || op == PTO_REMF;
}

static unsigned bits_of(enum pto_dtype t)
{
    return t == PTO_I1 ? 1 : pto_dtype_size(t) * 8;
}

int64_t pto_wrap(int64_t value, enum pto_dtype t)
{
    unsigned n = bits_of(t);

    if (n == 0 || n >= 64)
        return value;
    uint64_t low = (uint64_t)value & ((UINT64_C(1) << n) - 1);
    if (t == PTO_I1 || (t >= PTO_U8 && t <= PTO_U64))
        return (int64_t)low;
    return (int64_t)(low << (64 - n)) >> (64 - n);
}

/* The bits of a number of type `t` without its sign extension. */
static uint64_t plain(int64_t value, enum pto_dtype t)
{
    unsigned n = bits_of(t);

    return n >= 64 || n == 0 ? (uint64_t)value : (uint64_t)value & ((UINT64_C(1) << n) - 1);
}

double pto_round_to(double value, enum pto_dtype t)
{
    if (t == PTO_F32)
        return (double)(float)value;
    return pto_elem_f64(pto_elem_from_f64(value, t), t);
}

/* Wrapping arithmetic is done on unsigned words, where it is defined. */
static int64_t sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t quotient(int64_t a, int64_t b)
{
    return b == -1 ? sub(0, a) : a / b;
}

static int64_t divide(enum pto_opcode op, int64_t a, int64_t b, enum pto_dtype t)
{
    uint64_t ua = plain(a, t), ub = plain(b, t);
    int64_t rest = b == -1 ? 0 : a % b;

    switch (op) {
    case PTO_DIVSI:
        return quotient(a, b);
    case PTO_DIVUI:
        return (int64_t)(ua / ub);
    case PTO_REMSI:
        return rest;
    case PTO_REMUI:
        return (int64_t)(ua % ub);
    case PTO_CEILDIVSI:
        return quotient(a, b) + (rest != 0 && (rest > 0) == (b > 0));
    case PTO_CEILDIVUI:
        return (int64_t)(ua / ub + (ua % ub != 0));
    default: /* PTO_FLOORDIVSI */
        return quotient(a, b) - (rest != 0 && (rest > 0) != (b > 0));
    }
}

static int64_t shift(enum pto_opcode op, int64_t a, int64_t b, enum pto_dtype t)
{
    unsigned n = bits_of(t);

    if (b < 0 || b >= (int64_t)n) /* undefined by the dialect; all bits are gone */
        return op == PTO_SHRSI && a < 0 ? -1 : 0;
    if (op == PTO_SHLI)
        return (int64_t)((uint64_t)a << b);
    if (op == PTO_SHRUI)
        return (int64_t)(plain(a, t) >> b);
    return a >> b;
}

/* How one number may stand to another: a bit for below, equal and above. */
enum { LT = 1, EQ = 2, GT = 4 };

static bool compare_int(uint8_t predicate, int64_t a, int64_t b, enum pto_dtype t)
{
    uint64_t ua = plain(a, t), ub = plain(b, t);
    unsigned order = predicate < 6 ? (a >= b) + (a > b) : (ua >= ub) + (ua > ub);
    static const uint8_t holds[] = {EQ, LT | GT, LT, LT | EQ, GT, EQ | GT, /* of signed numbers */
                                    LT, LT | EQ, GT};                      /* of others */

    return ((predicate < ARRAY_LEN(holds) ? holds[predicate] : EQ | GT) >> order & 1) != 0;
}

static bool compare_float(uint8_t predicate, double a, double b)
{
    bool unordered = isnan(a) || isnan(b),
         ordered[] = {false, a == b, a > b, a >= b, a < b, a <= b, a != b, true};

    if (predicate < 8)
        return !unordered && ordered[predicate];
    if (predicate == 15)
        return true;
    if (predicate == 14)
        return unordered;
    static const uint8_t twin[] = {1, 2, 3, 4, 5, 6}; /* ueq ugt uge ult ule une */
    return unordered || ordered[twin[predicate - 8]];
}

static double float_op(enum pto_opcode op, double a, double b)
{
    switch (op) {
    case PTO_ADDF:
        return a + b;
    case PTO_SUBF:
        return a - b;
    case PTO_MULF:
        return a * b;
    case PTO_DIVF:
        return a / b;
    case PTO_REMF:
        return fmod(a, b);
    case PTO_NEGF:
        return -a;
    case PTO_MAXIMUMF: /* NaN wins, and -0 is below 0 */
        return isnan(a) || isnan(b) ? NAN : a == b ? (signbit(a) ? b : a) : fmax(a, b);
    case PTO_MINIMUMF:
        return isnan(a) || isnan(b) ? NAN : a == b ? (signbit(a) ? a : b) : fmin(a, b);
    case PTO_MAXNUMF:
        return fmax(a, b);
    default:
        return fmin(a, b);
    }
}

static int64_t int_op(enum pto_opcode op, int64_t a, int64_t b, enum pto_dtype t)
{
    switch (op) {
    case PTO_ADDI:
        return (int64_t)((uint64_t)a + (uint64_t)b);
    case PTO_SUBI:
        return sub(a, b);
    case PTO_MULI:
        return (int64_t)((uint64_t)a * (uint64_t)b);
    case PTO_ANDI:
        return a & b;
    case PTO_ORI:
        return a | b;
    case PTO_XORI:
        return a ^ b;
    case PTO_MAXSI:
        return a > b ? a : b;
    case PTO_MINSI:
        return a < b ? a : b;
    case PTO_MAXUI:
        return plain(a, t) > plain(b, t) ? a : b;
    case PTO_MINUI:
        return plain(a, t) < plain(b, t) ? a : b;
    default:
        return shift(op, a, b, t);
    }
}

/* Sum or product of double width, as its low and high half. */
static void extended(enum pto_opcode op, int64_t a, int64_t b, enum pto_dtype t, int64_t *low,
                     int64_t *high)
{
    unsigned n = bits_of(t);
    __int128 wide;

    if (op == PTO_MULSI_EXTENDED)
        wide = (__int128)a * b;
    else if (op == PTO_MULUI_EXTENDED)
        wide = (__int128)((unsigned __int128)plain(a, t) * plain(b, t));
    else
        wide = (__int128)plain(a, t) + (__int128)plain(b, t);
    *low = pto_wrap((int64_t)wide, t);
    *high = pto_wrap((int64_t)((unsigned __int128)wide >> n), t);
}

/* Toward zero; what does not fit becomes the nearest number that does, NaN becomes 0. */
static int64_t float_to_int(double a, enum pto_dtype t, bool is_signed)
{
    unsigned n = bits_of(t), bits = is_signed && n > 0 ? n - 1 : n; /* without the sign */
    double whole = trunc(a), end = ldexp(1, (int)bits);

    if (isnan(whole) || bits == 0)
        return 0;
    if (whole >= end)
        return pto_wrap((int64_t)(UINT64_MAX >> (64 - bits)), t);
    if (is_signed)
        return pto_wrap(whole <= -end ? INT64_MIN >> (64 - n) : (int64_t)whole, t);
    return whole <= 0 ? 0 : pto_wrap((int64_t)(uint64_t)whole, t);
}

/* A double that rounds to every narrower type as the integer itself would: bits that do not fit
 * leave a trace in the last one. */
static double whole_as_double(uint64_t n)
{
    if (n >> 53 == 0)
        return (double)n;
    return ldexp((double)(n >> 11 | ((n & 0x7ff) != 0)), 11);
}

uint64_t pto_number_bits(const struct pto_number *n, enum pto_dtype t)
{
    return pto_dtype_is_float(t) ? pto_elem_from_f64(n->v.f, t) : plain(n->v.i, t);
}

void pto_number_set(struct pto_number *n, uint64_t bits, enum pto_dtype t)
{
    if (pto_dtype_is_float(t))
        n->v.f = pto_elem_f64(bits, t);
    else
        n->v.i = pto_wrap((int64_t)bits, t);
}

static void cast(enum pto_opcode op, enum pto_dtype from, enum pto_dtype to,
                 const struct pto_number *a, struct pto_number *out)
{
    int64_t n = from == PTO_I1 ? -a->v.i : a->v.i; /* the one bit of an i1 is its sign */

    switch (op) {
    case PTO_SITOFP:
        out->v.f = pto_round_to(
            n < 0 ? -whole_as_double(0 - (uint64_t)n) : whole_as_double((uint64_t)n), to);
        break;
    case PTO_UITOFP:
        out->v.f = pto_round_to(whole_as_double(plain(a->v.i, from)), to);
        break;
    case PTO_FPTOSI:
    case PTO_FPTOUI:
        out->v.i = float_to_int(a->v.f, to, op == PTO_FPTOSI);
        break;
    case PTO_EXTF:
    case PTO_TRUNCF:
        out->v.f = pto_round_to(a->v.f, to);
        break;
    case PTO_EXTUI:
    case PTO_INDEX_CASTUI:
        out->v.i = pto_wrap((int64_t)plain(a->v.i, from), to);
        break;
    case PTO_ARITH_BITCAST:
    case PTO_CONVERSION_CAST:
        pto_number_set(out, pto_number_bits(a, from), to);
        break;
    default: /* index_cast, extsi, trunci */
        out->v.i = pto_wrap(n, to);
        break;
    }
}

enum pto_arith_result pto_arith(enum pto_opcode op, enum pto_dtype from, enum pto_dtype to,
                                uint8_t predicate, const struct pto_number *a,
                                const struct pto_number *b, const struct pto_number *c,
                                struct pto_number *out, struct pto_number *high)
{
    static const struct pto_number zero = {0};

    b = b != NULL ? b : &zero;
    uint32_t taint = a->taint != 0 ? a->taint : b->taint;
    if (op >= PTO_DIVSI && op <= PTO_FLOORDIVSI) {
        if (b->v.i == 0)
            return PTO_ARITH_DIV_ZERO;
        out->v.i = pto_wrap(divide(op, a->v.i, b->v.i, from), to);
    } else if (op >= PTO_ADDF && op <= PTO_MINNUMF) {
        out->v.f = pto_round_to(float_op(op, a->v.f, b->v.f), to);
    } else if (op == PTO_CMPI) {
        out->v.i = compare_int(predicate, a->v.i, b->v.i, from);
    } else if (op == PTO_CMPF) {
        out->v.i = predicate < 16 && compare_float(predicate, a->v.f, b->v.f);
    } else if (op == PTO_SELECT) {
        struct pto_number chosen = a->v.i != 0 ? *b : *c;
        taint = a->taint != 0 ? a->taint : chosen.taint;
        out->v = chosen.v;
    } else if (op >= PTO_ADDUI_EXTENDED && op <= PTO_MULUI_EXTENDED) {
        extended(op, a->v.i, b->v.i, from, &out->v.i, &high->v.i);
        high->taint = taint;
    } else if (op >= PTO_INDEX_CAST && op <= PTO_CONVERSION_CAST) {
        cast(op, from, to, a, out);
    } else if (op >= PTO_ADDI && op <= PTO_MINUI) {
        out->v.i = pto_wrap(int_op(op, a->v.i, b->v.i, from), to);
    } else {
        return PTO_ARITH_UNKNOWN;
    }
    out->taint = taint;
    return PTO_ARITH_OK;
}
