/* Digits to numbers and back, eight at a time where texts are long enough. */
#include "base/text/num.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/text/c_locale.h"
#include "base/text/char.h"

/* Adds a digit to `value`; false when it no longer fits. */
static bool push_digit(uint64_t *value, int digit)
{
    return !__builtin_mul_overflow(*value, (uint64_t)10, value) &&
           !__builtin_add_overflow(*value, (uint64_t)digit, value);
}

/* A decimal number taken apart: digits, where the point stands among them, the sign. */
struct decimal {
    const char *digits; /* may contain one '.' at `point` */
    size_t n;           /* characters of `digits` */
    size_t point;       /* index of the '.', or n */
    int64_t exponent;
    bool negative;
};

static bool read_exponent(struct str s, size_t at, int64_t *out)
{
    bool negative = false;
    int64_t value = 0;

    if (at < s.n && (s.at[at] == '+' || s.at[at] == '-'))
        negative = s.at[at++] == '-';
    if (at == s.n)
        return false;
    for (; at < s.n; at++) {
        if (!char_is_digit(s.at[at]))
            return false;
        /* Past any number of digits a text can have, so that "0.00...1e99" stays exact. */
        if (value < 1000000000000000)
            value = value * 10 + (s.at[at] - '0');
    }
    *out = negative ? -value : value;
    return true;
}

static bool split_decimal(struct str s, struct decimal *d)
{
    size_t at = 0, digits = 0;

    *d = (struct decimal){0};
    if (s.n == 0)
        return false;
    if (at < s.n && (s.at[at] == '+' || s.at[at] == '-'))
        d->negative = s.at[at++] == '-';
    d->digits = s.at + at;
    size_t from = at;
    d->point = SIZE_MAX;
    for (; at < s.n; at++) {
        if (char_is_digit(s.at[at]))
            digits++;
        else if (s.at[at] == '.' && d->point == SIZE_MAX)
            d->point = at - from;
        else
            break;
    }
    d->n = at - from;
    if (d->point == SIZE_MAX)
        d->point = d->n;
    if (digits == 0)
        return false;
    if (at == s.n)
        return true;
    return (s.at[at] == 'e' || s.at[at] == 'E') && read_exponent(s, at + 1, &d->exponent);
}

/* value * 10^shift as a whole number, the first dropped digit rounding half up. */
static bool to_integer(const struct decimal *d, int64_t shift, nanos *out)
{
    /* `left` digits stand before the point once the number is scaled. */
    int64_t left = (int64_t)d->point + d->exponent + shift;
    uint64_t value = 0;

    for (size_t i = 0; i < d->n; i++) {
        if (i == d->point)
            continue;
        int digit = d->digits[i] - '0';
        if (left == 0 && digit >= 5 && __builtin_add_overflow(value, (uint64_t)1, &value))
            return false;
        if (left <= 0)
            break;
        if (!push_digit(&value, digit))
            return false;
        left--;
    }
    for (; left > 0 && value > 0; left--)
        if (!push_digit(&value, 0))
            return false;
    if (value > (uint64_t)INT64_MAX + d->negative)
        return false;
    *out = d->negative ? (nanos)(0 - value) : (nanos)value;
    return true;
}

static bool scaled(struct str text, int64_t shift, nanos *out)
{
    struct decimal d;

    text = str_trim(text);
    if (text.n >= 2 && text.at[0] == '"' && text.at[text.n - 1] == '"')
        text = str_trim(str_part(text, 1, text.n - 2));
    return split_decimal(text, &d) && to_integer(&d, shift, out);
}

/*
 * The form nearly every profiler row has: up to 15 or 16 digits, a point, three digits, maybe a
 * trailing tab. Returns false for anything else, which then takes the general way.
 */
static bool plain_us(struct str s, nanos *out)
{
    uint64_t value = 0, eight;

    if (s.n == 0)
        return false;
    const char *p = s.at, *end = s.at + s.n;
    for (; end - p >= 8 && num_eight(p, &eight); p += 8)
        value = value * 100000000 + eight;
    while (p < end && char_is_digit(*p))
        value = value * 10 + (uint64_t)(*p++ - '0');
    size_t whole = (size_t)(p - s.at);
    if (whole == 0 || whole > 16 || end - p < 4 || *p != '.')
        return false;
    if (!char_is_digit(p[1]) || !char_is_digit(p[2]) || !char_is_digit(p[3]))
        return false;
    if (end - p > 4 && !(end - p == 5 && p[4] == '\t'))
        return false;
    value = value * 1000 + (uint64_t)((p[1] - '0') * 100 + (p[2] - '0') * 10 + (p[3] - '0'));
    if (value > (uint64_t)INT64_MAX)
        return false;
    *out = (nanos)value;
    return true;
}

