#include "kernels/pto/values/arith.h"

#include <float.h>
#include <math.h>

#include "base/str.h"
#include "base/tables/vec.h"
#include "base/testing.h"

static struct pto_number arith_whole(int64_t n)
{
    return (struct pto_number){.v.i = n};
}

static struct pto_number real(double n)
{
    return (struct pto_number){.v.f = n};
}

static int64_t on_ints(enum pto_opcode op, enum pto_dtype t, int64_t a, int64_t b)
{
    struct pto_number x = arith_whole(a), y = arith_whole(b), out = {0}, high = {0};

    assert_int_equal(pto_arith(op, t, t, 0, &x, &y, &x, &out, &high), PTO_ARITH_OK);
    return out.v.i;
}

static double on_floats(enum pto_opcode op, enum pto_dtype t, double a, double b)
{
    struct pto_number x = real(a), y = real(b), out = {0}, high = {0};

    assert_int_equal(pto_arith(op, t, t, 0, &x, &y, &x, &out, &high), PTO_ARITH_OK);
    return out.v.f;
}

static struct pto_number cast(enum pto_opcode op, enum pto_dtype from, enum pto_dtype to,
                              struct pto_number a)
{
    struct pto_number out = {0}, high = {0};

    assert_int_equal(pto_arith(op, from, to, 0, &a, &a, &a, &out, &high), PTO_ARITH_OK);
    return out;
}

static bool compared(enum pto_opcode op, enum pto_dtype t, uint8_t predicate, struct pto_number a,
                     struct pto_number b)
{
    struct pto_number out = {0}, high = {0};

    assert_int_equal(pto_arith(op, t, PTO_I1, predicate, &a, &b, &a, &out, &high), PTO_ARITH_OK);
    return out.v.i != 0;
}

/* Every i8 with every i8, against the same done in wide numbers. */
TEST(bytes_add_multiply_and_shift_as_wide_numbers_cut_to_eight_bits)
{
    for (int a = -128; a < 128; a++) {
        for (int b = -128; b < 128; b++) {
            assert_int_equal(on_ints(PTO_ADDI, PTO_I8, a, b), (int8_t)(a + b));
            assert_int_equal(on_ints(PTO_SUBI, PTO_I8, a, b), (int8_t)(a - b));
            assert_int_equal(on_ints(PTO_MULI, PTO_I8, a, b), (int8_t)(a * b));
            assert_int_equal(on_ints(PTO_ANDI, PTO_I8, a, b), (int8_t)(a & b));
            assert_int_equal(on_ints(PTO_ORI, PTO_I8, a, b), (int8_t)(a | b));
            assert_int_equal(on_ints(PTO_XORI, PTO_I8, a, b), (int8_t)(a ^ b));
            assert_int_equal(on_ints(PTO_MAXSI, PTO_I8, a, b), a > b ? a : b);
            assert_int_equal(on_ints(PTO_MINSI, PTO_I8, a, b), a < b ? a : b);
            uint8_t ua = (uint8_t)a, ub = (uint8_t)b;
            assert_int_equal(on_ints(PTO_MAXUI, PTO_I8, a, b), (int8_t)(ua > ub ? ua : ub));
            assert_int_equal(on_ints(PTO_MINUI, PTO_I8, a, b), (int8_t)(ua < ub ? ua : ub));
            assert_int_equal(on_ints(PTO_SHLI, PTO_I8, a, b),
                             b < 0 || b > 7 ? 0 : (int8_t)(uint8_t)(ua << b));
            assert_int_equal(on_ints(PTO_SHRUI, PTO_I8, a, b),
                             b < 0 || b > 7 ? 0 : (int8_t)(ua >> b));
            assert_int_equal(on_ints(PTO_SHRSI, PTO_I8, a, b), a >> (b < 0 || b > 7 ? 8 : b));
        }
    }
}

TEST(bytes_divide_toward_zero_up_or_down)
{
    for (int a = -128; a < 128; a++) {
        for (int b = -128; b < 128; b++) {
            if (b == 0)
                continue;
            uint8_t ua = (uint8_t)a, ub = (uint8_t)b;
            assert_int_equal(on_ints(PTO_DIVSI, PTO_I8, a, b), (int8_t)(a / b));
            assert_int_equal(on_ints(PTO_REMSI, PTO_I8, a, b), (int8_t)(a % b));
            assert_int_equal(on_ints(PTO_DIVUI, PTO_I8, a, b), (int8_t)(ua / ub));
            assert_int_equal(on_ints(PTO_REMUI, PTO_I8, a, b), (int8_t)(ua % ub));
            assert_int_equal(on_ints(PTO_CEILDIVSI, PTO_I8, a, b),
                             (int8_t)(int)ceil((double)a / b));
            assert_int_equal(on_ints(PTO_FLOORDIVSI, PTO_I8, a, b),
                             (int8_t)(int)floor((double)a / b));
            assert_int_equal(on_ints(PTO_CEILDIVUI, PTO_I8, a, b), (int8_t)((ua + ub - 1) / ub));
        }
    }
}

