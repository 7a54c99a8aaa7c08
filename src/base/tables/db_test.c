#include "base/tables/db.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/db_testing.h"
#include "base/run/cancel.h"
#include "base/testing.h"

static struct diag diag;
static struct str bytes;
static struct db db;

static int fresh(void **state)
{
    (void)state;
    diag_init(&diag);
    bytes = (struct str){0};
    db = (struct db){0};
    return 0;
}

static int done(void **state)
{
    (void)state;
    if (db.handle != NULL)
        db_close(&db);
    diag_fini(&diag);
    free((void *)(uintptr_t)bytes.at);
    return 0;
}

static enum status open_made(const char *sql)
{
    bytes = db_made(sql);
    return db_open(&db, "made.db", bytes, &diag);
}

static const char *const ab[] = {"a", "b"};

TEST(rows_come_in_the_order_of_the_file_with_their_values)
{
    struct db_rows rows;
    int64_t number;
    double real;

    assert_int_equal(open_made("CREATE TABLE t(b, a); INSERT INTO t VALUES (1.5, 7), (2, '8');"),
                     ST_OK);
    assert_true(db_rows_open(&rows, &db, "t", ab, 2));
    assert_true(db_rows_next(&rows));
    assert_true(db_i64(&rows, 0, &number));
    assert_int_equal(number, 7);
    assert_true(db_f64(&rows, 1, &real));
    assert_true(real == 1.5);
    assert_false(db_i64(&rows, 1, &number));
    assert_true(db_rows_next(&rows));
    assert_true(db_i64(&rows, 0, &number)); /* text that is a number is one */
    assert_int_equal(number, 8);
    assert_str(db_text(&rows, 0), "8");
    assert_str(db_text(&rows, 1), "2");
    assert_false(db_rows_next(&rows));
    assert_int_equal(diag.entries.n, 0);
}

TEST(rows_are_taken_as_structs)
{
    struct row {
        int64_t number, other;
        double real;
        struct str text;
        struct db_name name;
        nanos time;
    } row;
    static const struct db_column columns[] = {
        DB_COLUMN(struct row, number, "n"), DB_OR(struct row, other, "none", -1),
        DB_COLUMN(struct row, real, "r"),   DB_COLUMN(struct row, text, "t"),
        DB_COLUMN(struct row, name, "id"),  DB_TIME(struct row, time, "us", DB_AS_US, 9),
    };
    struct db_rows rows;

    assert_int_equal(open_made("CREATE TABLE t(n, r, t, id, us); INSERT INTO t VALUES "
                               "(1, 0.5, 'x', 7, 1.5), (NULL, NULL, NULL, 'word', 'no');"),
                     ST_OK);
    assert_true(DB_SCAN(&rows, &db, "t", columns));
    assert_true(db_read_row(&rows, &row));
    assert_int_equal(row.number, 1);
    assert_int_equal(row.other, -1);
    assert_true(row.real == 0.5);
    assert_str(row.text, "x");
    assert_int_equal(row.name.id, 7);
    assert_int_equal(row.time, 1500);
    assert_true(db_read_row(&rows, &row));
    assert_true(row.number == DB_NONE && row.name.id == DB_NONE && row.real == 0);
    assert_str(row.name.text, "word");
    assert_int_equal(row.time, 9);
    assert_false(db_read_row(&rows, &row));
}

TEST(no_value_is_trusted_to_have_a_type)
{
    struct db_rows rows;
    int64_t number = 42;
    double real = 42;
    nanos time = 42;

    open_made("CREATE TABLE t(a INTEGER); INSERT INTO t VALUES (NULL), (x'0102'), ('x'), (9e99);");
    db_rows_open(&rows, &db, "t", ab, 2);
    for (int i = 0; i < 4; i++) {
        assert_true(db_rows_next(&rows));
        assert_false(db_i64(&rows, 0, &number));
        assert_false(db_time(&rows, 0, DB_AS_US, &time));
        assert_int_equal(db_f64(&rows, 0, &real), i == 3);
        if (i < 2)
            assert_int_equal(db_text(&rows, 0).n, 0);
    }
    assert_false(db_rows_next(&rows));
    assert_int_equal(number, 42);
    assert_int_equal(time, 42);
}

