#include "opdb/compare/compare_shapes.h"

#include <math.h>

#include "base/testing_arena.h"
#include "opdb/compare_testing.h"

static struct shape_rows rows;
static struct predicted p;
static struct measured m;

static int shapes_begin(void **state)
{
    shape_rows_init(&rows);
    p = (struct predicted){0};
    m = (struct measured){0};
    return arena_enter(state);
}

static int shapes_end(void **state)
{
    shape_rows_free(&rows);
    predicted_free(&p);
    measured_free(&m);
    return arena_leave(state);
}

#define TW(name) cmocka_unit_test_setup_teardown(name, shapes_begin, shapes_end)

static void compare_shapes_predict(const struct test_event *events, size_t n)
{
    assert_int_equal(predicted_parse(&p, "t", test_trace(&rows.arena, "", events, n), &diag),
                     ST_OK);
    shape_rows_predict(&rows, &p);
}

static enum status shapes_measure(const char *table)
{
    assert_int_equal(measured_parse(&m, "m.csv", str_of(table), &diag), ST_OK);
    return shape_rows_measure(&rows, &m, SHAPE_MEASURED, &diag);
}

static const struct shape_row *shapes_find(const char *kernel, const char *shapes)
{
    for (size_t i = 0; i < rows.at.n; i++)
        if (str_equal(rows.at.at[i].kernel, str_of(kernel)) &&
            str_equal(rows.at.at[i].shapes, str_of(shapes)))
            return &rows.at.at[i];
    return NULL;
}

TEST(composites_are_spread_over_their_kernels)
{
    const struct test_event events[] = {
        {.dur = 78,
         .kernel = "A,B",
         .source = "S",
         .shapes = "[[4]]",
         .parts = "[('A', 9.0), ('C', 55.5)]"},
        {.dur = 12, .kernel = "A,B , ,C", .parts = "[('A', 1, 2)]"},
        {.dur = 5, .kernel = "A,"},
        {.dur = 9, .kernel = ""},
    };

    compare_shapes_predict(events, ARRAY_LEN(events));
    assert_int_equal(rows.at.n, 6);
    assert_true(shapes_find("A", "4")->predicted_us == 9.0);
    assert_true(shapes_find("C", "4")->predicted_us == 55.5);
    assert_true(shapes_find("B", "")->predicted_us == 4);
    /* One kernel is taken as it is written. */
    assert_true(shapes_find("A,", "")->predicted_us == 5);
    assert_str(shapes_find("C", "4")->source, "S");
}

TEST(the_last_source_and_all_counts_stay)
{
    const struct test_event events[] = {
        {.dur = 1, .kernel = "A", .source = "X"},
        {.dur = 2, .kernel = "A", .source = "Y"},
    };

    compare_shapes_predict(events, ARRAY_LEN(events));
    assert_int_equal(rows.at.n, 1);
    assert_int_equal(rows.at.at[0].predicted_n, 2);
    assert_str(rows.at.at[0].source, "Y");
    shape_rows_sort(&rows);
    assert_true(isinf(rows.at.at[0].delta_pct));
}

TEST(measured_rows_meet_predicted_ones_under_one_key)
{
    const struct test_event event = {.dur = 30, .kernel = "A", .shapes = "[[16, 2], [2, 3]]"};

    compare_shapes_predict(&event, 1);
    assert_int_equal(
        shapes_measure("Type,Start Time(us),Duration(us),Input Shapes\n"
                       "A,1,20,\"\"\"16,2;2,3\"\"\"\nhcom_x,7.1,5,N/A\nhcom_x,7.9,6,N/A\n"
                       "hcom_x,7.5,1,\"1,2\"\nyAicpuKernel,q,q,\n,q,q,\n"),
        ST_OK);
    shape_rows_sort(&rows);

    assert_int_equal(rows.at.n, 3);
    assert_true(rows.at.at[0].delta_pct == 50);
    assert_true(shapes_find("hcom_x", "N/A")->measured_us == 6);
    assert_int_equal(shapes_find("hcom_x", "N/A")->measured_n, 1);
    assert_true(rows.at.at[1].delta_pct == -100);
    assert_str(rows.at.at[2].shapes, "1,2");
}

TEST(a_time_that_is_no_number_ends_it_with_its_line)
{
    assert_int_equal(shapes_measure("Type,Start Time(us),Duration(us)\nA,1,2\nB,1,abc\n"),
                     ST_FORMAT);
    assert_int_equal(diag_count(&diag, "perfdb.bad-time"), 1);
    assert_int_equal(diag.entries.at[0].first[0].where.line, 3);
    /* Without a diag the row is left out. */
    assert_int_equal(shape_rows_measure(&rows, &m, SHAPE_PREDICTED, NULL), ST_OK);
    assert_int_equal(rows.at.n, 1);
    assert_int_equal(rows.at.at[0].predicted_n, 1);
}

TEST(a_start_that_is_no_number_ends_it_too)
{
    assert_int_equal(shapes_measure("Type,Start Time(us),Duration(us)\nA,x,2\n"), ST_FORMAT);
}

TEST_MAIN("opdb/compare/compare_shapes", TW(composites_are_spread_over_their_kernels),
          TW(the_last_source_and_all_counts_stay),
          TW(measured_rows_meet_predicted_ones_under_one_key),
          TW(a_time_that_is_no_number_ends_it_with_its_line),
          TW(a_start_that_is_no_number_ends_it_too))
