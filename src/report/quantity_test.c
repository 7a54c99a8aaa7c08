#include "report/quantity.h"

#include "base/testing.h"

#include <math.h>

static const char *quantity_test_number(double value, enum unit unit)
{
    static char buf[QUANTITY_TEXT];

    quantity_number(buf, (struct quantity){value, unit});
    return buf;
}

static const char *quantity_test_print(double value, enum unit unit)
{
    static char buf[QUANTITY_TEXT];

    quantity_print(buf, (struct quantity){value, unit});
    return buf;
}

TEST(a_column_of_milliseconds_keeps_four_digits)
{
    assert_string_equal(quantity_test_number(100e6, UNIT_MS), "100.0");
    assert_string_equal(quantity_test_number(83e6, UNIT_MS), "83.00");
    assert_string_equal(quantity_test_number(2e6, UNIT_MS), "2.000");
    assert_string_equal(quantity_test_number(0, UNIT_MS), "0.000");
    assert_string_equal(quantity_test_number(1234567e6, UNIT_MS), "1234567");
    assert_string_equal(quantity_test_number(9999.6e3, UNIT_MS),
                        "10.00"); /* rounds up to the next decade */
    assert_string_equal(quantity_test_number(-1500, UNIT_US), "-1.500");
}

TEST(ratios_are_percent_with_one_decimal)
{
    assert_string_equal(quantity_test_number(0.17, UNIT_RATIO), "17.0");
    assert_string_equal(quantity_test_print(1, UNIT_RATIO), "100.0 %");
}

TEST(text_scales_the_unit)
{
    assert_string_equal(quantity_test_print(999, UNIT_NS), "999.0 ns");
    assert_string_equal(quantity_test_print(1500, UNIT_NS), "1.500 us");
    assert_string_equal(quantity_test_print(10e6, UNIT_NS), "10.00 ms");
    assert_string_equal(quantity_test_print(7200e9, UNIT_NS), "7200 s");
    assert_string_equal(quantity_test_print(512, UNIT_BYTES), "512 B");
    assert_string_equal(quantity_test_print(2e9, UNIT_BYTES), "2.000 GB");
    assert_string_equal(quantity_test_print(42, UNIT_COUNT), "42");
}

TEST(what_is_not_a_number_is_a_dash)
{
    assert_string_equal(quantity_test_number(NAN, UNIT_MS), "-");
    assert_string_equal(quantity_test_number(INFINITY, UNIT_COUNT), "-");
    assert_string_equal(quantity_test_number(1e300, UNIT_COUNT), "1.000e+300");
}

TEST(what_rounds_to_zero_has_no_sign)
{
    assert_string_equal(quantity_test_number(-0.0001, UNIT_RATIO), "0.0");
    assert_string_equal(quantity_test_number(-0.0, UNIT_COUNT), "0");
    assert_string_equal(quantity_test_number(-0.0004, UNIT_PLAIN), "0.000");
    assert_string_equal(quantity_test_print(-0.4, UNIT_BYTES), "0 B");
    assert_string_equal(quantity_test_number(-0.0006, UNIT_RATIO), "-0.1");
    assert_string_equal(quantity_test_number(-10, UNIT_COUNT), "-10");
}

TEST_MAIN("report/quantity", T(a_column_of_milliseconds_keeps_four_digits),
          T(ratios_are_percent_with_one_decimal), T(text_scales_the_unit),
          T(what_is_not_a_number_is_a_dash), T(what_rounds_to_zero_has_no_sign))