TEST(a_column_has_several_spellings_or_is_missing)
{
    static const char *const columns[] = {"blockDim|blockNum", "gone"};
    struct db_rows rows;
    int64_t number;

    open_made("CREATE TABLE t(blocknum); INSERT INTO t VALUES (5);");
    assert_true(db_rows_open(&rows, &db, "t", columns, 2));
    assert_true(db_rows_next(&rows));
    assert_true(db_i64(&rows, 0, &number));
    assert_int_equal(number, 5);
    assert_false(db_i64(&rows, 1, &number));
    assert_str(db_text(&rows, 1), "");
    db_rows_close(&rows);
    assert_false(db_rows_open(&rows, &db, "none", columns, 2));
    assert_false(db_rows_next(&rows));
    assert_int_equal(diag.entries.n, 0);
}

TEST(decimal_times_are_exact_although_they_are_stored_as_doubles)
{
    struct db_rows rows;
    nanos time;

    open_made("CREATE TABLE t(a, b);"
              "INSERT INTO t VALUES (1736410576431645.2, 98071.947), (3, '0.001');");
    db_rows_open(&rows, &db, "t", ab, 2);
    db_rows_next(&rows);
    assert_true(db_time(&rows, 0, DB_AS_US, &time));
    assert_int_equal(time, 1736410576431645200);
    assert_true(db_time(&rows, 1, DB_AS_US, &time));
    assert_int_equal(time, 98071947);
    db_rows_next(&rows);
    assert_true(db_time(&rows, 0, DB_AS_MS, &time));
    assert_int_equal(time, 3000000);
    assert_true(db_time(&rows, 1, DB_AS_MS, &time));
    assert_int_equal(time, 1000);
    db_rows_close(&rows);
}

TEST(views_and_virtual_tables_are_reported_instead_of_read)
{
    struct db_rows rows;

    open_made("CREATE TABLE t(a); CREATE VIEW v(a) AS SELECT 1;"
              "CREATE VIRTUAL TABLE f USING rtree(a, b, c);");
    assert_true(db_has_table(&db, S("t")));
    assert_true(db_has_table(&db, S("v")));
    assert_false(db_has_table(&db, S("x")));
    assert_false(db_rows_open(&rows, &db, "x", ab, 2));
    assert_int_equal(diag_count(&diag, "db.view"), 0);
    assert_false(db_rows_open(&rows, &db, "v", ab, 2));
    assert_false(db_rows_open(&rows, &db, "f", ab, 2));
    assert_false(db_rows_open(&rows, &db, "v", ab, 2)); /* reported once */
    assert_int_equal(diag_count(&diag, "db.view"), 2);
}

TEST(generated_columns_are_read)
{
    static const char *const columns[] = {"a", "stored", "computed", "word", "b"};
    static const int64_t expected[] = {7, 14, 21, 4, 9};
    struct db_rows rows;
    int64_t value;

    open_made("CREATE TABLE t(a INT, computed INT GENERATED ALWAYS AS (a * 3) VIRTUAL,"
              " stored INT AS (a * 2) STORED, word AS (length('four') * 1), b INT);"
              "INSERT INTO t(a, b) VALUES (7, 9);");
    assert_true(db_rows_open(&rows, &db, "t", columns, ARRAY_LEN(columns)));
    assert_true(db_rows_next(&rows));
    for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
        assert_true(db_i64(&rows, i, &value));
        assert_int_equal(value, expected[i]);
    }
    assert_false(db_rows_next(&rows));
    db_rows_close(&rows);
}

static void write_text(const char *path, struct str text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(text.at, 1, text.n, file), text.n);
    fclose(file);
}

