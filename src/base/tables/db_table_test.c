/* What is read without the engine is what the engine reads: every case is scanned both ways, the
 * second time with STRATA_SQLITE=engine. */
#include "base/tables/db_table.h"

#include <stdio.h>
#include <unistd.h>

#include "base/db_testing.h"
#include "base/tables/db.h"
#include "base/tables/hash.h"
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

enum { ROWS_KEPT = 4096 };

/* How a scan went. */
struct scan {
    uint64_t rows, direct; /* rows in all, and those read without the engine */
    uint64_t mix;          /* of all values, each as number, real, time and text */
    uint64_t damages;
    uint64_t mixes[ROWS_KEPT]; /* after each of the first rows */
};

static void mix_row(const struct db_rows *rows, uint64_t *mix)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        int64_t number = 0;
        double real = 0;
        nanos time = 0;
        uint64_t bits, has = db_i64(rows, i, &number);
        has = has * 2 + db_f64(rows, i, &real);
        has = has * 2 + db_time(rows, i, DB_AS_US, &time);
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

    if (!is_direct)
        setenv("STRATA_SQLITE", "engine", 1);
    enum status st = db_open(&db, path, text, &diag);
    unsetenv("STRATA_SQLITE");
    if (st != ST_OK)
        return s;
    db_rows_open(&rows, &db, "t", columns, COLUMNS);
    while (db_rows_next(&rows)) {
        s.direct += rows.is_direct;
        mix_row(&rows, &s.mix);
        if (s.rows < ROWS_KEPT)
            s.mixes[s.rows] = s.mix;
        s.rows++;
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

TEST(both_encodings_of_two_bytes_are_left_to_the_engine)
{
    static const char *const encodings[] = {"UTF-16le", "UTF-16be"};
    char sql[512];

    for (size_t i = 0; i < ARRAY_LEN(encodings); i++) {
        snprintf(sql, sizeof(sql),
                 "PRAGMA encoding = '%s'; CREATE TABLE t(a, b, c); INSERT INTO t VALUES"
                 "(1, 'text', 3), (2, char(228, 8364, 128512), printf('%%.900c', 'x'));",
                 encodings[i]);
        struct scan s = both(sql);
        assert_int_equal(s.rows, 2);
        assert_int_equal(s.direct, 0);
        if (i + 1 < ARRAY_LEN(encodings))
            free((void *)(uintptr_t)bytes.at);
    }
}

TEST(rows_longer_than_a_page_are_the_engines_wherever_they_stand)
{
    char sql[512];

    for (int every = 1; every <= 500; every = every * 5 + 2) {
        snprintf(sql, sizeof(sql),
                 "CREATE TABLE t(a INTEGER PRIMARY KEY, b, c TEXT);"
                 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)"
                 "INSERT INTO t SELECT i, x'0102' || i, substr(printf('%%.5000c', 'y'), 1,"
                 "CASE WHEN i %% %d = 0 THEN 500 + i * 7 ELSE i %% 50 END) FROM n;",
                 every);
        struct scan s = both(sql);
        assert_int_equal(s.rows, 500);
        assert_int_equal(s.direct, every - 1);
        free((void *)(uintptr_t)bytes.at);
        bytes = (struct str){0};
    }
}

static void copy_file(const char *from, const char *to)
{
    char part[4096];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    size_t n;

    assert_true(in != NULL && out != NULL);
    while ((n = fread(part, 1, sizeof(part), in)) > 0)
        assert_int_equal(fwrite(part, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

/* The file beside it is not looked at by either: what was not yet moved to the file is not there.
 */
TEST(a_file_in_wal_mode_is_read_as_it_stands)
{
    char path[] = "/tmp/strata-wal-XXXXXX", names[4][64];
    static const char *const ends[] = {"", "-wal", ".copy", ".copy-wal"};
    sqlite3 *db = NULL;

    close(mkstemp(path));
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        snprintf(names[i], sizeof(names[i]), "%s%s", path, ends[i]);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db,
                     "PRAGMA journal_mode = WAL; CREATE TABLE t(a, b, c);"
                     "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)"
                     "INSERT INTO t SELECT i, i / 4.0, 'name ' || i FROM n;"
                     "PRAGMA wal_checkpoint(TRUNCATE); UPDATE t SET b = -b WHERE a % 3 = 0;"
                     "INSERT INTO t SELECT a + 1000, b, c FROM t;",
                     NULL, NULL, NULL),
        SQLITE_OK);
    copy_file(names[0], names[2]); /* while the other program still has it open */
    copy_file(names[1], names[3]);
    sqlite3_close(db);
    struct scan direct = scan_at(names[2], bytes, true), engine = scan_at(names[2], bytes, false);
    assert_int_equal(direct.rows, 900);
    assert_int_equal(direct.direct, 900);
    assert_int_equal(engine.rows, 900);
    assert_int_equal(engine.direct, 0);
    assert_true(direct.mix == engine.mix);
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        unlink(names[i]);
}

/* The engine looks at more of a page before it takes a row from it, so it may stop earlier; as far
 * as it comes the rows are the same, and where it finds no damage so is the end. */
static void compare_damaged(void)
{
    static struct scan direct, engine;

    direct = scan(true);
    engine = scan(false);
    assert_true(direct.rows >= engine.rows);
    assert_true(direct.rows <= bytes.n);
    if (engine.rows > 0 && engine.rows <= ROWS_KEPT)
        assert_true(direct.mixes[engine.rows - 1] == engine.mix);
    if (engine.damages == 0) {
        assert_int_equal(direct.rows, engine.rows);
        assert_int_equal(direct.damages, 0);
    }
}

TEST(damaged_pages_give_the_rows_of_the_engine)
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
        compare_damaged();
        for (size_t i = 4; i-- > 0;)
            at[place[i]] = old[i];
    }
    assert_int_equal(scan(true).rows, 2000);
}

TEST(a_file_cut_short_gives_the_rows_of_the_engine)
{
    bytes = db_made("CREATE TABLE t(a, b, c TEXT);"
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
                    "INSERT INTO t SELECT i, i * 1.5, 'name ' || i FROM n;");
    size_t all = bytes.n;

    for (bytes.n = 600; bytes.n < all; bytes.n += all / 37)
        compare_damaged();
}

TEST_MAIN("base/tables/db_table", TF(values_of_every_sort_are_the_engines),
          TF(a_tree_of_many_pages_is_walked_in_order), TF(what_is_not_plain_is_left_to_the_engine),
          TF(keys_are_numbers_of_rows_however_they_are_declared),
          TF(a_file_is_read_through_a_window),
          TF(both_encodings_of_two_bytes_are_left_to_the_engine),
          TF(rows_longer_than_a_page_are_the_engines_wherever_they_stand),
          TF(a_file_in_wal_mode_is_read_as_it_stands),
          TF(damaged_pages_give_the_rows_of_the_engine),
          TF(a_file_cut_short_gives_the_rows_of_the_engine))
