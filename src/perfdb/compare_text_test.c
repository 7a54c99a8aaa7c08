#include "perfdb/compare_text.h"

#include <float.h>
#include <math.h>

#include "base/testing.h"

static char buf[DECIMAL_TEXT];

TEST(ties_go_to_the_even_digit)
{
    /* 200.125 and 2.25 are exact in binary; 2.675 is a little less than it looks. */
    assert_str(decimal_text(buf, 200.125, 2), "200.12");
    assert_str(decimal_text(buf, 2.25, 1), "2.2");
    assert_str(decimal_text(buf, 2.35, 1), "2.4");
    assert_str(decimal_text(buf, 2.675, 2), "2.67");
}

TEST(whole_numbers_keep_one_zero)
{
    assert_str(decimal_text(buf, 111, 2), "111.0");
    assert_str(decimal_text(buf, -100, 1), "-100.0");
    assert_str(decimal_exact(buf, 0.8761429758935991), "0.8761429758935991");
    assert_str(decimal_exact(buf, 1e300), "1e+300");
}

TEST(what_is_not_finite_has_a_name)
{
    assert_str(decimal_text(buf, INFINITY, 1), "inf");
    assert_str(decimal_text(buf, -INFINITY, 1), "-inf");
    assert_str(decimal_text(buf, NAN, 1), "nan");
}

TEST(thousands_are_grouped)
{
    assert_str(decimal_grouped(buf, 999.94), "999.9");
    assert_str(decimal_grouped(buf, 1234567.86), "1,234,567.9");
    assert_str(decimal_grouped(buf, -123456), "-123,456.0");
    assert_str(decimal_grouped(buf, 0), "0.0");
    assert_str(decimal_grouped(buf, INFINITY), "inf");
    assert_int_equal(decimal_grouped(buf, -DBL_MAX).n, 1 + 309 + 102 + 2);
}

TEST_MAIN("perfdb/compare_text", T(ties_go_to_the_even_digit), T(whole_numbers_keep_one_zero),
          T(what_is_not_finite_has_a_name), T(thousands_are_grouped))