static struct str db_read_text(const char *path, char *buffer, size_t size)
{
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    struct str text = {buffer, fread(buffer, 1, size, file)};
    fclose(file);
    return text;
}

TEST(other_files_are_refused_by_name)
{
    char page[4096] = "SQLite format 3";

    assert_int_equal(db_open(&db, "x.db", S("too short"), &diag), ST_FORMAT);
    assert_int_equal(diag_count(&diag, "db.not-a-database"), 1);
    memset(page + 16, 0xa5, sizeof(page) - 16); /* the magic, then noise: an encrypted file */
    assert_int_equal(db_open(&db, "x.db", (struct str){page, sizeof(page)}, &diag), ST_FORMAT);
    assert_int_equal(db_open(&db, "no-such-file.db", (struct str){0}, &diag), ST_NOT_FOUND);
    assert_null(db.handle);
}

static const char many[] =
    "CREATE TABLE t(a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
    "2000) INSERT INTO t SELECT i FROM n;";

static uint64_t db_count_rows(void)
{
    struct db_rows rows;
    uint64_t n = 0;

    db_rows_open(&rows, &db, "t", ab, 1);
    while (db_rows_next(&rows))
        n++;
    return n;
}

TEST(a_file_that_ends_early_gives_what_is_there)
{
    bytes = db_made(many);
    struct str half = str_part(bytes, 0, bytes.n / 2);
    assert_int_equal(db_open(&db, "half.db", half, &diag), ST_OK);
    uint64_t n = db_count_rows();
    assert_true(n > 100 && n < 2000);
    assert_true(diag_count(&diag, "db.damaged") == 2); /* the file, then the table */
    assert_int_equal(db.damages, 2);
}

TEST(a_damaged_page_ends_the_scan_and_is_told)
{
    bytes = db_made(many);
    memset((char *)(uintptr_t)bytes.at + bytes.n / 2 / 512 * 512, 0xff, 512);
    assert_int_equal(db_open(&db, "bad.db", bytes, &diag), ST_OK);
    uint64_t n = db_count_rows();
    assert_true(n > 100 && n < 2000);
    assert_int_equal(diag_count(&diag, "db.damaged"), 1);
    assert_in_range(n + db.damages, 1995, 2005); /* of 2000 rows */
}

TEST(pages_that_lead_in_circles_end)
{
    bytes = db_made(many);
    char *at = (char *)(uintptr_t)bytes.at;
    /* The root of t is page 2, an interior one: all its children become the first child's page. */
    const char *root = at + 512;
    unsigned cells = (unsigned char)root[3] << 8 | (unsigned char)root[4];
    assert_int_equal(root[0], 5);
    for (unsigned c = 0; c < cells; c++) {
        unsigned cell = (unsigned char)root[12 + 2 * c] << 8 | (unsigned char)root[13 + 2 * c];
        memcpy(at + 512 + cell, at + 512 + 8, 4);
    }
    assert_int_equal(db_open(&db, "loop.db", bytes, &diag), ST_OK);
    assert_true(db_count_rows() <= bytes.n / 4 + 1);
}

