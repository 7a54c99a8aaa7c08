/*
 * Arithmetic of expressions: whole numbers that do not overflow, and reals.
 */
#include "base/text/expr_number.h"

#include <math.h>

static const char overflow[] = "the result does not fit 64 bits";
static const char by_zero[] = "division by zero";
static const char not_finite[] = "the result is not a finite number";

static bool are_whole(const struct expr_value *a, const struct expr_value *b)
{
    return a->kind != EXPR_REAL && b->kind != EXPR_REAL;
}

static double real(struct expr_value v)
{
    return v.kind == EXPR_REAL ? v.r : (double)v.i;
}

static const char *set_whole(struct expr_value *v, bool has_overflown, int64_t i)
{
    *v = (struct expr_value){.kind = EXPR_INT, .i = i};
    return has_overflown ? overflow : NULL;
}

static const char *set_real(struct expr_value *v, double r)
{
    *v = (struct expr_value){.kind = EXPR_REAL, .r = r};
    return isfinite(r) ? NULL : not_finite;
}

static const char *negate(struct expr_value *a)
{
    int64_t i;

    if (a->kind == EXPR_REAL)
        return set_real(a, -a->r);
    bool bad = __builtin_sub_overflow((int64_t)0, a->i, &i);
    return set_whole(a, bad, i);
}

static const char *combine(enum expr_op op, struct expr_value *a, struct expr_value b)
{
    int64_t i;
    bool bad;

    if (!are_whole(a, &b))
        return set_real(a, expr_apply_real(op, real(*a), real(b)));
    if (op == EXPR_ADD)
        bad = __builtin_add_overflow(a->i, b.i, &i);
    else if (op == EXPR_SUB)
        bad = __builtin_sub_overflow(a->i, b.i, &i);
    else
        bad = __builtin_mul_overflow(a->i, b.i, &i);
    return set_whole(a, bad, i);
}

static uint64_t magnitude(int64_t i)
{
    return i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
}

/* The nearest double to a / b. Beyond 2^53 the operands themselves are no doubles: 128 bits of
 * quotient are made, and what is left over marks the lowest one, so that it rounds once. */
static double quotient(int64_t a, int64_t b)
{
    const uint64_t exact = (uint64_t)1 << 53;
    uint64_t above = magnitude(a), below = magnitude(b);

    if (above <= exact && below <= exact)
        return (double)a / (double)b;
    int shift = __builtin_clzll(above);
    __extension__ unsigned __int128 wide = (unsigned __int128)(above << shift) << 64, q;
    q = wide / below;
    if (wide % below != 0)
        q |= 1;
    double r = ldexp((double)q, -64 - shift);
    return (a < 0) != (b < 0) ? -r : r;
}

static const char *divide(struct expr_value *a, struct expr_value b)
{
    if (real(b) == 0)
        return by_zero;
    if (are_whole(a, &b) && a->i != 0)
        return set_real(a, quotient(a->i, b.i));
    return set_real(a, real(*a) / real(b));
}

/* Quotient and rest that go together: a = q * b + rest, the rest has the sign of b. */
static const char *split(struct expr_value a, struct expr_value b, struct expr_value *q,
                         struct expr_value *rest)
{
    if (real(b) == 0)
        return by_zero;
    if (are_whole(&a, &b)) {
        if (a.i == INT64_MIN && b.i == -1) {
            *rest = (struct expr_value){.kind = EXPR_INT};
            *q = (struct expr_value){.kind = EXPR_REAL, .r = INFINITY}; /* told as overflow */
            return NULL;
        }
        int64_t div = a.i / b.i, mod = a.i % b.i;
        if (mod != 0 && (mod < 0) != (b.i < 0)) {
            mod += b.i;
            div -= 1;
        }
        *q = (struct expr_value){.kind = EXPR_INT, .i = div};
        *rest = (struct expr_value){.kind = EXPR_INT, .i = mod};
        return NULL;
    }
    double x = real(a), y = real(b), mod = fmod(x, y), div = (x - mod) / y;
    if (mod != 0 && (mod < 0) != (y < 0)) {
        mod += y;
        div -= 1;
    }
    double low = floor(div);
    set_real(q, div - low > 0.5 ? low + 1 : low); /* div is whole but for rounding */
    set_real(rest, mod == 0 ? copysign(0, y) : mod);
    return NULL;
}

static const char *floor_divide(struct expr_value *a, struct expr_value b)
{
    struct expr_value rest;
    const char *error = split(*a, b, a, &rest);

    if (error == NULL && a->kind == EXPR_REAL && !isfinite(a->r))
        return overflow;
    return error;
}

