#include "opdb/rows/sqlview.h"

#include "base/tables/db.h"
#include "base/testing_folder.h"

static struct str heard;

static bool sqlview_note_head(void *ctx __attribute__((unused)), const char *const *names, size_t n)
{
    heard = S("");
    for (size_t i = 0; i < n; i++)
        heard = arena_format(&arena, "%.*s%s|", STR_ARGS(heard), names[i]);
    return true;
}

static bool sqlview_note_row(void *ctx __attribute__((unused)), const struct field_value *cells,
                             size_t n)
{
    heard = arena_format(&arena, "%.*s\n", STR_ARGS(heard));
    for (size_t i = 0; i < n; i++)
        switch (cells[i].type) {
        case VALUE_BOOL:
        case VALUE_UINT:
        case VALUE_NONE:
            heard = arena_format(&arena, "%.*snull|", STR_ARGS(heard));
            break;
        case VALUE_INT:
            heard = arena_format(&arena, "%.*s%lld|", STR_ARGS(heard), (long long)cells[i].i);
            break;
        case VALUE_REAL:
            heard = arena_format(&arena, "%.*s%g|", STR_ARGS(heard), cells[i].real);
            break;
        case VALUE_TEXT:
            heard = arena_format(&arena, "%.*s'%.*s'|", STR_ARGS(heard), STR_ARGS(cells[i].text));
            break;
        }
    return true;
}

static enum status sqlview_test_run(const char *sql)
{
    const struct sqlview_sink sink = {sqlview_note_head, sqlview_note_row, NULL};
    struct place_files tree;

    scratch_put("A/s/v1/Mul.csv", "Input Shapes,us,us\n\"\"\"4,5\"\"\",2.5\t,x\n7,,y\n");
    scratch_put("B/s/v1/Mul.csv", "us,Mine\n3,m\n");
    assert_int_equal(place_find(&arena, scratch, NULL, 0, &tree, &diag), ST_OK);
    return sqlview_run(&tree, str_of(sql), &sink, &diag);
}

/* The bytes are read back by SQLite, and are the same the second time. */
TEST(all_tables_make_a_file)
{
    struct sqlview_file a, b;
    struct place_files tree;
    struct db db;
    struct db_rows rows;
    static const char *const columns[] = {"us", "_device"};
    double us = 0;

    scratch_put("A/s/v1/Mul.csv", "Input Shapes,us\n7,2.5\n");
    scratch_put("A/s/v1/Add.csv", "us\n3\n");
    assert_int_equal(place_find(&arena, scratch, NULL, 0, &tree, &diag), ST_OK);
    assert_int_equal(sqlview_file(&tree, &a, &diag), ST_OK);
    assert_int_equal(sqlview_file(&tree, &b, &diag), ST_OK);
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.at, b.at, a.n);
    assert_int_equal(db_open(&db, "file.db", (struct str){(const char *)a.at, a.n}, &diag), ST_OK);
    assert_true(db_has_table(&db, S("Add")));
    assert_true(db_rows_open(&rows, &db, "Mul", columns, 2));
    assert_true(db_rows_next(&rows));
    assert_true(db_f64(&rows, 0, &us) && us == 2.5);
    assert_false(db_rows_next(&rows));
    db_rows_close(&rows);
    db_close(&db);
    sqlview_file_free(&a);
    sqlview_file_free(&b);
}

TEST(files_of_one_operator_are_one_table)
{
    assert_int_equal(
        sqlview_test_run("SELECT _device, _line, us, Mine FROM Mul ORDER BY _device, _line"),
        ST_OK);
    assert_string_equal(heard.at, "_device|_line|us|Mine|\n'A'|2|2.5|null|\n'A'|3|null|null|\n"
                                  "'B'|2|3|'m'|");
    assert_int_equal(
        sqlview_test_run("SELECT \"Input Shapes\" FROM mul WHERE us > 2.4 AND _stack = 's' "
                         "AND _version = 'v1' ORDER BY us -- done"),
        ST_OK);
    assert_string_equal(heard.at, "Input Shapes|\n'\"4,5\"'|\nnull|");
    assert_int_equal(sqlview_test_run("SELECT name FROM sqlite_master"), ST_OK);
    assert_string_equal(heard.at, "name|\n'Mul'|");
}

TEST(nothing_but_one_select_is_taken)
{
    assert_int_equal(sqlview_test_run("DELETE FROM Mul"), ST_UNSUPPORTED);
    assert_int_equal(sqlview_test_run("SELECT 1; SELECT 2"), ST_UNSUPPORTED);
    assert_int_equal(sqlview_test_run("SELECT 1; DROP TABLE Mul"), ST_UNSUPPORTED);
    assert_int_equal(sqlview_test_run("ATTACH '/tmp/x' AS x"), ST_UNSUPPORTED);
    assert_int_equal(sqlview_test_run("PRAGMA user_version"), ST_UNSUPPORTED);
    assert_int_equal(sqlview_test_run("SELECT load_extension('x')"), ST_UNSUPPORTED);
    assert_int_equal(sqlview_test_run("SELECT nothing FROM Mul"), ST_UNSUPPORTED);
    assert_int_equal(sqlview_test_run(" -- "), ST_UNSUPPORTED);
}

TEST_MAIN("opdb/rows/sqlview", TS(all_tables_make_a_file), TS(files_of_one_operator_are_one_table),
          TS(nothing_but_one_select_is_taken))
