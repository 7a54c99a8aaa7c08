#include "input/db_strings.h"

#include "base/db_testing.h"
#include "base/testing.h"

static struct capture *cap;
static struct diag diag;
static struct str bytes;
static struct db db;
static struct db_strings strings;

static void read_sql(const char *sql, const char *table)
{
    bytes = db_made(sql);
    assert_int_equal(db_open(&db, "x.db", bytes, &diag), ST_OK);
    db_strings_read(&strings, &db, table);
}

static int fresh(void **state)
{
    (void)state;
    cap = capture_new();
    diag_init(&diag);
    return 0;
}

static int done(void **state)
{
    (void)state;
    db_strings_free(&strings);
    db_close(&db);
    diag_fini(&diag);
    capture_free(cap);
    free((void *)(uintptr_t)bytes.at);
    return 0;
}

TEST(texts_are_found_by_any_key)
{
    read_sql("CREATE TABLE S(id, value); INSERT INTO S VALUES (1,'a'),(2,'b'),(268435456,'c'),"
             "(-5,'d'),(9223372036854775807,'e'),(2,'again'),('x','no key'),(7,NULL);",
             "S");

    assert_str(db_strings_text(&strings, 1), "a");
    assert_str(db_strings_text(&strings, 2), "b");
    assert_str(db_strings_text(&strings, 268435456), "c");
    assert_str(db_strings_text(&strings, -5), "d");
    assert_str(db_strings_text(&strings, INT64_MAX), "e");
    assert_str(db_strings_text(&strings, INT64_MIN), "");
    assert_str(db_strings_text(&strings, 0), "");
    assert_str(db_strings_text(&strings, 7), "");
    assert_int_equal(strings.list.n, 6);
}

TEST(only_texts_that_are_used_are_interned)
{
    read_sql("CREATE TABLE S(id, name); INSERT INTO S VALUES (0,'used'),(1,'not used');", "S");

    strid id = db_strings_intern(&strings, cap, 0);
    assert_str(capture_text(cap, id), "used");
    assert_int_equal(db_strings_intern(&strings, cap, 0), id);
    assert_int_equal(db_strings_intern(&strings, cap, 9), 0);
    assert_int_equal(intern_find(&cap->strings, S("not used")), 0);
}

TEST(a_missing_table_is_an_empty_one)
{
    read_sql("CREATE TABLE t(a);", "S");
    assert_int_equal(strings.list.n, 0);
    assert_int_equal(diag.entries.n, 0);
}

#define TF(name) cmocka_unit_test_setup_teardown(name, fresh, done)

TEST_MAIN("input/db_strings", TF(texts_are_found_by_any_key),
          TF(only_texts_that_are_used_are_interned), TF(a_missing_table_is_an_empty_one))