bool num_us(struct str text, nanos *out)
{
    return text.n > 0 && (plain_us(text, out) || scaled(text, 3, out));
}

/* 16 digits, a point, three digits and no further one: microseconds since 1970. */
static inline const char *long_us(const char *at, nanos *out)
{
    uint64_t high, low;

    if (at[16] != '.' || !num_eight(at, &high) || !num_eight(at + 8, &low) ||
        !char_is_digit(at[17]) || !char_is_digit(at[18]) || !char_is_digit(at[19]) ||
        char_is_digit(at[20]))
        return NULL;
    uint64_t us = high * 100000000 + low;
    uint64_t ns = us * 1000 + (uint64_t)((at[17] - '0') * 100 + (at[18] - '0') * 10 + at[19] - '0');
    if (ns > (uint64_t)INT64_MAX)
        return NULL;
    *out = (nanos)ns;
    return at + 20;
}

/* The top bit of every byte that is not 0 to 9. */
static inline uint64_t not_digits(uint64_t word)
{
    const uint64_t top = UINT64_C(0x8080808080808080);

    return (((word & ~top) + UINT64_C(0x7676767676767676)) | word) & top;
}

const char *num_us_at(const char *at, nanos *out)
{
    static const uint32_t power[] = {1, 10, 100, 1000};
    uint64_t word;

    memcpy(&word, at, sizeof(word));
    word = le64toh(word) ^ UINT64_C(0x3030303030303030); /* digits are 0 to 9 now */
    uint64_t ends = not_digits(word);
    if (ends == 0)
        return long_us(at, out);
    unsigned whole = (unsigned)__builtin_ctzll(ends) / 8, decimals = 0, n = whole;
    if (whole == 0)
        return NULL;
    uint64_t digits = word & (((uint64_t)1 << 8 * whole) - 1);
    if (at[whole] == '.') {
        ends &= ends - 1;
        if (ends == 0)
            return NULL;
        n = (unsigned)__builtin_ctzll(ends) / 8;
        decimals = n - whole - 1;
        if (decimals == 0 || decimals > 3)
            return NULL;
        /* The decimals move over the point. */
        uint64_t rest = word & (((uint64_t)1 << 8 * n) - 1);
        digits |= rest >> 8 * (whole + 1) << 8 * whole;
    }
    digits <<= 8 * (8 - whole - decimals);
    *out = (nanos)(num_join_eight(digits) * power[3 - decimals]);
    return at + n;
}

bool num_ms(struct str text, nanos *out)
{
    return scaled(text, 6, out);
}

bool num_ns(struct str text, nanos *out)
{
    return scaled(text, 0, out);
}

/* Up to seven bytes as a word, the first one the lowest byte. */
static inline uint64_t short_word(const char *p, size_t n)
{
    uint32_t low, high;
    uint16_t pair, last;

    if (n >= 4) { /* the two halves overlap and agree there */
        memcpy(&low, p, 4);
        memcpy(&high, p + n - 4, 4);
        return le32toh(low) | (uint64_t)le32toh(high) << 8 * (n - 4);
    }
    if (n == 1)
        return (unsigned char)*p;
    memcpy(&pair, p, 2);
    memcpy(&last, p + n - 2, 2);
    return (uint64_t)le16toh(pair) | (uint64_t)le16toh(last) << 8 * (n - 2);
}

enum num_kind num_short(struct str text, int64_t *whole, double *real)
{
    static const double power[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};

    if (text.n == 0 || text.n > 7)
        return NUM_OTHER;
    unsigned n = (unsigned)text.n;
    uint64_t word = short_word(text.at, n) << 8 * (8 - n); /* the last digit is the highest byte */
    word ^= UINT64_C(0x3030303030303030) << 8 * (8 - n);   /* digits are 0 to 9 now */
    uint64_t others = not_digits(word);
    if (others == 0) {
        *whole = (int64_t)num_join_eight(word);
        return NUM_WHOLE;
    }
    unsigned before = (unsigned)__builtin_ctzll(others) / 8, decimals = 7 - before;
    if ((others & (others - 1)) != 0 || decimals == 0 || before == 8 - n ||
        text.at[n - 1 - decimals] != '.')
        return NUM_OTHER;
    /* The digits before the point move over it. */
    uint64_t digits = word & (((uint64_t)1 << 8 * before) - 1);
    word = (word >> 8 * (before + 1) << 8 * (before + 1)) | digits << 8;
    *real = (double)num_join_eight(word) / power[decimals];
    return NUM_REAL;
}

