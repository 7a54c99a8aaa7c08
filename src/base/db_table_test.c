/* What is read without the engine is what the engine reads: every case is scanned both ways. */
#include "base/db_table.h"

#include <stdio.h>
#include <unistd.h>

#include "base/db.h"
#include "base/db_testing.h"
#include "base/hash.h"
#include "base/testing.h"

static struct diag diag;
static struct str bytes;

static int fresh(void **state)
{
    (void)state;
    diag_init(&diag);
    bytes = (struct str){0};
    return 0;
}

static int done(void **state)
{
    (void)state;
    diag_fini(&diag);
    free((void *)(uintptr_t)bytes.at);
    return 0;
}

static const char *const columns[] = {"a", "b", "c", "none", "b"};
enum { COLUMNS = ARRAY_LEN(columns) };

/* How a scan went. */
struct scan {
    uint64_t rows, direct; /* rows in all, and those read without the engine */
    uint64_t mix;          /* of all values, each as number, real, time and text */
    uint64_t damages;
};

static void mix_row(const struct db_rows *rows, uint64_t *mix)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        int64_t number = 0;
        double real = 0;
        nanos time = 0;
        uint64_t bits, has = db_i64(rows, i, &number);
        has = has * 2 + db_f64(rows, i, &real);
        has = has * 2 + db_us(rows, i, &time);
        memcpy(&bits, &real, sizeof(bits));
        *mix = hash_mix(*mix ^ has, (uint64_t)number);
        *mix = hash_mix(*mix ^ bits, (uint64_t)time);
        *mix = hash_mix(*mix, hash_bytes(db_text(rows, i)));
    }
}

static struct scan scan_at(const char *path, struct str text, bool is_direct)
{
    struct scan s = {0};
    struct db_rows rows;
    struct db db;

    if (db_open(&db, path, text, &diag) != ST_OK)
        return s;
    if (!is_direct)
        db.pages.n = 0;
    db_rows_open(&rows, &db, "t", columns, COLUMNS);
    while (db_rows_next(&rows)) {
        s.rows++;
        s.direct += rows.is_direct;
        mix_row(&rows, &s.mix);
    }
    s.damages = db.damages;
    db_close(&db);
    return s;
}

static struct scan scan(bool is_direct)
{
    return scan_at("made.db", bytes, is_direct);
}

/* Scans what `sql` makes both ways and gives the direct one. */
static struct scan both(const char *sql)
{
    bytes = db_made(sql);
    struct scan direct = scan(true), engine = scan(false);

    assert_int_equal(engine.direct, 0);
    assert_int_equal(direct.rows, engine.rows);
    assert_true(direct.mix == engine.mix);
    assert_int_equal(direct.damages, engine.damages);
    return direct;
}

TEST(values_of_every_sort_are_the_engines)
{
    struct scan s =
        both("CREATE TABLE t(a, x, b INTEGER, c REAL);"
             "INSERT INTO t VALUES (0, 9, 1, 2), (127, 9, -128, 1.5), (32767, 'x', -32768, 3),"
             "(8388607, 1, -8388608, -4), (2147483647, 1, -2147483648, 0.1),"
             "(140737488355327, 1, -140737488355328, 1e300), (9223372036854775807, 1,"
             "-9223372036854775808, -0.0), (NULL, NULL, NULL, NULL), ('text', 1, '12', '7.25'),"
             "('', 1, ' 5 ', 'NaN'), (x'0102', 1, x'', x'00'), (1e18, 1, 2.5, 9007199254740993),"
             "('a' || char(0) || 'b', 1, 1e19, 1736405443881410.25), (3.0, 1, 4.0, 5);");

    assert_int_equal(s.rows, 14);
    assert_int_equal(s.direct, 14);
}

TEST(a_tree_of_many_pages_is_walked_in_order)
{
    struct scan s =
        both("CREATE TABLE t(a INTEGER PRIMARY KEY, b, c TEXT);"
             "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)"
             "INSERT INTO t SELECT i * 3, i * i * i, 'name ' || i % 100 FROM n;"
             "DELETE FROM t WHERE a % 7 = 0;");

    assert_int_equal(s.rows, 60000 - 60000 / 7);
    assert_int_equal(s.direct, s.rows);
}

