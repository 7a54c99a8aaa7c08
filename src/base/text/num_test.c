#include "base/text/num.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/testing_locale.h"

static uint64_t seed = 1;

/* xorshift: the same numbers on every machine. */
static uint64_t num_draw(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % below;
}

struct us_case {
    struct str text;
    nanos ns;
};

#define US(text, ns)                                                                               \
    {                                                                                              \
        S_INIT(text), ns                                                                           \
    }

static void check_us(const struct us_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        nanos got = -1;
        if (!num_us(cases[i].text, &got) || got != cases[i].ns)
            fail_msg("\"%.*s\": want %lld, got %lld", STR_ARGS(cases[i].text),
                     (long long)cases[i].ns, (long long)got);
    }
}

TEST(microseconds_with_three_decimals_are_exact)
{
    static const struct us_case cases[] = {
        US("1712195495519695.812", 1712195495519695812),
        US("1736408883704643.212", 1736408883704643212),
        US("9007199254740993.001", 9007199254740993001), /* past 2^53 us */
        US("0.001", 1),
        US("0.000", 0),
        US("12.345", 12345),
        US("1712195495519695", 1712195495519695000),
        US("400.2", 400200),
        US("400.25", 400250),
        US("7", 7000),
        US(".5", 500),
        US("5.", 5000),
        US("00012.5", 12500),
        US("9223372036854775.807", INT64_MAX),
        US("-9223372036854775.808", INT64_MIN),
    };

    check_us(cases, ARRAY_LEN(cases));
}

TEST(the_fourth_decimal_rounds_and_later_ones_do_not)
{
    static const struct us_case cases[] = {
        US("496.8508", 496851),         /* .8508: the 8 rounds up */
        US("840.07675", 840077),        /* .07675: 7 rounds up */
        US("79089.52021875", 79089520), /* .52021875: 2 rounds down */
        US("0.0005", 1),
        US("0.0004", 0),
        US("0.00049999", 0), /* only the fourth digit counts */
        US("0.0009999", 1),
        US("0.9995", 1000),
        US("-0.0005", -1), /* away from zero */
        US("-0.0004", 0),
        US("-1.0015", -1002),
        US("1712195495519695.8125", 1712195495519695813),
    };

    check_us(cases, ARRAY_LEN(cases));
}

TEST(exponents_signs_blanks_tabs_and_quotes_are_read)
{
    static const struct us_case cases[] = {
        US("2e-05", 0), /* 0.00002 us is 0.02 ns */
        US("5e-4", 1),
        US("1.7e15", 1700000000000000000),
        US("1.7E+15", 1700000000000000000),
        US("1.712195495519695812e15", 1712195495519695812),
        US("123456e-3", 123456),
        US("0e999999999999", 0),
        US("1e-999999999999", 0),
        US("+1.5", 1500),
        US("-1.5", -1500),
        US("  1.5  ", 1500),
        US("1736408883704643.212\t", 1736408883704643212),
        US("1.212\t\t", 1212),
        US("\t1.212", 1212),
        US("\"1736413971558972.912\t\"", 1736413971558972912),
        US(" \" 1.5 \" ", 1500),
        US("1.500\r\n", 1500),
    };

    check_us(cases, ARRAY_LEN(cases));
}

