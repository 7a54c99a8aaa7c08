/*
 * num - numbers from text, exactly, and arithmetic that cannot wrap.
 *
 * Profilers print microseconds since 1970 with three decimals: 61 bits, more than a double holds.
 * num_us() therefore goes digit by digit to an int64_t of nanoseconds and no double is anywhere
 * on that path.
 */
#ifndef STRATA_BASE_TEXT_NUM_H
#define STRATA_BASE_TEXT_NUM_H

#include <endian.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef int64_t nanos;  /* nanoseconds on some clock */
typedef int64_t cycles; /* clock cycles of some core */

/*
 * Decimal microseconds to nanoseconds: three fraction digits exactly, the fourth rounds half up
 * (away from zero), later ones are noise of the cycle conversion and are ignored. Accepts a sign,
 * an exponent, and blanks, tabs or one pair of double quotes around the number. False, and `out`
 * untouched, for anything else and for what does not fit 64 bits. num_ms and num_ns do the same
 * for milliseconds and nanoseconds.
 */
bool num_us(struct str text, nanos *out);
bool num_ms(struct str text, nanos *out);
bool num_ns(struct str text, nanos *out);

/* Whole text must be the number; blanks around it are allowed. Locale plays no part.
 * num_f64 takes finite decimal numbers only. */
bool num_i64(struct str text, int64_t *out);
bool num_u64(struct str text, uint64_t *out);
bool num_f64(struct str text, double *out);

/* A short number without sign or exponent, which is what most are: whole, or with a point in it.
 * NUM_OTHER for all others, which one of the above may take. */
enum num_kind { NUM_OTHER, NUM_WHOLE, NUM_REAL };
enum num_kind num_short(struct str text, int64_t *whole, double *real);

/* Sixteen hexadecimal digits at most, with or without 0x, and nothing else. */
bool num_hex(struct str text, uint64_t *out);

/* The value of eight bytes that are 0 to 9, the first one the lowest byte: neighbours join to
 * pairs, pairs to fours, fours to the whole. */
static inline uint64_t num_join_eight(uint64_t digits)
{
    digits = (digits * 10 + (digits >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
    digits = (digits * 100 + (digits >> 16)) & UINT64_C(0x0000ffff0000ffff);
    return (digits & UINT64_C(0xffffffff)) * 10000 + (digits >> 32);
}

/* The value of eight digits at once; false when one of them is none. */
static inline bool num_eight(const char *at, uint64_t *out)
{
    const uint64_t high = UINT64_C(0xf0f0f0f0f0f0f0f0), threes = UINT64_C(0x3030303030303030);
    uint64_t word;

    memcpy(&word, at, sizeof(word));
    word = le64toh(word);
    /* A digit is 0x30 to 0x39: the high half is 3, also after adding 6. */
    if ((word & high) != threes || ((word + UINT64_C(0x0606060606060606)) & high) != threes)
        return false;
    *out = num_join_eight(word & ~high);
    return true;
}

/*
 * num_us() at its quickest, where the end of the number is not known yet: up to seven digits with
 * at most three decimals, or 16 digits with exactly three. Reads 24 bytes from `at` on. Returns the
 * end of the number, or NULL for all other forms.
 */
const char *num_us_at(const char *at, nanos *out);

/* The spellings profilers use for "no value": empty, N/A, n/a, NA, None, null, -. */
bool num_is_missing(struct str text);

/* Writes `ns` as microseconds with exactly three decimals ("-0.001"); returns the length.
 * `buf` holds at least NUM_TEXT bytes. */
enum { NUM_TEXT = 32 };
size_t num_print_us(char *buf, nanos ns);

/* As milliseconds with all six decimals that nanoseconds have, less trailing zeros: "0.0015". */
size_t num_print_ms(char *buf, nanos ns);

size_t num_print_u64(char *buf, uint64_t value);

/* The shortest decimal text that reads back as `value`; "null" when it is not finite. */
size_t num_print_f64(char *buf, double value);

/* The same with a point or an exponent in it, so that a whole number is seen to be measured and not
 * counted: "111.0". "inf", "-inf" or "nan" when it is not finite. */
size_t num_print_point(char *buf, double value);

/* `value` with so many decimals, ties to even as printf does. */
double num_round(double value, int decimals);

/* Which part of a whole; 0 and NAN where there is no whole. */
static inline double num_share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static inline double num_ratio(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/* Checked arithmetic for sizes read from a file: false when the result would wrap. */
static inline bool num_mul(size_t a, size_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

/* Sums and products of counts: INT64_MAX when they do not fit. */
static inline int64_t num_most_sum(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static inline int64_t num_most_product(int64_t a, int64_t b)
{
    int64_t product;

    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* Times that are read lie in this range, 1933 to 2116 on the clock of the world, and lengths as
 * well: differences of two times, and of sums of two, fit. */
#define NANOS_EARLIEST (-((nanos)1 << 60))
#define NANOS_LATEST   ((nanos)1 << 62)

static inline bool nanos_are_real(nanos t)
{
    return t >= NANOS_EARLIEST && t <= NANOS_LATEST;
}

/* The whole number below a real one in absolute value, at most 2^62; 0 for NAN. The only way from a
 * double to a time: a cast of what does not fit is undefined. */
static inline nanos nanos_of(double x)
{
    return x >= 0x1p62 ? NANOS_LATEST : x <= -0x1p62 ? -NANOS_LATEST : isnan(x) ? 0 : (int64_t)x;
}

/* The same for counts and bytes, at the ends of their type. */
static inline int64_t num_i64_of(double x)
{
    return x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : isnan(x) ? 0 : (int64_t)x;
}

static inline uint64_t num_u64_of(double x)
{
    return x >= 0x1p64 ? UINT64_MAX : x > 0 ? (uint64_t)x : 0;
}

static inline uint32_t num_u32_of(double x)
{
    return x >= 0x1p32 ? UINT32_MAX : x > 0 ? (uint32_t)x : 0;
}

/* Sums and differences of times clamp at the ends instead of wrapping. */
static inline nanos nanos_add(nanos a, nanos b)
{
    nanos sum;

    if (__builtin_add_overflow(a, b, &sum))
        return b > 0 ? INT64_MAX : INT64_MIN;
    return sum;
}

static inline nanos nanos_sub(nanos a, nanos b)
{
    nanos difference;

    if (__builtin_sub_overflow(a, b, &difference))
        return b < 0 ? INT64_MAX : INT64_MIN;
    return difference;
}

/* A float by its bits, and its bits. */
static inline float num_float_of_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline uint32_t num_bits_of_float(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

#endif
