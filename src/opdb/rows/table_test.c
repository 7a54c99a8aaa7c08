#include "opdb/rows/table.h"

#include <sys/stat.h>

#include "base/formats/json_write.h"
#include "base/testing_folder.h"
#include "opdb/rows/columns.h"

static struct op_table table;

static enum status table_test_parse(struct str text)
{
    diag_init(&diag);
    return table_parse(&table, "t.csv", text, &diag);
}

static void table_test_done(void)
{
    table_free(&table);
    diag_fini(&diag);
}

TEST(a_mark_after_blank_lines_is_no_part_of_the_name)
{
    assert_int_equal(table_test_parse(S("\n\n\xef\xbb\xbf"
                                        "Input Shapes,B\n1,2\n")),
                     ST_OK);
    assert_int_equal(table_column(&table, COL_INPUT_SHAPES), 0);
    table_test_done();
}

TEST(the_dialect_of_exporters_is_read)
{
    assert_int_equal(
        table_test_parse(
            S("\xef\xbb\xbfInput Shapes,B\r\n\"\"\"16,5120\"\"\",1\t\n\na\"b,\"x\ny\"\n")),
        ST_OK);
    assert_true(table.has_bom);
    assert_int_equal(table.n_rows, 2);
    assert_str(table_cell(&table, 0, table_column(&table, COL_INPUT_SHAPES)), "\"16,5120\"");
    assert_str(table_cell(&table, 0, 1), "1\t");
    assert_str(table_cell(&table, 1, 0), "a\"b");
    assert_str(table_cell(&table, 1, 1), "x\ny");
    assert_int_equal(table.lines.at[0], 2);
    assert_int_equal(table.lines.at[1], 4);
    assert_int_equal(table_column(&table, S("none")), -1);
    assert_str(table_cell(&table, 0, -1), "");
    table_test_done();
}

TEST(rows_may_be_ragged)
{
    assert_int_equal(table_test_parse(S("a,b,c\n1\n1,2,3,4\n1,2,3\n")), ST_OK);
    assert_int_equal(table.n_rows, 3);
    assert_str(table_cell(&table, 0, 2), "");
    assert_str(table_cell(&table, 1, 2), "3");
    assert_int_equal(table.ragged.n, 2);
    assert_int_equal(table.ragged.at[1].line, 3);
    assert_int_equal(table.ragged.at[1].cells, 4);
    table_test_done();
}

TEST(what_is_no_table_is_refused)
{
    assert_int_equal(
        table_test_parse(S("version https://git-lfs.github.com/spec/v1\noid sha256:1\n")),
        ST_FORMAT);
    assert_int_equal(diag_count(&diag, "perfdb.lfs-pointer"), 1);
    table_test_done();
    assert_int_equal(table_test_parse(S("a,b\n1,\"2\n3,4\n")), ST_FORMAT);
    assert_int_equal(diag_count(&diag, "perfdb.cut-off"), 1);
    table_test_done();
    assert_int_equal(table_test_parse(S("")), ST_OK);
    assert_int_equal(table.columns.n, 0);
    table_test_done();
}

TEST(columns_are_moved_with_their_cells)
{
    const struct str wanted[] = {S_INIT("new"), S_INIT("c"), S_INIT("a"), S_INIT("a")};

    assert_int_equal(table_test_parse(S("a,b,c,a\n1,2,3,4\n5,6,7,8\n")), ST_OK);
    table_arrange(&table, wanted, 4);
    assert_int_equal(table.columns.n, 4);
    assert_str(table_cell(&table, 1, 0), "");
    assert_str(table_cell(&table, 1, 1), "7");
    assert_str(table_cell(&table, 1, 2), "5");
    assert_str(table_cell(&table, 1, 3), "8");
    assert_int_equal(table_add_column(&table, S("z")), 4);
    assert_int_equal(table_add_column(&table, S("c")), 1);
    assert_str(table_cell(&table, 1, 3), "8");
    size_t row = table_add_row(&table);
    table_set(&table, row, 4, S("last"));
    const bool drop[] = {true, false, false};
    table_drop_rows(&table, drop);
    assert_int_equal(table.n_rows, 2);
    assert_str(table_cell(&table, 0, 1), "7");
    assert_str(table_cell(&table, 1, 4), "last");
    table_test_done();
}