TEST(what_is_no_number_leaves_the_result_alone)
{
    static const struct str bad[] = {
        S_INIT(""),      S_INIT(" "),     S_INIT("."),     S_INIT("-"),        S_INIT("+"),
        S_INIT("N/A"),   S_INIT("null"),  S_INIT("1.2.3"), S_INIT("1,5"),      S_INIT("1e"),
        S_INIT("1e+"),   S_INIT("e5"),    S_INIT("--1"),   S_INIT("+-1"),      S_INIT("1 2"),
        S_INIT("0x10"),  S_INIT("inf"),   S_INIT("nan"),   S_INIT("1.5us"),    S_INIT("\"\"1\"\""),
        S_INIT("\"1.5"), S_INIT("1.5\""), S_INIT("\""),    S_INIT("1.234x"),   S_INIT("1.23x"),
        S_INIT("1.5\0"), S_INIT("1\0.5"), S_INIT("1e5.0"), S_INIT("\xd9\xa1"), {NULL, 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        nanos ns = 42;
        if (num_us(bad[i], &ns) || ns != 42)
            fail_msg("\"%.*s\" was read as %lld", STR_ARGS(bad[i]), (long long)ns);
    }
}

TEST(times_that_do_not_fit_are_refused)
{
    static const struct str bad[] = {
        S_INIT("9223372036854775.808"),
        S_INIT("9223372036854775.8075"),
        S_INIT("-9223372036854775.809"),
        S_INIT("9999999999999999.999"),
        S_INIT("18446744073709551.615"),
        S_INIT("18446744073709551.6155"), /* 2^64 - 1, rounded */
        S_INIT("18446744073709551.616"),
        S_INIT("36893488147419103.232"), /* 2^65 */
        S_INIT("99999999999999999999.999"),
        S_INIT("1e16"),
        S_INIT("1e999999999999"),
        S_INIT("1e99999999999999999999999999"),
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        nanos ns = 42;
        if (num_us(bad[i], &ns) || ns != 42)
            fail_msg("\"%.*s\" was read as %lld", STR_ARGS(bad[i]), (long long)ns);
    }
}

TEST(other_units_shift_the_point)
{
    nanos ns = 0;

    assert_true(num_ms(S("1.234567"), &ns));
    assert_int_equal(ns, 1234567);
    assert_true(num_ms(S("1.2345675"), &ns));
    assert_int_equal(ns, 1234568);
    assert_true(num_ns(S("1712195495519695812"), &ns));
    assert_int_equal(ns, 1712195495519695812);
    assert_true(num_ns(S("1.5"), &ns));
    assert_int_equal(ns, 2);
    assert_false(num_ns(S("18446744073709551615.5"), &ns)); /* would wrap to 0 */
    assert_int_equal(ns, 2);
}

TEST(any_number_of_digits_is_exact)
{
    enum { ZEROS = 200000 };
    char *text = mem_grow(NULL, 1, ZEROS + 32);
    nanos ns = 0;

    /* 0.000...0001 with the point moved back behind it is 1.25 us. */
    memset(text, '0', ZEROS);
    text[1] = '.';
    int n = ZEROS + sprintf(text + ZEROS, "125e%d", ZEROS - 1);
    assert_true(num_us((struct str){text, (size_t)n}, &ns));
    assert_int_equal(ns, 1250);
    mem_free(text);
}

/* The same rule computed another way: all digits as one 128-bit integer, then one division. */
static bool model_us(unsigned __int128 digits, int scale, bool negative, nanos *out)
{
    unsigned __int128 limit = (unsigned __int128)INT64_MAX + negative;

    scale += 3;
    for (; scale > 0 && digits > 0; scale--) {
        if (digits > limit)
            return false;
        digits *= 10;
    }
    for (; scale < -1 && digits > 0; scale++)
        digits /= 10;
    if (scale < 0)
        digits = digits / 10 + (digits % 10 >= 5);
    if (digits > limit)
        return false;
    *out = negative ? (nanos)(0 - (uint64_t)digits) : (nanos)digits;
    return true;
}

TEST(random_decimals_agree_with_big_integers)
{
    for (int round = 0; round < 20000; round++) {
        char text[80];
        size_t n = 0;
        unsigned __int128 digits = 0;
        int whole = (int)num_draw(20), fraction = (int)num_draw(18), exponent = 0;
        bool negative = num_draw(4) == 0;

        if (whole + fraction == 0)
            whole = 1;
        if (negative)
            text[n++] = '-';
        for (int i = 0; i < whole + fraction; i++) {
            if (i == whole)
                text[n++] = '.';
            int digit =
                num_draw(3) == 0 ? (int)num_draw(2) * 9 : (int)num_draw(10); /* many 0s and 9s */
            digits = digits * 10 + (unsigned)digit;
            text[n++] = (char)('0' + digit);
        }
        if (num_draw(3) == 0) {
            exponent = (int)num_draw(41) - 20;
            n += (size_t)sprintf(text + n, "%c%s%d", num_draw(2) ? 'e' : 'E',
                                 exponent >= 0 && num_draw(2) ? "+" : "", exponent);
        }
        nanos want = 42, got = 42;
        bool fits = model_us(digits, exponent - fraction, negative, &want);
        if (num_us((struct str){text, n}, &got) != fits || got != want)
            fail_msg("\"%.*s\": want %lld (%d), got %lld", (int)n, text, (long long)want, fits,
                     (long long)got);
    }
}

TEST(printed_times_read_back)
{
    static const struct us_case cases[] = {
        US("0.000", 0),
        US("0.001", 1),
        US("-0.001", -1),
        US("1712195495519695.812", 1712195495519695812),
        US("-1.500", -1500),
        US("9223372036854775.807", INT64_MAX),
        US("12345.678", 12345678),
        US("-9223372036854775.808", INT64_MIN),
    };
    char buf[NUM_TEXT];

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t n = num_print_us(buf, cases[i].ns);
        assert_true(str_equal((struct str){buf, n}, cases[i].text));
    }
    for (int i = 0; i < 20000; i++) {
        nanos ns = (nanos)(num_draw(UINT64_MAX) >> num_draw(64)), back = 0;
        if (num_draw(2))
            ns = -ns;
        size_t n = num_print_us(buf, ns);
        assert_true(n < NUM_TEXT);
        assert_true(num_us((struct str){buf, n}, &back));
        assert_int_equal(back, ns);
    }
}

