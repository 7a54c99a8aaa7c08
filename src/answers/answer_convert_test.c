#include "answers/answer_convert.h"

#include "base/testing_arena.h"

TEST(steps_are_numbers_and_ranges)
{
    struct convert_steps *list;

    assert_int_equal(convert_steps_parse("3-5,7, 9-", &arena, &list), 3);
    assert_int_equal(list[0].first, 3);
    assert_int_equal(list[0].last, 5);
    assert_int_equal(list[1].first, 7);
    assert_int_equal(list[1].last, 7);
    assert_int_equal(list[2].first, 9);
    assert_int_equal(list[2].last, INT64_MAX);
}

TEST(what_is_no_step_is_refused)
{
    static const char *const wrong[] = {"", "x", "3-x", "-3", "5-3", "3,,4", "3,", "3-4-5", "1.5"};
    struct convert_steps *list;

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_int_equal(convert_steps_parse(wrong[i], &arena, &list), 0);
}

static void assert_range(const char *text, nanos begin, nanos end)
{
    struct interval range;

    assert_true(convert_range_parse(text, &range));
    assert_int_equal(range.begin, begin);
    assert_int_equal(range.end, end);
}

TEST(a_time_has_a_unit)
{
    nanos time;

    assert_true(convert_time_parse("20ms", &time));
    assert_int_equal(time, 20000000);
    assert_true(convert_time_parse(" 1.5 s", &time));
    assert_int_equal(time, 1500000000);
    assert_false(convert_time_parse("20", &time));
    assert_false(convert_time_parse("-1ms", &time));
    assert_false(convert_time_parse("ms", &time));
}

TEST(times_have_units_and_either_end_may_be_open)
{
    assert_range("10ms-25ms", 10000000, 25000000);
    assert_range("10-25ms", 10000000, 25000000);
    assert_range("10ms-25", 10000000, 25000000);
    assert_range("0-1.5us", 0, 1500);
    assert_range("0-7ns", 0, 7);
    assert_range("500us-1.0000005s", 500000, 1000000500);
    assert_range("10ms-", 10000000, INT64_MAX);
    assert_range("-2s", 0, 2000000000);
    assert_range(" 1 us - 2 us ", 1000, 2000);
}

TEST(what_is_no_range_is_refused)
{
    static const char *const wrong[] = {"",
                                        "-",
                                        "10ms",
                                        "10-25",
                                        "5ms-5ms",
                                        "6ms-5ms",
                                        "xms-1s",
                                        "1e3ms-2s",
                                        "1ms-2ms-3ms",
                                        "ms-ms",
                                        "1ms-99999999999999999999s",
                                        "+1ms-2ms"};
    struct interval range;

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_false(convert_range_parse(wrong[i], &range));
}

TEST_MAIN("answers/answer_convert", TA(steps_are_numbers_and_ranges),
          TA(what_is_no_step_is_refused), T(a_time_has_a_unit),
          T(times_have_units_and_either_end_may_be_open), T(what_is_no_range_is_refused))
