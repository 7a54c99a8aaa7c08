#include "page/page_number.h"

#include "base/testing_arena.h"

#define THIN "\u202f"

static void expect_text(struct str given, const char *wanted)
{
    assert_string_equal(arena_cstr(&arena, given), wanted);
}

TEST(times_have_three_digits_and_the_unit_that_fits)
{
    static const struct {
        double ns;
        const char *text;
    } cases[] = {
        {0, "0" THIN "ns"},         {999, "999" THIN "ns"},     {999.6, "1.00" THIN "µs"},
        {9994, "9.99" THIN "µs"},   {9996, "10.0" THIN "µs"},   {99960, "100" THIN "µs"},
        {39.4e6, "39.4" THIN "ms"}, {999.6e6, "1.00" THIN "s"}, {-7e6, "−7.00" THIN "ms"},
        {3600e9, "3600" THIN "s"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        expect_text(page_time_text(&arena, cases[i].ns), cases[i].text);
    expect_text(page_delta_text(&arena, 1e5), "+100" THIN "µs");
    expect_text(page_delta_text(&arena, -1e5), "−100" THIN "µs");
    expect_text(page_delta_text(&arena, 0), "0" THIN "ns");
}

TEST(a_share_below_ten_percent_has_a_decimal)
{
    expect_text(page_share_text(&arena, 0.614), "61" THIN "%");
    expect_text(page_share_text(&arena, 0.0416), "4.2" THIN "%");
    expect_text(page_share_text(&arena, 0.0996), "10" THIN "%");
    expect_text(page_share_text(&arena, -0.2), "−20" THIN "%");
    expect_text(page_share_text(&arena, -0.0001), "0.0" THIN "%"); /* no minus before a zero */
}

TEST(counts_are_grouped_by_thousands)
{
    expect_text(page_count_text(&arena, 999), "999");
    expect_text(page_count_text(&arena, 1007), "1" THIN "007");
    expect_text(page_count_text(&arena, 999999), "999" THIN "999");
    expect_text(page_count_text(&arena, 1120000), "1.12" THIN "M");
    expect_text(page_whole_text(&arena, 1234567.4), "1" THIN "234" THIN "567");
    expect_text(page_whole_text(&arena, -1000), "−1" THIN "000");
    expect_text(page_whole_text(&arena, -0.4), "0");
    expect_text(page_whole_text(&arena, 2e15), "2e+15");
}

TEST(scaled_numbers_go_in_steps_of_a_thousand)
{
    expect_text(page_scaled_text(&arena, 12.6e6, "B"), "12.6" THIN "MB");
    expect_text(page_scaled_text(&arena, 512, "B"), "512" THIN "B");
    expect_text(page_scaled_text(&arena, 999.6, "B"), "1.00" THIN "KB");
    expect_text(page_scaled_text(&arena, -2e9, "B"), "−2" THIN "GB");
    expect_text(page_scaled_text(&arena, 5e18, "B"), "5000" THIN "PB"); /* no step above */
}

TEST_MAIN("page/page_number", TA(times_have_three_digits_and_the_unit_that_fits),
          TA(a_share_below_ten_percent_has_a_decimal), TA(counts_are_grouped_by_thousands),
          TA(scaled_numbers_go_in_steps_of_a_thousand))
