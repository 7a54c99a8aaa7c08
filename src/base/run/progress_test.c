#include "base/run/progress.h"

#include <string.h>

#include "base/testing.h"

static const nanos second = 1000000000;
static char buf[PROGRESS_TEXT];

static const char *items(const char *label, uint64_t done, uint64_t total, nanos elapsed)
{
    size_t n = progress_format(buf, (struct progress_step){label, PROGRESS_ITEMS, done, total}, 100,
                               elapsed);

    assert_int_equal(n, strlen(buf));
    return buf;
}

static const char *bytes(uint64_t done, uint64_t total, nanos elapsed)
{
    progress_format(buf, (struct progress_step){"", PROGRESS_BYTES, done, total}, 100, elapsed);
    return buf;
}

TEST(a_line_tells_amount_share_rate_and_rest)
{
    /* 1.2 GB in 2 s is 600 MB/s; the other 3.6 GB take 6 s. */
    progress_format(
        buf, (struct progress_step){"reading trace.json", PROGRESS_BYTES, 1200000000, 4800000000},
        100, 2 * second);
    assert_string_equal(buf, "reading trace.json  1.20 GB of 4.80 GB  25 %  600 MB/s  6 s left");
}

TEST(an_unknown_total_leaves_share_and_rest_out)
{
    assert_string_equal(items("ranks", 8, 0, 2 * second), "ranks  8  4/s");
}

TEST(a_job_of_unknown_length_shows_its_time)
{
    progress_format(buf, (struct progress_step){"running", PROGRESS_SECONDS, 75, 0}, 100, second);
    assert_string_equal(buf, "running  1:15 min");
}

TEST(there_is_no_rate_without_time_or_progress)
{
    assert_string_equal(items("x", 0, 10, 5 * second), "x  0 of 10  0 %");
    assert_string_equal(items("x", 5, 10, 0), "x  5 of 10  50 %");
}

TEST(amounts_keep_three_digits)
{
    assert_string_equal(bytes(0, 0, 0), "0 B");
    assert_string_equal(bytes(999, 0, 0), "999 B");
    assert_string_equal(bytes(1000, 0, 0), "1.00 kB");
    assert_string_equal(bytes(9994, 0, 0), "9.99 kB");
    assert_string_equal(bytes(9996, 0, 0), "10.0 kB");
    assert_string_equal(bytes(99960, 0, 0), "100 kB");
    assert_string_equal(bytes(999400, 0, 0), "999 kB");
    assert_string_equal(bytes(999600, 0, 0), "1.00 MB");
    assert_string_equal(bytes(UINT64_MAX, 0, 0), "18.4 EB");
}

TEST(the_share_is_rounded_down_and_stops_at_the_end)
{
    assert_string_equal(items("x", 999, 1000, 0), "x  999 of 1.00 k  99 %");
    assert_string_equal(items("x", 12, 10, 0), "x  12 of 10  100 %");
    assert_string_equal(items("x", 10, 10, second), "x  10 of 10  100 %  10/s");
}

TEST(long_rests_are_told_in_minutes_and_hours)
{
    /* 1 of n in 1 s leaves n-1 seconds. */
    assert_string_equal(items("x", 1, 60, second), "x  1 of 60  1 %  1/s  59 s left");
    assert_string_equal(items("x", 1, 66, second), "x  1 of 66  1 %  1/s  1:05 min left");
    assert_string_equal(items("x", 1, 7381, second), "x  1 of 7.38 k  0 %  1/s  2:03 h left");
    assert_string_equal(items("x", 1, UINT64_MAX, second),
                        "x  1 of 18.4 E  0 %  1/s  99:59 h left");
}

TEST(the_label_gives_way_on_a_narrow_terminal)
{
    /* "8 of 10  80 %" is 13 wide; 30 columns leave 30 - 1 - 13 - 2 = 14 for the label. */
    progress_format(
        buf, (struct progress_step){"a label that is far too long", PROGRESS_ITEMS, 8, 10}, 30, 0);
    assert_string_equal(buf, "a label that i  8 of 10  80 %");
    progress_format(
        buf, (struct progress_step){"a label that is far too long", PROGRESS_ITEMS, 8, 10}, 20, 0);
    assert_string_equal(buf, "8 of 10  80 %");
    progress_format(buf, (struct progress_step){"label", PROGRESS_ITEMS, 8, 10}, 8, 0);
    assert_string_equal(buf, "8 of 10");
    assert_int_equal(
        progress_format(buf, (struct progress_step){"label", PROGRESS_ITEMS, 8, 10}, 1, 0), 0);
}

