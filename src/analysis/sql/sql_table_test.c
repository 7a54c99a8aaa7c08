#include "analysis/sql/sql_table.h"

#include "analysis/diagnose/testing_diagnose.h"
#include "base/files/embedded.h"

static const char *const names[] = {
#define SQL_TABLE(sym, ...) #sym,
#include "analysis/sql/sql_tables.def"
#undef SQL_TABLE
};

TEST(each_table_runs_and_has_a_unit_for_each_column)
{
    launch(0, US, 2 * US, 3 * US);
    launch(4 * US, 5 * US, 9 * US, 10 * US);
    start_study();
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct str statement;
        struct sql_table_rows read = {0};
        const char *path = arena_printf(&study.scratch, "tables/%s.sql", names[i]);
        if (!sql_table_read(&study.scratch, embedded_file(path), &read, &statement))
            fail_msg("%s: a line without a known unit", path);
        const struct sql_table_rows *rows = sql_table_find(&study, names[i]);
        if (rows->rows.n == 0 || rows->rows.width != read.n)
            fail_msg("%s: %zu rows of %zu columns, %zu are described", path, rows->rows.n,
                     rows->rows.width, read.n);
    }
}

TEST(a_line_without_a_unit_is_no_column)
{
    struct sql_table_rows out = {0};
    struct str statement;

    start_study();
    assert_true(sql_table_read(&study.scratch, S("-- column unit head\n-- a ms the a\nSELECT 1\n"),
                               &out, &statement));
    assert_int_equal(out.n, 1);
    assert_true(str_equal(out.columns[0].head, S("the a")));
    assert_true(str_equal(statement, S("SELECT 1\n")));
    assert_false(sql_table_read(&study.scratch, S("-- column unit head\n-- a hours x\nSELECT 1"),
                                &out, &statement));
    assert_false(sql_table_read(&study.scratch, S("SELECT 1"), &out, &statement));
}

TEST(kernels_are_summed_by_name)
{
    launch_named("a", 0, US, 2 * US, 3 * US);
    launch_named("b", US, 2 * US, 4 * US, 9 * US);
    launch_named("a", 2 * US, 3 * US, 10 * US, 12 * US);
    start_study();
    const struct sql_table_rows *rows = sql_table_find(&study, "kernels");
    assert_int_equal(rows->rows.n, 2);
    const struct field_value *b = rows->rows.cells, *a = b + rows->n;
    assert_str(b[0].text, "b");
    assert_int_equal(a[2].i, 2);
    assert_int_equal(a[3].i, 3 * US);
    assert_true(a[4].real == 3.0 / 8);
}

TEST_MAIN("analysis/sql/sql_table", CASE(each_table_runs_and_has_a_unit_for_each_column),
          CASE(a_line_without_a_unit_is_no_column), CASE(kernels_are_summed_by_name))