/* What a writer leaves that is killed after some of its pages have been written. */
TEST(a_database_in_the_middle_of_a_transaction_is_refused)
{
    static char data[1 << 20], journal_data[1 << 20];
    char folder[] = "/tmp/strata-db-XXXXXX", path[64], copy[64], journal[80];
    sqlite3 *made;

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/live.db", folder);
    snprintf(copy, sizeof(copy), "%s/copy.db", folder);
    snprintf(journal, sizeof(journal), "%s/live.db-journal", folder);
    assert_int_equal(sqlite3_open(path, &made), SQLITE_OK);
    sqlite3_exec(made, "PRAGMA cache_size = 1;", NULL, NULL, NULL);
    sqlite3_exec(made, many, NULL, NULL, NULL);
    assert_int_equal(sqlite3_exec(made, "BEGIN; UPDATE t SET a = a + 1;", NULL, NULL, NULL),
                     SQLITE_OK);
    struct str half = db_read_text(path, data, sizeof(data));
    struct str before = db_read_text(journal, journal_data, sizeof(journal_data));
    sqlite3_close(made);

    write_text(copy, half);
    snprintf(journal, sizeof(journal), "%s/copy.db-journal", folder);
    write_text(journal, before);
    assert_int_equal(db_open(&db, copy, (struct str){0}, &diag), ST_FORMAT);
    assert_int_equal(diag_count(&diag, "db.journal"), 1);
    assert_null(db.handle);
    assert_int_equal(db_peek(&db, copy, &diag), ST_OK);
    assert_true(db_has_table(&db, S("t")));
    db_close(&db);

    memset(journal_data, 0, 28); /* the header of one that was finished and kept */
    write_text(journal, before);
    assert_int_equal(db_open(&db, copy, (struct str){0}, &diag), ST_OK);
    db_close(&db);
    unlink(journal);
    unlink(copy);
    unlink(path);
    rmdir(folder);
}

TEST(files_in_wal_mode_are_read_in_memory_and_from_read_only_folders)
{
    char folder[] = "/tmp/strata-db-XXXXXX", path[64], wal[80];
    sqlite3 *made;
    struct db_rows rows;

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/odd ?#%%.db", folder);
    snprintf(wal, sizeof(wal), "%s-wal", path);
    assert_int_equal(sqlite3_open(path, &made), SQLITE_OK);
    sqlite3_exec(made, "PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1);",
                 NULL, NULL, NULL);
    sqlite3_close(made);
    FILE *file = fopen(wal, "w");
    fputs("rows of a writer that was killed", file);
    fclose(file);
    chmod(folder, 0555);
    assert_int_equal(db_open(&db, path, (struct str){0}, &diag), ST_OK);
    assert_int_equal(diag_count(&diag, "db.wal"), 1);
    assert_true(db_rows_open(&rows, &db, "t", ab, 1));
    assert_true(db_rows_next(&rows));
    db_rows_close(&rows);
    db_close(&db);

    char text[16384];
    file = fopen(path, "r");
    size_t n = fread(text, 1, sizeof(text), file);
    fclose(file);
    assert_int_equal(text[18], 2);
    assert_int_equal(db_open(&db, "x.db", (struct str){text, n}, &diag), ST_OK);
    assert_int_equal(db_count_rows(), 1);
    chmod(folder, 0755);
    unlink(path);
    unlink(wal);
    rmdir(folder);
}

TEST(an_interruption_ends_a_scan_without_blaming_the_file)
{
    bytes = db_made(many);
    db_open(&db, "x.db", bytes, &diag);
    cancel_request(SIGINT);
    uint64_t n = db_count_rows();
    cancel_clear();
    assert_true(n <= 2000);
    assert_int_equal(diag_count(&diag, "db.damaged"), 0);
}

#define TF(name) cmocka_unit_test_setup_teardown(name, fresh, done)

TEST_MAIN("base/tables/db", TF(rows_come_in_the_order_of_the_file_with_their_values),
          TF(rows_are_taken_as_structs), TF(no_value_is_trusted_to_have_a_type),
          TF(a_column_has_several_spellings_or_is_missing),
          TF(decimal_times_are_exact_although_they_are_stored_as_doubles),
          TF(views_and_virtual_tables_are_reported_instead_of_read), TF(generated_columns_are_read),
          TF(a_database_in_the_middle_of_a_transaction_is_refused),
          TF(other_files_are_refused_by_name), TF(a_file_that_ends_early_gives_what_is_there),
          TF(a_damaged_page_ends_the_scan_and_is_told), TF(pages_that_lead_in_circles_end),
          TF(files_in_wal_mode_are_read_in_memory_and_from_read_only_folders),
          TF(an_interruption_ends_a_scan_without_blaming_the_file))