TEST(a_label_cannot_steer_the_terminal)
{
    assert_string_equal(items("a\33[2Jb\nc\x7f", 1, 0, 0), "a\\x1b[2Jb\\nc\\x7f  1");
    assert_string_equal(items("\xc2\x9b"
                              "31m",
                              1, 0, 0),
                        "\\u{9b}31m  1");
    assert_string_equal(items("gr\xc3\xbc\xc3\x9f", 1, 0, 0), "gr\xc3\xbc\xc3\x9f  1");
    assert_string_equal(items("cut\xe4\xb8", 1, 0, 0), "cut\\xe4\\xb8  1");
}

TEST(the_longest_label_fits_the_buffer)
{
    char label[4 * 300 + 1] = "";

    for (int i = 0; i < 300; i++)
        memcpy(label + 4 * (size_t)i, "\xf0\x9f\x94\xa5", 4);
    size_t n = progress_format(
        buf, (struct progress_step){label, PROGRESS_BYTES, UINT64_MAX - 1, UINT64_MAX}, 100000,
        second);
    assert_true(n < PROGRESS_TEXT - 8);
}

TEST(the_line_waits_is_throttled_and_is_wiped)
{
    struct progress_line line;
    nanos t = 5 * second;

    progress_begin(&line, 80, t);
    assert_str(progress_update(&line, t + 299999999,
                               (struct progress_step){"x", PROGRESS_ITEMS, 1, 2}, buf),
               "");
    assert_str(progress_update(&line, t + 300000000,
                               (struct progress_step){"x", PROGRESS_ITEMS, 1, 2}, buf),
               "\rx  1 of 2  50 %\33[K");
    assert_str(progress_update(&line, t + 399999999,
                               (struct progress_step){"x", PROGRESS_ITEMS, 1, 2}, buf),
               "");
    assert_true(progress_update(&line, t + 400000000,
                                (struct progress_step){"x", PROGRESS_ITEMS, 1, 2}, buf)
                    .n > 0);
    assert_str(progress_end(&line), "\r\33[K");
    assert_str(progress_end(&line), "");
}

TEST(a_short_job_shows_nothing)
{
    struct progress_line line;

    progress_begin(&line, 80, 0);
    assert_int_equal(
        progress_update(&line, second / 10, (struct progress_step){"x", PROGRESS_ITEMS, 2, 2}, buf)
            .n,
        0);
    assert_int_equal(progress_end(&line).n, 0);
}

TEST(the_rate_counts_from_the_start_of_a_label)
{
    struct progress_line line;

    progress_begin(&line, 80, 0);
    progress_update(&line, 0, (struct progress_step){"one", PROGRESS_ITEMS, 0, 10}, buf);
    progress_update(&line, 10 * second, (struct progress_step){"two", PROGRESS_ITEMS, 0, 10}, buf);
    /* Five items in the one second since "two" began. */
    assert_str(progress_update(&line, 11 * second,
                               (struct progress_step){"two", PROGRESS_ITEMS, 5, 10}, buf),
               "\rtwo  5 of 10  50 %  5/s  1 s left\33[K");
}

static void remember(void *ctx, struct progress_step step)
{
    *(uint64_t *)ctx = step.done * 100 + step.total + (uint64_t)strlen(step.label);
}

TEST(ticks_reach_the_callback_or_nobody)
{
    uint64_t seen = 0;
    struct progress p = {remember, &seen}, silent = {0};

    progress_tick(&p, "abc", 2, 10);
    assert_int_equal(seen, 213);
    progress_tick(&silent, "abc", 2, 10);
    progress_tick(NULL, "abc", 2, 10);
}

TEST_MAIN("base/run/progress", T(a_line_tells_amount_share_rate_and_rest),
          T(an_unknown_total_leaves_share_and_rest_out), T(a_job_of_unknown_length_shows_its_time),
          T(there_is_no_rate_without_time_or_progress), T(amounts_keep_three_digits),
          T(the_share_is_rounded_down_and_stops_at_the_end),
          T(long_rests_are_told_in_minutes_and_hours), T(the_label_gives_way_on_a_narrow_terminal),
          T(a_label_cannot_steer_the_terminal), T(the_longest_label_fits_the_buffer),
          T(the_line_waits_is_throttled_and_is_wiped), T(a_short_job_shows_nothing),
          T(the_rate_counts_from_the_start_of_a_label), T(ticks_reach_the_callback_or_nobody))
