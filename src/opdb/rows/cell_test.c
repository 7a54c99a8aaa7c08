#include "opdb/rows/cell.h"

#include <math.h>
#include <stdio.h>

#include "base/testing_arena.h"

TEST(blanks_go_before_quotes)
{
    assert_str(cell_bare(S(" \"16,5120;768,5120\"\t")), "16,5120;768,5120");
    assert_str(cell_bare(S("\"\"\"")), "");
    assert_str(cell_trim(S("\x0b 1.0\t\r\n")), "1.0");
    assert_str(cell_trim(S("")), "");
}

TEST(numbers_are_read_as_scripts_write_them)
{
    double v;

    assert_true(cell_number(S(" 11.5 "), &v) && v == 11.5);
    assert_true(cell_number(S("1_000.5e-1"), &v) && v == 100.05);
    assert_true(cell_number(S("-inf"), &v) && v == -INFINITY);
    assert_true(cell_number(S("Infinity"), &v) && v == INFINITY);
    assert_true(cell_number(S("NaN"), &v) && isnan(v));
    assert_true(cell_number(S("1e400"), &v) && v == INFINITY);
    assert_true(cell_number(S("-1e400"), &v) && v == -INFINITY);
    assert_false(cell_number(S("abc"), &v));
    assert_false(cell_number(S(""), &v));
    assert_false(cell_number(S("1__0"), &v));
    assert_false(cell_number(S("_1"), &v));
    assert_false(cell_number(S("1e"), &v));
    assert_true(cell_f64(S("N/A")) == 0);
}

/* printf rounds the exact binary value to even; the short way must never differ from it. */
TEST(six_decimals_are_those_of_printf)
{
    static const double edges[] = {
        0,   0.5e-6, 1.5e-6, 2.5e-6,          0.0000005, 1e-7,        166,       6.25,
        0.1, 1e15,   1e300,  4398046.5111045, 4398047,   1000000.125, 0.99999951};
    char ours[CELL_TEXT], theirs[CELL_TEXT];
    uint64_t seed = 7;

    for (size_t i = 0; i < 200000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double v =
            i < ARRAY_LEN(edges) ? edges[i] : (double)(seed >> 20) / (double)(1ull << (seed & 43));
        if (i % 7 == 3)
            v = floor(v) / 2000000; /* halves of the last digit */
        if (i % 5 == 4)
            v = -v;
        size_t n = cell_print6(ours, v);
        int m = snprintf(theirs, sizeof(theirs), "%.6f", v);
        assert_int_equal(n, m);
        assert_string_equal(ours, theirs);
    }
    cell_print6(ours, -NAN);
    assert_string_equal(ours, "nan");
    cell_print6(ours, -INFINITY);
    assert_string_equal(ours, "-inf");
}

TEST(empty_slots_keep_their_place)
{
    struct cell_slots s = cell_slots(&arena, S("\"1,2;; \"3\" ;\""));
    assert_int_equal(s.n, 4);
    assert_str(s.at[1], "");
    assert_str(s.at[2], "3");
    assert_str(s.at[3], "");
    assert_int_equal(cell_slots(&arena, S(" \"\" ")).n, 0);
}

TEST(shapes_have_one_normal_form)
{
    struct cell_dims dims;

    assert_str(cell_shape(&arena, S("( 3 4 )")), "3,4");
    assert_str(cell_shape(&arena, S(" 1 , 2 ")), "1,2");
    assert_str(cell_shape(&arena, S(",1,,2,")), "1,2");
    assert_str(cell_shape(&arena, S("()")), "");
    assert_str(cell_shape(&arena, S("None")), "");
    assert_str(cell_shape(&arena, S("null")), "null");
    assert_str(cell_shape(&arena, S(",")), "");
    assert_true(cell_dims(&arena, S("16,5120"), &dims));
    assert_int_equal(dims.n, 2);
    assert_int_equal(dims.at[1], 5120);
    assert_true(cell_dims(&arena, S("NULL"), &dims));
    assert_int_equal(dims.n, 0);
    assert_false(cell_dims(&arena, S("1,b"), &dims));
    assert_false(cell_dims(&arena, S("1,99999999999999999999"), &dims));
}

TEST(dtypes_get_their_prefix)
{
    assert_str(cell_dtype(&arena, S("BF16")), "DT_BF16");
    assert_str(cell_dtype(&arena, S(" DT_INT8 ")), "DT_INT8");
    assert_str(cell_dtype(&arena, S(" ")), "DT_UNDEFINED");
}

TEST_MAIN("opdb/rows/cell", T(blanks_go_before_quotes), T(numbers_are_read_as_scripts_write_them),
          T(six_decimals_are_those_of_printf), TA(empty_slots_keep_their_place),
          TA(shapes_have_one_normal_form), TA(dtypes_get_their_prefix))