static const char *power(struct expr_value *a, struct expr_value b)
{
    if (are_whole(a, &b) && b.i >= 0) {
        int64_t base = a->i, result = 1;
        for (int64_t exponent = b.i; exponent > 0; exponent >>= 1) {
            if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result))
                return overflow;
            if (exponent > 1 && __builtin_mul_overflow(base, base, &base))
                return overflow;
        }
        return set_whole(a, false, result);
    }
    if (real(*a) == 0 && real(b) < 0)
        return by_zero;
    return set_real(a, pow(real(*a), real(b)));
}

/* Up to a multiple of b. */
static const char *align(struct expr_value *a, struct expr_value b)
{
    const char *error = combine(EXPR_ADD, a, b);

    if (error == NULL)
        error = combine(EXPR_SUB, a, (struct expr_value){.kind = EXPR_INT, .i = 1});
    if (error == NULL)
        error = floor_divide(a, b);
    return error != NULL ? error : combine(EXPR_MUL, a, b);
}

/* A whole number against a real: as doubles first, and where these are equal by what the real
 * lost. Reals from 2^63 on are beyond every whole number. */
static int against(int64_t i, double r)
{
    double d = (double)i;

    if (d != r)
        return d < r ? -1 : 1;
    if (r >= 0x1p63)
        return -1;
    return (i > (int64_t)r) - (i < (int64_t)r);
}

static int number_compare(struct expr_value a, struct expr_value b)
{
    if (a.kind == EXPR_REAL && b.kind == EXPR_REAL)
        return (a.r > b.r) - (a.r < b.r);
    if (a.kind == EXPR_REAL)
        return -against(b.i, a.r);
    if (b.kind == EXPR_REAL)
        return against(a.i, b.r);
    return (a.i > b.i) - (a.i < b.i);
}

bool expr_is_true(struct expr_value v)
{
    return v.kind == EXPR_REAL ? v.r != 0 : v.i != 0;
}

bool expr_whole(struct expr_value v, int64_t *out)
{
    if (v.kind != EXPR_REAL) {
        *out = v.i;
        return true;
    }
    const double most = 9223372036854775808.0; /* 2 to the 63 */
    if (!(v.r > -most && v.r < most))
        return false;
    *out = (int64_t)v.r;
    return true;
}

bool expr_holds(enum expr_op op, struct expr_value a, struct expr_value b)
{
    int order = number_compare(a, b);

    if (op == EXPR_EQ || op == EXPR_NE)
        return (order == 0) == (op == EXPR_EQ);
    if (op == EXPR_LT || op == EXPR_GE)
        return (order < 0) == (op == EXPR_LT);
    return (order > 0) == (op == EXPR_GT);
}

const char *expr_apply(enum expr_op op, struct expr_value *a, struct expr_value b)
{
    struct expr_value q;
    switch (op) {
    case EXPR_NEGATE:
        return negate(a);
    case EXPR_PLUS:
        if (a->kind == EXPR_BOOL)
            a->kind = EXPR_INT;
        return NULL;
    case EXPR_ABS:
        return expr_apply(number_compare(*a, (struct expr_value){0}) < 0 ? EXPR_NEGATE : EXPR_PLUS,
                          a, b);
    case EXPR_ADD:
    case EXPR_SUB:
    case EXPR_MUL:
        return combine(op, a, b);
    case EXPR_FLOOR_DIVIDE:
        return floor_divide(a, b);
    case EXPR_DIVIDE:
        return divide(a, b);
    case EXPR_MODULO:
        return split(*a, b, &q, a);
    case EXPR_POWER:
        return power(a, b);
    case EXPR_MAX:
        *a = number_compare(b, *a) > 0 ? b : *a;
        return NULL;
    case EXPR_MIN:
        *a = number_compare(b, *a) < 0 ? b : *a;
        return NULL;
    case EXPR_ALIGN:
        return align(a, b);
    default: {
        bool is = op == EXPR_NOT ? !expr_is_true(*a) : expr_holds(op, *a, b);
        *a = (struct expr_value){.kind = EXPR_BOOL, .i = is};
        return NULL;
    }
    }
}

double expr_apply_real(enum expr_op op, double a, double b)
{
    switch (op) {
    case EXPR_NEGATE:
        return -a;
    case EXPR_ADD:
        return a + b;
    case EXPR_SUB:
        return a - b;
    case EXPR_MUL:
        return a * b;
    case EXPR_DIVIDE:
        return a / b;
    case EXPR_MODULO:
        return fmod(a, b);
    case EXPR_MAX:
        return a > b ? a : b;
    case EXPR_MIN:
        return a < b ? a : b;
    case EXPR_CEIL:
        return ceil(a);
    case EXPR_FLOOR:
        return floor(a);
    case EXPR_LOG2:
        return log2(a);
    default:
        return a; /* EXPR_PLUS */
    }
}