TEST(whole_numbers_reach_their_ends_and_no_further)
{
    int64_t i = 42;
    uint64_t u = 42;

    assert_true(num_i64(S(" -9223372036854775808 "), &i));
    assert_true(i == INT64_MIN);
    assert_true(num_i64(S("9223372036854775807"), &i));
    assert_true(i == INT64_MAX);
    assert_true(num_i64(S("+7"), &i));
    assert_int_equal(i, 7);
    assert_true(num_i64(S("-0"), &i));
    assert_int_equal(i, 0);
    assert_true(num_u64(S("18446744073709551615\t"), &u));
    assert_true(u == UINT64_MAX);
    assert_true(num_u64(S("007"), &u));
    assert_int_equal(u, 7);

    static const struct str bad[] = {
        S_INIT(""),
        S_INIT("-"),
        S_INIT("+"),
        S_INIT("1.0"),
        S_INIT("1e3"),
        S_INIT("- 1"),
        S_INIT("-+1"),
        S_INIT("+-1"),
        S_INIT("0x1"),
        S_INIT("1 1"),
        S_INIT("--1"),
        S_INIT("++1"),
        S_INIT("9223372036854775808"),
        S_INIT("-9223372036854775809"),
        {NULL, 0},
    };
    for (size_t k = 0; k < ARRAY_LEN(bad); k++) {
        i = 42;
        if (num_i64(bad[k], &i) || i != 42)
            fail_msg("\"%.*s\" was read", STR_ARGS(bad[k]));
    }
    u = 42;
    assert_false(num_u64(S("-1"), &u));
    assert_false(num_u64(S("18446744073709551616"), &u));
    assert_int_equal(u, 42);
}

static void check_f64(const char *text, size_t n)
{
    double want = 0, got = 42;
    char *end;

    want = strtod(text, &end);
    bool is_number = n > 0 && end == text + n && isfinite(want);
    if (num_f64((struct str){text, n}, &got) != is_number)
        fail_msg("\"%s\" is %sa number", text, is_number ? "" : "not ");
    if (!is_number)
        want = 42;
    if (want != got || signbit(want) != signbit(got))
        fail_msg("\"%s\": want %.17g, got %.17g", text, want, got);
}

