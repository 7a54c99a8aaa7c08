#include "opdb/compare/compare_ops.h"

#include "base/testing_arena.h"
#include "opdb/compare_testing.h"

static struct ops_rows rows;
static struct predicted p;
static struct measured m;

static int ops_begin(void **state)
{
    ops_rows_init(&rows);
    p = (struct predicted){0};
    m = (struct measured){0};
    return arena_enter(state);
}

static int ops_end(void **state)
{
    ops_rows_free(&rows);
    predicted_free(&p);
    measured_free(&m);
    return arena_leave(state);
}

#define TW(name) cmocka_unit_test_setup_teardown(name, ops_begin, ops_end)

static enum status compare_ops_predict(const struct test_event *events, size_t n, const char *yaml)
{
    const struct tree *root = NULL;

    assert_int_equal(yaml_read(&arena, str_of(yaml), "map.yaml", &root, &diag), ST_OK);
    assert_int_equal(predicted_parse(&p, "t", test_trace(&arena, "", events, n), &diag), ST_OK);
    return ops_rows_predict(&rows, &p, root, &diag);
}

static const struct ops_row *compare_ops_find(const char *kernel)
{
    for (size_t i = 0; i < rows.at.n; i++)
        if (str_equal(rows.at.at[i].kernel, str_of(kernel)))
            return &rows.at.at[i];
    return NULL;
}

TEST(hits_and_misses_make_the_status)
{
    const struct test_event events[] = {
        {"torch.ops.a", 5, .kernel = "K"},
        {"torch.ops.b", 7, .kernel = "?"},
        {.name = "torch.ops.c", .dur = 1},
        {"free", 9, .kernel = "K"},
    };
    const char *yaml = "a: 3\noperator_mappings:\n  b: {kernel_type: K}\n"
                       "free: {zero_cost: true}\n";

    assert_int_equal(compare_ops_predict(events, ARRAY_LEN(events), yaml), ST_OK);
    assert_int_equal(rows.at.n, 2);
    ops_rows_sort(&rows);
    assert_string_equal(compare_ops_find("K")->status, "PARTIAL");
    assert_true(compare_ops_find("K")->predicted_us == 12);
    assert_int_equal(compare_ops_find("K")->n_names, 2);
    assert_str(compare_ops_find("K")->names[1], "b");
    /* Without an entry a miss stands under its own full name. */
    assert_string_equal(compare_ops_find("torch.ops.c")->status, "MISS");
    /* The only process is taken, with a warning. */
    assert_int_equal(diag_count(&diag, "perfdb.process-unnamed"), 1);
}

TEST(operator_mappings_come_before_the_top_level)
{
    const struct test_event events[] = {
        {.name = "torch.ops.a"}, {.name = "torch.ops.b"}, {.name = "n"}};
    const char *yaml =
        "a: {kernel_type: TOP}\noperator_mappings:\n  a: {kernel_type: IN}\n"
        "  torch.ops.b: {kernel_type: FULL}\nn: {zero_cost: no, kernel_type: null}\n";

    assert_int_equal(compare_ops_predict(events, ARRAY_LEN(events), yaml), ST_OK);
    assert_non_null(compare_ops_find("IN"));
    assert_non_null(compare_ops_find("FULL"));
    assert_non_null(compare_ops_find("n"));
    assert_int_equal(rows.at.n, 3);
}

TEST(a_fused_all_reduce_counts_as_one_more)
{
    const struct test_event events[] = {
        {"x.Matmul_All_Reduce", 6, .kernel = "A, B"},
        {"x.all_reduce", 4, .kernel = "hcom_allReduce_"},
        {"x.all_reduce", 4, .kernel = "A", .parts = "[['A', 1]]"},
    };

    assert_int_equal(compare_ops_predict(events, ARRAY_LEN(events), ""), ST_OK);
    assert_true(compare_ops_find("A")->predicted_us == 4);
    assert_int_equal(compare_ops_find("hcom_allReduce_")->predicted_n, 2);
    assert_true(compare_ops_find("hcom_allReduce_")->predicted_us == 4);
}

TEST(measured_sums_are_those_of_one_pass)
{
    struct str table = S("Type,Start Time(us),Duration(us)\nA,1,10\nA,2,x\nA,3,5\nhcom_r,y,4\n"
                         "hcom_r,0.5,6\nhcom_r,9,1\nzAicpuKernel,1,1\n,1,1\n");

    assert_int_equal(measured_parse(&m, "m", table, &diag), ST_OK);
    ops_rows_measure(&rows, &m, 2);
    ops_rows_sort(&rows);

    assert_int_equal(rows.at.n, 2);
    assert_true(compare_ops_find("A")->measured_us == 7.5);
    assert_true(compare_ops_find("A")->measured_n == 1.5);
    /* A start that is no number is 0. */
    assert_true(compare_ops_find("hcom_r")->measured_us == 3.5);
    assert_true(compare_ops_find("hcom_r")->measured_n == 1);
    assert_string_equal(compare_ops_find("A")->status, "TC未建模");
    assert_true(ops_error(3, 0) == 0 && ops_error(3, 2) == 50);
}

TEST(several_unnamed_processes_are_an_error_that_names_them)
{
    const struct test_event events[] = {{.pid = 10}, {.pid = 9}};

    assert_int_equal(compare_ops_predict(events, ARRAY_LEN(events), ""), ST_FORMAT);
    assert_non_null(strstr(diag.entries.at[0].first[0].text, "{9, 10}"));
}

TEST(equal_times_as_written_are_in_order_of_names)
{
    const struct test_event events[] = {
        {.name = "b", .dur = 1.04}, {.name = "a", .dur = 1.01}, {.name = "c", .dur = 3}};

    assert_int_equal(compare_ops_predict(events, ARRAY_LEN(events), ""), ST_OK);
    ops_rows_sort(&rows);
    assert_str(rows.at.at[0].kernel, "c");
    assert_str(rows.at.at[1].kernel, "a");
    assert_str(rows.at.at[2].kernel, "b");
}

TEST_MAIN("opdb/compare/compare_ops", TW(hits_and_misses_make_the_status),
          TW(operator_mappings_come_before_the_top_level),
          TW(a_fused_all_reduce_counts_as_one_more), TW(measured_sums_are_those_of_one_pass),
          TW(several_unnamed_processes_are_an_error_that_names_them),
          TW(equal_times_as_written_are_in_order_of_names))