TEST(what_is_not_plain_is_left_to_the_engine)
{
    /* The rest after a row that goes on in other pages. */
    struct scan s = both("CREATE TABLE t(a, b, c); INSERT INTO t VALUES (1, 2, 3), (4, 5,"
                         "printf('%.9000c', 'x')), (6, 7, 8), (9, 10, 11);");
    assert_int_equal(s.rows, 4);
    assert_int_equal(s.direct, 1);
    free((void *)(uintptr_t)bytes.at);
    /* A column that is younger than the rows. */
    s = both("CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 2); ALTER TABLE t ADD c DEFAULT 7;"
             "INSERT INTO t VALUES (3, 4, 5);");
    assert_int_equal(s.rows, 2);
    assert_int_equal(s.direct, 0);
    free((void *)(uintptr_t)bytes.at);
    /* Columns that are computed. */
    s = both("CREATE TABLE t(g AS (a + b), a, b, c); INSERT INTO t VALUES (1, 2, 3), (4, 5, 6);");
    assert_int_equal(s.rows, 2);
    assert_int_equal(s.direct, 0);
    free((void *)(uintptr_t)bytes.at);
    s = both("CREATE TABLE t(a INTEGER PRIMARY KEY DESC, b, c); INSERT INTO t VALUES (5, 2, 3),"
             "(4, 5, 6), (NULL, 1, 1);");
    assert_int_equal(s.rows, 3);
    assert_int_equal(s.direct, 0);
    free((void *)(uintptr_t)bytes.at);
    s = both("CREATE TABLE t(a TEXT PRIMARY KEY, b, c) WITHOUT ROWID; INSERT INTO t VALUES"
             "('y', 2, 3), ('x', 5, 6);");
    assert_int_equal(s.rows, 2);
    assert_int_equal(s.direct, 0);
    free((void *)(uintptr_t)bytes.at);
    s = both("PRAGMA encoding = 'UTF-16le'; CREATE TABLE t(a, b, c);"
             "INSERT INTO t VALUES (1, 'text', 3);");
    assert_int_equal(s.rows, 1);
    assert_int_equal(s.direct, 0);
}

TEST(keys_are_numbers_of_rows_however_they_are_declared)
{
    struct scan s = both("CREATE TABLE t(b, a INTEGER, c, PRIMARY KEY(a));"
                         "INSERT INTO t VALUES ('x', 5, 1), ('y', NULL, 2), ('z', 70000, 3);");
    assert_int_equal(s.direct, 3);
    free((void *)(uintptr_t)bytes.at);
    s = both("CREATE TABLE t(a INT PRIMARY KEY, b, c);" /* not the number of the row */
             "INSERT INTO t VALUES (5, 1, 1), (NULL, 2, 2), (3, 3, 3);");
    assert_int_equal(s.direct, 3);
    free((void *)(uintptr_t)bytes.at);
    s = both("CREATE TABLE t(a INTEGER, b INTEGER, c, PRIMARY KEY(a, b));"
             "INSERT INTO t VALUES (5, 1, 1), (NULL, 2, 2);");
    assert_int_equal(s.direct, 2);
}

TEST(a_file_is_read_through_a_window)
{
    char path[] = "/tmp/strata-db-XXXXXX";
    int fd = mkstemp(path);
    struct scan s =
        both("CREATE TABLE t(a, b, c TEXT); CREATE TABLE u(a);"
             "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)"
             "INSERT INTO t SELECT i * 1000003, i / 8.0, 'name ' || i FROM n;");

    assert_int_equal(write(fd, bytes.at, bytes.n), bytes.n);
    close(fd);
    struct scan file = scan_at(path, (struct str){0}, true);
    assert_int_equal(file.direct, 30000);
    assert_true(file.mix == s.mix);
    assert_int_equal(truncate(path, (off_t)bytes.n / 2), 0);
    file = scan_at(path, (struct str){0}, true);
    assert_true(file.rows < 30000 && file.rows > 0);
    assert_true(file.damages > 0);
    unlink(path);
}

/* Damage is the engine's to tell; here it only must not do harm, and must come to an end. */
TEST(damaged_pages_do_no_harm)
{
    bytes = db_made("CREATE TABLE t(a INTEGER PRIMARY KEY, b, c TEXT);"
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
                    "INSERT INTO t SELECT i, i * 1.5, 'name ' || i FROM n;");
    char *at = (char *)(uintptr_t)bytes.at;
    uint64_t random = 1;

    for (int round = 0; round < 400; round++) {
        size_t place[4];
        char old[4];
        for (size_t i = 0; i < 4; i++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            size_t where = (size_t)(random >> 33) % bytes.n;
            /* Every other one hits the head of a page. */
            place[i] = i % 2 == 0 ? where : where / 512 * 512 + where % 16;
            old[i] = at[place[i]];
            at[place[i]] = (char)(random >> 24);
        }
        assert_true(scan(true).rows <= bytes.n);
        for (size_t i = 4; i-- > 0;)
            at[place[i]] = old[i];
    }
    assert_int_equal(scan(true).rows, 2000);
}

TEST_MAIN("base/db_table", TF(values_of_every_sort_are_the_engines),
          TF(a_tree_of_many_pages_is_walked_in_order), TF(what_is_not_plain_is_left_to_the_engine),
          TF(keys_are_numbers_of_rows_however_they_are_declared),
          TF(a_file_is_read_through_a_window), TF(damaged_pages_do_no_harm))
