#include "opdb/compare/m6.h"

#include <float.h>
#include <math.h>

#include "base/testing_arena.h"
#include "opdb/compare_testing.h"

static struct predicted p;
static struct measured m;

static int m6_end(void **state)
{
    predicted_free(&p);
    measured_free(&m);
    return arena_leave(state);
}

#define TW(name) cmocka_unit_test_setup_teardown(name, arena_enter, m6_end)

static struct m6 m6_test_compute(const struct test_event *events, size_t n_events, const char *rows,
                                 const char *filter)
{
    struct str trace = test_trace(&arena, "", events, n_events);
    struct str table = arena_format(&arena, "Type,Start Time(us),Duration(us)\n%s", rows);
    size_t n;

    assert_int_equal(predicted_parse(&p, "tc.json", trace, &diag), ST_OK);
    assert_int_equal(measured_parse(&m, "prof.csv", table, &diag), ST_OK);
    const struct str *sources = m6_sources(&arena, str_of(filter), &n);
    return m6_compute(&p, &m, sources, n, M6_EXACT);
}

TEST(only_hits_of_the_chosen_sources_count)
{
    /* 20 + 31; not the partial one, the one of no duration, and the one without a kernel. */
    const struct test_event events[] = {
        {.dur = 20, .source = "MEASURED", .kernel = "A"},
        {.dur = 31, .source = "INTERPOLATED", .kernel = "A"},
        {.dur = 5, .source = "PARTIAL", .kernel = "A"},
        {.dur = -4, .source = "MEASURED", .kernel = "A"},
        {.dur = 7, .source = "MEASURED", .kernel = ""},
    };
    struct m6 r = m6_test_compute(events, ARRAY_LEN(events), "A,0,102\n",
                                  " INTERPOLATED , MEASURED,MEASURED ");

    assert_true(r.hit_us == 51);
    assert_true(r.ratio == 0.5);
    assert_int_equal(r.n_sources, 2);
    assert_str(r.sources[0], "INTERPOLATED");
}

/* 1000.9 + 82.5 - 1000.9 is 82.50000000000011 in doubles. */
TEST(durations_of_the_public_tool_have_its_last_digit)
{
    struct m6 exact = m6_test_compute(NULL, 0, "A,1000.9,82.5\nhcom_a,1000.9,82.5\n", "MEASURED");
    struct m6 compat = m6_compute(&p, &m, NULL, 0, M6_COMPAT);
    volatile double end = 1000.9 + 82.5;

    assert_true(exact.compute_us == 82.5);
    assert_true(compat.compute_us == end - 1000.9 && compat.compute_us > 82.5);
    assert_true(exact.hcom_us == end - 1000.9 && compat.hcom_us == exact.hcom_us);
}

TEST(twins_helpers_and_rows_without_times_are_left_out)
{
    /* 10 + 3 + 0 of compute; the longer of two all-reduces, and one a microsecond later. */
    struct m6 r =
        m6_test_compute(NULL, 0,
                        "A,1,10\nA,,3\nA,x,100\nA,2,y\nB,3\n,1,50\n"
                        "hcom_a,1000.25,8\nhcom_a,1000.5,9\nhcom_a,1001,1\nxAicpuKernel,5,7\n",
                        "MEASURED");

    assert_true(r.compute_us == 13);
    assert_true(r.hcom_us == 10);
    assert_true(r.helper_us == 7);
    assert_true(r.total_us == 23);
    assert_int_equal(r.skipped, 2);
}

TEST(a_collective_lasts_from_start_to_end)
{
    struct m6 r = m6_test_compute(NULL, 0, "hcom_a,1000.9,82.5\n", "MEASURED");

    assert_true(r.hcom_us == (1000.9 + 82.5) - 1000.9);
    assert_true(r.hcom_us != 82.5);
}

TEST(nothing_measured_gives_0)
{
    const struct test_event event = {.dur = 20, .source = "MEASURED", .kernel = "A"};
    struct m6 r = m6_test_compute(&event, 1, "", "MEASURED");

    assert_true(r.ratio == 0);
}

TEST(the_documents_have_their_fixed_shape)
{
    const struct test_event event = {.dur = 1234.5, .source = "MEASURED", .kernel = "A"};
    struct m6 r = m6_test_compute(&event, 1, "A,0,2469\n", "MEASURED");
    struct text json = {0}, text = {0};

    assert_true(m6_write_json(&r, text_sink(&json)));
    assert_true(str_starts((struct str){json.at, json.n},
                           S("{\n  \"m6_ratio\": 0.5,\n  \"empirical_hit_us\": 1234.5,\n")));
    assert_int_equal(json.at[json.n - 1], '}');
    assert_true(m6_print(&r, text_sink(&text)));
    struct str all = {text.at, text.n};
    assert_true(str_find(all, S("Empirical HIT total:      1,234.5 us (1.2 ms)\n")) < all.n);
    assert_true(str_contains(all, S("  Compute:                2,469.0 us\n")));
    assert_true(str_find(all, S("\nM6 = 0.500  (Empirical / Real)\n")) < all.n);
    text_free(&json);
    text_free(&text);
}

TEST(thousands_are_grouped)
{
    static char buf[M6_TEXT];

    assert_str(m6_grouped(buf, 999.94), "999.9");
    assert_str(m6_grouped(buf, 1234567.86), "1,234,567.9");
    assert_str(m6_grouped(buf, -123456), "-123,456.0");
    assert_str(m6_grouped(buf, 0), "0.0");
    assert_str(m6_grouped(buf, INFINITY), "inf");
    assert_int_equal(m6_grouped(buf, -DBL_MAX).n, 1 + 309 + 102 + 2);
}

TEST_MAIN("opdb/compare/m6", TW(only_hits_of_the_chosen_sources_count),
          TW(durations_of_the_public_tool_have_its_last_digit),
          TW(twins_helpers_and_rows_without_times_are_left_out),
          TW(a_collective_lasts_from_start_to_end), TW(nothing_measured_gives_0),
          TW(the_documents_have_their_fixed_shape), T(thousands_are_grouped))