TEST(bytes_compare_signed_and_unsigned)
{
    for (int a = -128; a < 128; a++) {
        for (int b = -128; b < 128; b++) {
            uint8_t ua = (uint8_t)a, ub = (uint8_t)b;
            const bool expected[] = {
                a == b, a != b, a<b, a <= b, a> b, a >= b, ua<ub, ua <= ub, ua> ub, ua >= ub};
            for (uint8_t p = 0; p < 10; p++)
                assert_int_equal(compared(PTO_CMPI, PTO_I8, p, arith_whole(a), arith_whole(b)),
                                 expected[p]);
        }
    }
}

TEST(the_ends_of_64_bits_wrap)
{
    static const enum pto_dtype types[] = {PTO_I64, PTO_INDEX};

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        enum pto_dtype t = types[i];
        assert_int_equal(on_ints(PTO_ADDI, t, INT64_MAX, 1), INT64_MIN);
        assert_int_equal(on_ints(PTO_SUBI, t, INT64_MIN, 1), INT64_MAX);
        assert_int_equal(on_ints(PTO_MULI, t, INT64_MIN, -1), INT64_MIN);
        assert_int_equal(on_ints(PTO_DIVSI, t, INT64_MIN, -1), INT64_MIN);
        assert_int_equal(on_ints(PTO_REMSI, t, INT64_MIN, -1), 0);
        assert_int_equal(on_ints(PTO_CEILDIVSI, t, INT64_MIN, -1), INT64_MIN);
        assert_int_equal(on_ints(PTO_FLOORDIVSI, t, INT64_MIN, 3), INT64_MIN / 3 - 1);
        assert_int_equal(on_ints(PTO_DIVUI, t, -1, 2), INT64_MAX);
        assert_int_equal(on_ints(PTO_SHLI, t, 1, 63), INT64_MIN);
        assert_int_equal(on_ints(PTO_SHRUI, t, -1, 63), 1);
        assert_int_equal(on_ints(PTO_SHRSI, t, INT64_MIN, 64), -1);
    }
}

TEST(a_division_by_zero_is_told_for_every_kind)
{
    struct pto_number a = arith_whole(7), zero = arith_whole(0), out, high;

    for (int op = PTO_DIVSI; op <= PTO_FLOORDIVSI; op++) {
        assert_int_equal(
            pto_arith((enum pto_opcode)op, PTO_I32, PTO_I32, 0, &a, &zero, &a, &out, &high),
            PTO_ARITH_DIV_ZERO);
        assert_true(pto_arith_is_division((enum pto_opcode)op));
    }
    assert_false(pto_arith_is_division(PTO_MULI));
    assert_int_equal(pto_arith(PTO_TADD, PTO_I32, PTO_I32, 0, &a, &a, &a, &out, &high),
                     PTO_ARITH_UNKNOWN);
}

TEST(extended_operations_give_both_halves)
{
    struct pto_number low, high, a = arith_whole(-1), b = arith_whole(-1),
                                 min = arith_whole(INT64_MIN);

    pto_arith(PTO_MULUI_EXTENDED, PTO_I64, PTO_I64, 0, &a, &b, &a, &low, &high);
    assert_int_equal(low.v.i, 1);
    assert_int_equal(high.v.i, -2);
    pto_arith(PTO_MULSI_EXTENDED, PTO_I64, PTO_I64, 0, &a, &b, &a, &low, &high);
    assert_int_equal(low.v.i, 1);
    assert_int_equal(high.v.i, 0);
    pto_arith(PTO_MULSI_EXTENDED, PTO_I64, PTO_I64, 0, &min, &min, &a, &low, &high);
    assert_int_equal(low.v.i, 0);
    assert_int_equal(high.v.i, INT64_C(1) << 62);
    pto_arith(PTO_ADDUI_EXTENDED, PTO_I32, PTO_I32, 0, &a, &b, &a, &low, &high);
    assert_int_equal(low.v.i, -2);
    assert_int_equal(high.v.i, 1);
    a = arith_whole(INT32_MIN);
    pto_arith(PTO_MULSI_EXTENDED, PTO_I32, PTO_I32, 0, &a, &a, &a, &low, &high);
    assert_int_equal(low.v.i, 0);
    assert_int_equal(high.v.i, 1 << 30);
}