TEST(doubles_agree_with_the_c_library)
{
    static const char *const texts[] = {
        "0",
        "-0",
        "-0.0",
        "0.1",
        "1e22",
        "1e23",
        "1e-22",
        "1e-23",
        "1e308",
        "1e309",
        "-1e309",
        "5e-324",
        "2e-324",
        "1e-400",
        "123456789012345",
        "1234567890123456",
        "9007199254740993",
        "0.1e1",
        ".5",
        "5.",
        "1.e5",
        ".e5",
        "2.2250738585072011e-308",
        "1.7976931348623159e308",
        "999999999999999e22",
        "1e+5",
        "",
        "000000000000000000001",
        "0.00000000000000000000000000001",
        "1e00000000000000000001",
        "179769313486231580793728971405301e276",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        check_f64(texts[i], strlen(texts[i]));
    for (int round = 0; round < 50000; round++) {
        /* Mostly well-formed: 30 characters out of a bag with many digits. */
        static const char bag[] = "01234567890123456789012345678901234567899.......eE+-";
        char text[32];
        size_t n = num_draw(30) + 1;
        for (size_t i = 0; i < n; i++)
            text[i] = bag[num_draw(sizeof(bag) - 1)];
        text[n] = '\0';
        check_f64(text, n);
    }
    for (int round = 0; round < 20000; round++) {
        char text[64];
        int n =
            sprintf(text, "%llu.%llue%d", (unsigned long long)num_draw(UINT64_MAX) >> num_draw(64),
                    (unsigned long long)num_draw(1000000000), (int)num_draw(700) - 350);
        check_f64(text, (size_t)n);
    }
}

TEST(doubles_may_have_digits_without_end)
{
    char text[2000];
    double value = 0;

    memset(text, '0', sizeof(text));
    memcpy(text, "0.1", 3);
    assert_true(num_f64((struct str){text, sizeof(text)}, &value));
    assert_true(value == 0.1);
}

TEST(only_finite_decimal_numbers_are_doubles)
{
    static const struct str bad[] = {
        S_INIT("nan"),
        S_INIT("inf"),
        S_INIT("infinity"),
        S_INIT("0x1p3"),
        S_INIT("1,5"),
        S_INIT("1 "
               "2"),
        S_INIT("1e5x"),
        S_INIT("1d5"),
        S_INIT("1\0"),
        {NULL, 0},
    };
    double value = 42;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (num_f64(bad[i], &value) || value != 42)
            fail_msg("\"%.*s\" was read", STR_ARGS(bad[i]));
    assert_true(num_f64(S(" 1.5\t"), &value));
    assert_true(value == 1.5);
}

TEST(a_locale_with_a_decimal_comma_changes_nothing)
{
    char buf[NUM_TEXT];
    double value = 0;

    locale_comma_begin();
    bool is_read = num_f64(S("1.2345678901234567890"), &value);
    size_t n = num_print_f64(buf, 0.5);
    locale_comma_end();
    assert_true(is_read && value == 1.2345678901234567890);
    assert_str(((struct str){buf, n}), "0.5");
}

TEST(doubles_print_short_and_read_back)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {0.1, "0.1"},
        {1e22, "1e+22"},
        {100, "100"},
        {1.0 / 3, "0.3333333333333333"},
        {5e-324, "5e-324"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {0.1 + 0.2, "0.30000000000000004"},
        {INFINITY, "null"},
        {-INFINITY, "null"},
        {NAN, "null"},
    };
    char buf[NUM_TEXT];

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t n = num_print_f64(buf, cases[i].value);
        assert_int_equal(n, strlen(cases[i].text));
        assert_string_equal(buf, cases[i].text);
    }
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = num_draw(UINT64_MAX);
        double value, back = 0;
        memcpy(&value, &bits, sizeof(value));
        if (!isfinite(value))
            continue;
        size_t n = num_print_f64(buf, value);
        assert_true(n < NUM_TEXT);
        assert_true(num_f64((struct str){buf, n}, &back));
        assert_memory_equal(&back, &value, sizeof(value));
    }
}

/* Few digits take a way of their own: the text is that of %.15g. */
TEST(short_decimals_print_as_with_15_digits)
{
    static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11};
    char buf[NUM_TEXT], expected[NUM_TEXT];

    for (int i = 0; i < 50000; i++) {
        double whole = (double)num_draw(i % 3 == 0   ? 1000
                                        : i % 3 == 1 ? 10000000
                                                     : 9999999999999999);
        double value = whole / powers[num_draw(ARRAY_LEN(powers))] * (i % 2 == 0 ? 1 : -1);
        snprintf(expected, sizeof(expected), "%.15g", value);
        if (strtod(expected, NULL) != value)
            continue;
        assert_int_equal(num_print_f64(buf, value), strlen(expected));
        assert_string_equal(buf, expected);
    }
    assert_int_equal(num_print_u64(buf, UINT64_MAX), 20);
    assert_string_equal(buf, "18446744073709551615");
    assert_int_equal(num_print_u64(buf, 0), 1);
    assert_string_equal(buf, "0");
}