/* Digits and nothing else, at least one and few enough that they cannot overflow. */
static bool plain_u64(struct str s, uint64_t *out)
{
    static const uint32_t power[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    const uint64_t high = UINT64_C(0xf0f0f0f0f0f0f0f0);
    const char *p = s.at;
    size_t left = s.n;
    uint64_t value = 0, eight;

    for (; left >= 8; left -= 8, p += 8) {
        if (!num_eight(p, &eight))
            return false;
        value = value * 100000000 + eight;
    }
    if (left > 0) {
        uint64_t word = short_word(p, left), ones = ((uint64_t)1 << 8 * left) - 1;
        word ^= UINT64_C(0x3030303030303030) & ones; /* digits are 0 to 9 now */
        if ((word & high) != 0 || ((word + (UINT64_C(0x0606060606060606) & ones)) & high) != 0)
            return false;
        value = value * power[left] + num_join_eight(word << 8 * (8 - left));
    }
    *out = value;
    return true;
}

bool num_u64(struct str text, uint64_t *out)
{
    uint64_t value = 0;

    if (text.n > 0 && text.n <= 19 && plain_u64(text, &value)) {
        *out = value;
        return true;
    }
    struct str s = str_trim(text);
    value = 0;

    if (s.n > 0 && s.at[0] == '+')
        s = str_part(s, 1, s.n);
    if (s.n == 0)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!char_is_digit(s.at[i]) || !push_digit(&value, s.at[i] - '0'))
            return false;
    *out = value;
    return true;
}

bool num_hex(struct str text, uint64_t *out)
{
    uint64_t value = 0;

    if (str_starts(text, S("0x")) || str_starts(text, S("0X")))
        text = str_part(text, 2, text.n);
    if (text.n == 0 || text.n > 16)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        int digit = char_hex(text.at[i]);
        if (digit < 0)
            return false;
        value = value << 4 | (uint64_t)digit;
    }
    *out = value;
    return true;
}

bool num_i64(struct str text, int64_t *out)
{
    uint64_t value;

    if (text.n > 0 && text.n <= 18 && plain_u64(text, &value)) {
        *out = (int64_t)value;
        return true;
    }
    struct str s = str_trim(text);
    bool negative = s.n > 0 && s.at[0] == '-';

    if (negative) {
        s = str_part(s, 1, s.n);
        if (s.n == 0 || !char_is_digit(s.at[0]))
            return false;
    }
    if (!num_u64(s, &value) || value > (uint64_t)INT64_MAX + negative)
        return false;
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

/* 15 digits and powers of ten to 22 are exact in a double, so one rounding is left (Clinger). */
static bool simple_f64(const struct decimal *d, double *out)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    uint64_t digits = 0;

    if (d->n > 16)
        return false;
    for (size_t i = 0; i < d->n; i++)
        if (i != d->point)
            digits = digits * 10 + (uint64_t)(d->digits[i] - '0');
    int64_t scale = d->exponent - (int64_t)(d->point < d->n ? d->n - d->point - 1 : 0);
    if (digits > 999999999999999 || scale < -22 || scale > 22)
        return false;
    double value = scale < 0 ? (double)digits / power[-scale] : (double)digits * power[scale];
    *out = d->negative ? -value : value;
    return true;
}

#if LDBL_MANT_DIG == 64
/* The same with the 64 digits of an extended double, where 19 digits and powers of ten to 27 are
 * exact. The quotient is rounded to 64 bits and then to 53; only when the 11 bits that go stand
 * exactly half way can the two roundings differ from one. */
static bool long_f64(const struct decimal *d, double *out)
{
    static const long double power[] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,
                                        1e7L,  1e8L,  1e9L,  1e10L, 1e11L, 1e12L, 1e13L,
                                        1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L,
                                        1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
    uint64_t digits = 0, bits;

    for (size_t i = 0; i < d->n; i++)
        if (i != d->point && !push_digit(&digits, d->digits[i] - '0'))
            return false;
    int64_t scale = d->exponent - (int64_t)(d->point < d->n ? d->n - d->point - 1 : 0);
    if (scale < -27 || scale > 27)
        return false;
    long double value =
        scale < 0 ? (long double)digits / power[-scale] : (long double)digits * power[scale];
    memcpy(&bits, &value, sizeof(bits)); /* the lower 8 bytes are the digits */
    if ((bits & 0x7ff) == 0x400)
        return false;
    *out = d->negative ? -(double)value : (double)value;
    return true;
}
#else
static bool long_f64(const struct decimal *d, double *out)
{
    (void)d, (void)out;
    return false;
}
#endif