TEST(floats_are_rounded_to_their_type)
{
    assert_true(on_floats(PTO_ADDF, PTO_F16, 2048, 1) == 2048);
    assert_true(on_floats(PTO_ADDF, PTO_F32, 2048, 1) == 2049);
    assert_true(on_floats(PTO_ADDF, PTO_BF16, 256, 1) == 256);
    assert_true(on_floats(PTO_MULF, PTO_F16, 300, 300) == INFINITY);
    assert_true(on_floats(PTO_DIVF, PTO_F32, 1, 3) == (double)(1.0f / 3.0f));
    assert_true(on_floats(PTO_DIVF, PTO_F32, 1, 0) == INFINITY);
    assert_true(on_floats(PTO_REMF, PTO_F32, -7, 3) == -1);
    assert_true(on_floats(PTO_NEGF, PTO_F32, 5, 0) == -5);
    assert_true(on_floats(PTO_SUBF, PTO_F32, 5, 7) == -2);
}

TEST(extremes_of_floats_know_nan_and_the_sign_of_zero)
{
    assert_true(isnan(on_floats(PTO_MAXIMUMF, PTO_F32, NAN, 1)));
    assert_true(isnan(on_floats(PTO_MINIMUMF, PTO_F32, 1, NAN)));
    assert_true(on_floats(PTO_MAXNUMF, PTO_F32, NAN, 1) == 1);
    assert_true(on_floats(PTO_MINNUMF, PTO_F32, 1, NAN) == 1);
    assert_false(signbit(on_floats(PTO_MAXIMUMF, PTO_F32, -0.0, 0.0)));
    assert_false(signbit(on_floats(PTO_MAXIMUMF, PTO_F32, 0.0, -0.0)));
    assert_true(signbit(on_floats(PTO_MINIMUMF, PTO_F32, -0.0, 0.0)));
    assert_true(signbit(on_floats(PTO_MINIMUMF, PTO_F32, 0.0, -0.0)));
    assert_true(on_floats(PTO_MAXIMUMF, PTO_F32, 3, -4) == 3);
    assert_true(on_floats(PTO_MINIMUMF, PTO_F32, 3, -4) == -4);
}

TEST(floats_compare_ordered_and_unordered)
{
    /* false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true */
    static const struct {
        double a, b;
        uint16_t holds; /* bit per predicate */
    } cases[] = {
        {1, 1, 1 << 1 | 1 << 3 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 10 | 1 << 12 | 1 << 15},
        {1, 2, 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 11 | 1 << 12 | 1 << 13 | 1 << 15},
        {2, 1, 1 << 2 | 1 << 3 | 1 << 6 | 1 << 7 | 1 << 9 | 1 << 10 | 1 << 13 | 1 << 15},
        {NAN, 1, 1 << 8 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 12 | 1 << 13 | 1 << 14 | 1 << 15},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (uint8_t p = 0; p < 16; p++)
            assert_int_equal(compared(PTO_CMPF, PTO_F32, p, real(cases[i].a), real(cases[i].b)),
                             cases[i].holds >> p & 1);
    }
    assert_false(compared(PTO_CMPF, PTO_F32, 16, real(1), real(1)));
}

TEST(integers_change_their_width)
{
    assert_int_equal(cast(PTO_TRUNCI, PTO_I64, PTO_I8, arith_whole(0x180)).v.i, -128);
    assert_int_equal(cast(PTO_EXTSI, PTO_I8, PTO_I32, arith_whole(-1)).v.i, -1);
    assert_int_equal(cast(PTO_EXTUI, PTO_I8, PTO_I32, arith_whole(-1)).v.i, 255);
    assert_int_equal(cast(PTO_EXTUI, PTO_I1, PTO_I32, arith_whole(1)).v.i, 1);
    assert_int_equal(cast(PTO_EXTSI, PTO_I1, PTO_I32, arith_whole(1)).v.i, -1);
    assert_int_equal(cast(PTO_INDEX_CAST, PTO_I1, PTO_INDEX, arith_whole(1)).v.i, -1);
    assert_int_equal(cast(PTO_INDEX_CASTUI, PTO_I1, PTO_INDEX, arith_whole(1)).v.i, 1);
    assert_int_equal(cast(PTO_INDEX_CAST, PTO_I32, PTO_INDEX, arith_whole(-5)).v.i, -5);
    assert_int_equal(cast(PTO_INDEX_CASTUI, PTO_I32, PTO_INDEX, arith_whole(-1)).v.i, UINT32_MAX);
    assert_int_equal(cast(PTO_CONVERSION_CAST, PTO_I32, PTO_U32, arith_whole(-1)).v.i, UINT32_MAX);
    assert_int_equal(pto_wrap(0x1ff, PTO_U8), 255);
    assert_int_equal(pto_wrap(3, PTO_I1), 1);
}