TEST(the_spellings_of_no_value_are_known)
{
    static const struct str missing[] = {
        S_INIT(""),  S_INIT("N/A"),  S_INIT("n/a"), S_INIT("NA"),    S_INIT("None"),
        S_INIT("-"), S_INIT("null"), S_INIT(" \t"), S_INIT("N/A\t"), {NULL, 0},
    };
    static const struct str present[] = {
        S_INIT("0"), S_INIT("--"), S_INIT("nan"), S_INIT("none"), S_INIT("N/A N/A"), S_INIT("-1"),
    };

    for (size_t i = 0; i < ARRAY_LEN(missing); i++)
        assert_true(num_is_missing(missing[i]));
    for (size_t i = 0; i < ARRAY_LEN(present); i++)
        assert_false(num_is_missing(present[i]));
}

TEST(sizes_and_times_do_not_wrap)
{
    size_t n = 0;

    assert_true(num_mul(SIZE_MAX / 2, 2, &n));
    assert_false(num_mul(SIZE_MAX / 2 + 1, 2, &n));
    assert_true(nanos_add(INT64_MAX, 1) == INT64_MAX);
    assert_true(nanos_add(INT64_MIN, -1) == INT64_MIN);
    assert_true(nanos_sub(INT64_MIN, 1) == INT64_MIN);
    assert_true(nanos_sub(INT64_MAX, -1) == INT64_MAX);
    assert_true(nanos_sub(0, INT64_MIN) == INT64_MAX);
    assert_int_equal(nanos_add(2, 3), 5);
    assert_int_equal(nanos_sub(2, 3), -1);
}

TEST(real_numbers_become_times_within_their_range)
{
    assert_true(nanos_of(1.9) == 1 && nanos_of(-1.9) == -1 && nanos_of(NAN) == 0);
    assert_true(nanos_of(1e300) == NANOS_LATEST && nanos_of(-INFINITY) == -NANOS_LATEST);
    assert_true(nanos_of(0x1p62) == NANOS_LATEST && nanos_of(0x1p61) == (nanos)1 << 61);
    volatile double ends[] = {0x1p63, 0x1p64, 0x1p32}; /* not for the analyser to follow */

    assert_true(num_i64_of(ends[0]) == INT64_MAX && num_i64_of(-0x1p63) == INT64_MIN);
    assert_true(num_i64_of(-1e300) == INT64_MIN && num_i64_of(NAN) == 0 && num_i64_of(-3.5) == -3);
    assert_true(num_u64_of(-1) == 0 && num_u64_of(ends[1]) == UINT64_MAX && num_u64_of(NAN) == 0);
    assert_true(num_u32_of(ends[2]) == UINT32_MAX && num_u32_of(7.9) == 7 && num_u32_of(-2) == 0);
}

TEST(hexadecimal_numbers_have_at_most_sixteen_digits)
{
    uint64_t u = 42;

    assert_true(num_hex(S("0x10f86A80"), &u));
    assert_int_equal(u, 0x10f86a80);
    assert_true(num_hex(S("ffffffffffffffff"), &u));
    assert_true(u == UINT64_MAX);
    assert_false(num_hex(S(""), &u));
    assert_false(num_hex(S("0x"), &u));
    assert_false(num_hex(S("12g"), &u));
    assert_false(num_hex(S("0x10000000000000000"), &u));
}

TEST(the_quick_way_takes_what_it_takes_alike)
{
    static const char *const taken[] = {
        "0",
        "7",
        "1234567",
        "1.8",
        "13.733",
        "0.001",
        "999.9",
        "12.34",
        "1234.5",
        "123.456",
        "0.0",
        "1736412474700001.000",
        "1736412474700001.999",
    };
    static const char *const left[] = {
        "",
        ".5",
        "-1",
        "1.",
        "1.2345",
        "12345678",
        "1234567.8",
        "x",
        "1.x",
        "123456789.1",
        "1..2",
        "1736412474700001.0005",
        "9999999999999999.999",
        "1736412474700001",
        "173641247470000x.000",
    };
    char text[64];
    nanos at, want;

    for (size_t i = 0; i < ARRAY_LEN(taken); i++) {
        memset(text, ',', sizeof(text));
        memcpy(text, taken[i], strlen(taken[i]));
        assert_ptr_equal(num_us_at(text, &at), text + strlen(taken[i]));
        assert_true(num_us(str_of(taken[i]), &want));
        assert_int_equal(at, want);
    }
    for (size_t i = 0; i < ARRAY_LEN(left); i++) {
        memset(text, ',', sizeof(text));
        memcpy(text, left[i], strlen(left[i]));
        assert_null(num_us_at(text, &at));
    }
}