bool num_f64(struct str text, double *out)
{
    struct str s = str_trim(text);
    struct decimal d;
    char small[128];

    if (!split_decimal(s, &d))
        return false;
    if (simple_f64(&d, out) || long_f64(&d, out))
        return true;
    /* strtod wants a NUL at the end; digits without end are legal and rare. */
    char *copy = s.n < sizeof(small) ? small : mem_grow(NULL, 1, s.n + 1);
    memcpy(copy, s.at, s.n);
    copy[s.n] = '\0';
    double value = strtod_l(copy, NULL, c_locale());
    if (copy != small)
        mem_free(copy);
    if (!isfinite(value))
        return false;
    *out = value;
    return true;
}

bool num_is_missing(struct str text)
{
    static const struct str spellings[] = {
        S_INIT("N/A"), S_INIT("n/a"), S_INIT("NA"), S_INIT("None"), S_INIT("null"), S_INIT("-"),
    };
    struct str s = str_trim(text);

    if (s.n == 0)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(spellings); i++)
        if (str_equal(s, spellings[i]))
            return true;
    return false;
}

size_t num_print_us(char *buf, nanos ns)
{
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    int n = snprintf(buf, NUM_TEXT, "%s%llu.%03llu", ns < 0 ? "-" : "",
                     (unsigned long long)(size / 1000), (unsigned long long)(size % 1000));

    return (size_t)n;
}

size_t num_print_ms(char *buf, nanos ns)
{
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    int n = snprintf(buf, NUM_TEXT, "%s%llu.%06llu", ns < 0 ? "-" : "",
                     (unsigned long long)(size / 1000000), (unsigned long long)(size % 1000000));

    while (buf[n - 1] == '0' && buf[n - 2] != '.')
        n--;
    return (size_t)n;
}

size_t num_print_u64(char *buf, uint64_t value)
{
    char digits[NUM_TEXT];
    size_t n = 0;

    do
        digits[n++] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    for (size_t i = 0; i < n; i++)
        buf[i] = digits[n - 1 - i];
    buf[n] = '\0';
    return n;
}

/* A value of few decimals that %.15g prints without an exponent; 0 for any other. A whole number
 * below 1e15 over a power of ten is rounded once, so when the division gives the value back, its
 * digits are those that %.15g finds: no two decimals of 15 digits share a double. */
static size_t print_short(char *buf, double value)
{
    static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    char digits[NUM_TEXT];
    double size = fabs(value);
    size_t decimals = 0, at = 0;

    if (!(size >= 1e-4 && size < 1e15))
        return 0;
    while (rint(size * powers[decimals]) / powers[decimals] != size)
        if (++decimals == ARRAY_LEN(powers) || size * powers[decimals] >= 1e15)
            return 0;
    size_t n = num_print_u64(digits, (uint64_t)rint(size * powers[decimals]));
    if (value < 0)
        buf[at++] = '-';
    for (size_t whole = n > decimals ? n - decimals : 0, i = 0; i < whole; i++)
        buf[at++] = digits[i];
    if (n <= decimals)
        buf[at++] = '0';
    if (decimals > 0)
        buf[at++] = '.';
    for (size_t zeros = n; zeros < decimals; zeros++)
        buf[at++] = '0';
    for (size_t i = n > decimals ? n - decimals : 0; i < n; i++)
        buf[at++] = digits[i];
    buf[at] = '\0';
    return at;
}

size_t num_print_f64(char *buf, double value)
{
    int n = 0;
    size_t n_short = print_short(buf, value);

    if (n_short > 0)
        return n_short;
    if (!isfinite(value))
        return (size_t)snprintf(buf, NUM_TEXT, "null");
    locale_t before = c_locale_begin();
    /* %g drops zeros at the end, so 15 digits, which always survive the way back, are where the
     * search starts; below the normal range there are fewer. */
    for (int digits = fabs(value) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        n = snprintf(buf, NUM_TEXT, "%.*g", digits, value);
        if (strtod(buf, NULL) == value)
            break;
    }
    c_locale_end(before);
    return (size_t)n;
}

size_t num_print_point(char *buf, double value)
{
    if (!isfinite(value))
        return (size_t)snprintf(buf, NUM_TEXT, "%s%s", signbit(value) && !isnan(value) ? "-" : "",
                                isnan(value) ? "nan" : "inf");
    size_t n = num_print_f64(buf, value);
    bool is_whole = memchr(buf, '.', n) == NULL && memchr(buf, 'e', n) == NULL;
    if (is_whole)
        memcpy(buf + n, ".0", 2);
    n += is_whole ? 2 : 0;
    buf[n] = '\0';
    return n;
}

double num_round(double value, int decimals)
{
    char text[448]; /* the largest double has 309 digits */
    double rounded;

    int n = snprintf(text, sizeof(text), "%.*f", decimals, value);
    return isfinite(value) && num_f64((struct str){text, (size_t)n}, &rounded) ? rounded : value;
}