TEST(integers_and_floats_become_each_other)
{
    assert_true(cast(PTO_SITOFP, PTO_I32, PTO_F32, arith_whole(-3)).v.f == -3);
    assert_true(cast(PTO_UITOFP, PTO_I32, PTO_F32, arith_whole(-1)).v.f == 4294967296.0);
    assert_true(cast(PTO_SITOFP, PTO_I1, PTO_F32, arith_whole(1)).v.f == -1);
    assert_true(cast(PTO_SITOFP, PTO_I64, PTO_F32, arith_whole(INT64_MIN)).v.f ==
                -9223372036854775808.0);
    /* just above the middle of two floats: going through a double must not lose that */
    int64_t above = (INT64_C(1) << 62) + (INT64_C(1) << 38) + 1;
    assert_true(cast(PTO_SITOFP, PTO_I64, PTO_F32, arith_whole(above)).v.f == (double)(float)above);
    assert_true(cast(PTO_SITOFP, PTO_I64, PTO_F32, arith_whole(-above)).v.f ==
                -(double)(float)above);
    assert_int_equal(cast(PTO_FPTOSI, PTO_F32, PTO_I32, real(-3.9)).v.i, -3);
    assert_int_equal(cast(PTO_FPTOSI, PTO_F32, PTO_I8, real(1e30)).v.i, 127);
    assert_int_equal(cast(PTO_FPTOSI, PTO_F32, PTO_I8, real(-1e30)).v.i, -128);
    assert_int_equal(cast(PTO_FPTOSI, PTO_F32, PTO_I64, real(INFINITY)).v.i, INT64_MAX);
    assert_int_equal(cast(PTO_FPTOSI, PTO_F32, PTO_I64, real(-INFINITY)).v.i, INT64_MIN);
    assert_int_equal(cast(PTO_FPTOSI, PTO_F32, PTO_I1, real(-4)).v.i, 0);
    assert_int_equal(cast(PTO_FPTOUI, PTO_F32, PTO_U8, real(300)).v.i, 255);
    assert_int_equal(cast(PTO_FPTOUI, PTO_F32, PTO_I8, real(200)).v.i, -56);
    assert_int_equal(cast(PTO_FPTOUI, PTO_F32, PTO_I64, real(1e30)).v.i, -1);
    assert_int_equal(cast(PTO_FPTOUI, PTO_F32, PTO_I32, real(-1)).v.i, 0);
    assert_int_equal(cast(PTO_FPTOSI, PTO_F32, PTO_I32, real(NAN)).v.i, 0);
    assert_true(cast(PTO_TRUNCF, PTO_F32, PTO_F16, real(2049)).v.f == 2048);
    assert_true(cast(PTO_EXTF, PTO_F16, PTO_F32, real(0.5)).v.f == 0.5);
    assert_int_equal(cast(PTO_ARITH_BITCAST, PTO_F32, PTO_I32, real(1)).v.i, 0x3f800000);
    assert_true(cast(PTO_ARITH_BITCAST, PTO_I32, PTO_F32, arith_whole(0x40000000)).v.f == 2);
}

TEST(results_remember_where_their_operands_came_from)
{
    struct pto_number a = {.v.i = 1, .taint = 3}, b = {.v.i = 2}, c = {.v.i = 5, .taint = 9}, out,
                      high;

    pto_arith(PTO_ADDI, PTO_I32, PTO_I32, 0, &a, &b, &a, &out, &high);
    assert_int_equal(out.taint, 3);
    pto_arith(PTO_ADDI, PTO_I32, PTO_I32, 0, &b, &c, &b, &out, &high);
    assert_int_equal(out.taint, 9);
    struct pto_number yes = {.v.i = 1}, no = {.v.i = 0};
    pto_arith(PTO_SELECT, PTO_I32, PTO_I32, 0, &yes, &b, &c, &out, &high);
    assert_int_equal(out.v.i, 2);
    assert_int_equal(out.taint, 0);
    pto_arith(PTO_SELECT, PTO_I32, PTO_I32, 0, &no, &b, &c, &out, &high);
    assert_int_equal(out.v.i, 5);
    assert_int_equal(out.taint, 9);
    pto_arith(PTO_SELECT, PTO_I32, PTO_I32, 0, &a, &b, &c, &out, &high);
    assert_int_equal(out.taint, 3);
}

TEST_MAIN("kernels/pto/values/arith",
          T(bytes_add_multiply_and_shift_as_wide_numbers_cut_to_eight_bits),
          T(bytes_divide_toward_zero_up_or_down), T(bytes_compare_signed_and_unsigned),
          T(the_ends_of_64_bits_wrap), T(a_division_by_zero_is_told_for_every_kind),
          T(extended_operations_give_both_halves), T(floats_are_rounded_to_their_type),
          T(extremes_of_floats_know_nan_and_the_sign_of_zero),
          T(floats_compare_ordered_and_unordered), T(integers_change_their_width),
          T(integers_and_floats_become_each_other),
          T(results_remember_where_their_operands_came_from))