TEST(short_numbers_are_what_the_long_way_makes_of_them)
{
    static const char letters[] = "0123456789012345678901234567890123456789......-+e \xff:/";
    size_t taken[3] = {0};

    for (int i = 0; i < 200000; i++) {
        char text[8];
        struct str s = {text, (size_t)i % 9};
        for (size_t k = 0; k < s.n; k++)
            text[k] = letters[num_draw(sizeof(letters) - 1)];
        int64_t whole = -1, want_whole = -1;
        double real = -1, want_real = -1;
        enum num_kind kind = num_short(s, &whole, &real);
        taken[kind]++;
        bool is_whole = num_i64(s, &want_whole);
        if (kind == NUM_WHOLE) {
            assert_true(is_whole);
            assert_int_equal(whole, want_whole);
        } else if (kind == NUM_REAL) {
            assert_false(is_whole);
            assert_true(num_f64(s, &want_real));
            assert_memory_equal(&real, &want_real, sizeof(real));
        }
    }
    assert_true(taken[NUM_WHOLE] > 10000 && taken[NUM_REAL] > 10000 && taken[NUM_OTHER] > 10000);
    assert_int_equal(num_short(S(".5"), &(int64_t){0}, &(double){0}), NUM_OTHER);
    assert_int_equal(num_short(S("5."), &(int64_t){0}, &(double){0}), NUM_OTHER);
}

static struct str point(double value)
{
    static char buf[NUM_TEXT];

    return (struct str){buf, num_print_point(buf, value)};
}

TEST(ties_go_to_the_even_digit)
{
    /* 200.125 and 2.25 are exact in binary; 2.675 is a little less than it looks. */
    assert_str(point(num_round(200.125, 2)), "200.12");
    assert_str(point(num_round(2.25, 1)), "2.2");
    assert_str(point(num_round(2.35, 1)), "2.4");
    assert_str(point(num_round(2.675, 2)), "2.67");
}

TEST(whole_numbers_keep_one_zero)
{
    assert_str(point(num_round(111, 2)), "111.0");
    assert_str(point(num_round(-100, 1)), "-100.0");
    assert_str(point(0.8761429758935991), "0.8761429758935991");
    assert_str(point(1e300), "1e+300");
}

TEST(what_is_not_finite_has_a_name)
{
    assert_str(point(num_round(INFINITY, 1)), "inf");
    assert_str(point(num_round(-INFINITY, 1)), "-inf");
    assert_str(point(num_round(NAN, 1)), "nan");
}

TEST_MAIN("base/text/num", T(short_numbers_are_what_the_long_way_makes_of_them),
          T(microseconds_with_three_decimals_are_exact),
          T(the_fourth_decimal_rounds_and_later_ones_do_not),
          T(exponents_signs_blanks_tabs_and_quotes_are_read),
          T(what_is_no_number_leaves_the_result_alone), T(times_that_do_not_fit_are_refused),
          T(other_units_shift_the_point), T(any_number_of_digits_is_exact),
          T(random_decimals_agree_with_big_integers), T(printed_times_read_back),
          T(whole_numbers_reach_their_ends_and_no_further), T(doubles_agree_with_the_c_library),
          T(doubles_may_have_digits_without_end), T(only_finite_decimal_numbers_are_doubles),
          T(a_locale_with_a_decimal_comma_changes_nothing), T(doubles_print_short_and_read_back),
          T(short_decimals_print_as_with_15_digits), T(the_spellings_of_no_value_are_known),
          T(sizes_and_times_do_not_wrap), T(real_numbers_become_times_within_their_range),
          T(hexadecimal_numbers_have_at_most_sixteen_digits),
          T(the_quick_way_takes_what_it_takes_alike), T(ties_go_to_the_even_digit),
          T(whole_numbers_keep_one_zero), T(what_is_not_finite_has_a_name))