TEST(writing_quotes_only_what_must_be)
{
    struct text out = {0};

    assert_int_equal(table_test_parse(S("a,b\n\"\"\"1,2\"\"\", x \n\"l\nf\",\"\"\n")), ST_OK);
    assert_true(table_print(&table, TABLE_BOM, text_sink(&out)));
    assert_str(((struct str){out.at, out.n}), "\xef\xbb\xbf"
                                              "a,b\r\n\"\"\"1,2\"\"\", x \r\n\"l\nf\",\r\n");
    text_free(&out);
    table_test_done();
}

TEST(a_file_is_replaced_as_a_whole)
{
    struct op_table again;
    struct fs_list list;

    const char *path = scratch_path("Add.csv");
    assert_int_equal(table_test_parse(S("a,b\n1,2\n")), ST_OK);
    assert_int_equal(table_write(&table, path, TABLE_NO_BOM, &diag), ST_OK);
    assert_int_equal(chmod(path, 0640), 0);
    table_set(&table, 0, 0, S("3"));
    assert_int_equal(table_write(&table, path, TABLE_NO_BOM, &diag), ST_OK);
    assert_int_equal(table_read(&again, path, &diag), ST_OK);
    assert_true(table_equal(&table, &again));
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(fs_list(&arena, scratch, &list, &diag), ST_OK);
    assert_int_equal(list.n, 1);
    table_free(&again);
    assert_int_equal(table_write(&table, scratch_path("no/Add.csv"), TABLE_NO_BOM, &diag), ST_IO);
    table_free(&table);
}

TEST(a_file_with_the_same_bytes_is_left_alone)
{
    struct stat before, after;
    const char *path = scratch_path("Add.csv");

    assert_int_equal(table_test_parse(S("a,b\n1,2\n")), ST_OK);
    assert_false(table_is_at(&table, TABLE_NO_BOM, path));
    assert_int_equal(table_write(&table, path, TABLE_NO_BOM, &diag), ST_OK);
    assert_int_equal(stat(path, &before), 0);
    assert_true(table_is_at(&table, TABLE_NO_BOM, path));
    assert_false(table_is_at(&table, TABLE_BOM, path));
    assert_int_equal(table_write(&table, path, TABLE_NO_BOM, &diag), ST_OK);
    assert_int_equal(stat(path, &after), 0);
    assert_true(before.st_ino == after.st_ino);
    table_add_row(&table);
    assert_false(table_is_at(&table, TABLE_NO_BOM, path)); /* the file is its beginning */
    assert_int_equal(table_write(&table, path, TABLE_NO_BOM, &diag), ST_OK);
    assert_int_equal(stat(path, &after), 0);
    assert_true(before.st_ino != after.st_ino);
    table_free(&table);
}

TEST(names_of_files)
{
    assert_str(table_stem("a/b/MatMulV2.csv"), "MatMulV2");
    assert_true(table_is_temporary(S("Add.tmp.csv")));
    assert_false(table_is_temporary(S("Add.csv")));
    assert_true(table_is_leftover(S("Add.999999999.strata.tmp.csv")));
    assert_true(table_is_leftover(S("a.b.999999999.strata.tmp.md")));
    assert_false(table_is_leftover(S("Add.tmp.csv")));
    assert_false(table_is_leftover(S("Add.strata.tmp.csv")));
    assert_false(table_is_leftover(S("Add.1.strata.tmp.csv"))); /* lives */
    assert_false(table_is_leftover(S("Add.999999999.strata.tmp.csv.bak")));
    assert_false(table_is_leftover(S("Add.999999999.strata.tmp.csv~backup")));
    assert_false(table_is_leftover(S("Add.999999999.strata.tmp")));
    assert_false(table_is_leftover(S(".999999999.strata.tmp.csv")));
}

TEST_MAIN("opdb/rows/table", T(the_dialect_of_exporters_is_read), T(rows_may_be_ragged),
          T(a_mark_after_blank_lines_is_no_part_of_the_name), T(what_is_no_table_is_refused),
          T(columns_are_moved_with_their_cells), T(writing_quotes_only_what_must_be),
          TS(a_file_is_replaced_as_a_whole), TS(a_file_with_the_same_bytes_is_left_alone),
          T(names_of_files))
