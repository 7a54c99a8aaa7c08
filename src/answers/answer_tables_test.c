#include "answers/answer_tables.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/sql/sql.h"
#include "base/files/outfile.h"
#include "base/testing.h"

static struct capture *tables_sample(void)
{
    struct capture *cap = capture_new();
    lane_id stream = capture_lane(
        cap, (struct lane_key){.kind = LANE_STREAM, .name = capture_intern(cap, S("2"))});
    lane_id thread = capture_lane(
        cap, (struct lane_key){LANE_THREAD, -1, 0, capture_intern(cap, S("main")), 7, 8});

    for (nanos i = 0; i < 50; i++) {
        struct slice kernel = {.begin = 10 * i + 5,
                               .dur = i,
                               .lane = stream,
                               .name = capture_intern_format(cap, "k\xff%d", (int)i % 3)};
        struct slice launch = {.begin = 10 * i, .dur = 2, .lane = thread, .kind = SLICE_RUNTIME};
        capture_flow(cap, FLOW_LAUNCH, capture_slice(cap, &launch), capture_slice(cap, &kernel));
    }
    cap->name = "run";
    capture_seal(cap);
    return cap;
}

/* Rows as text. */
static bool tables_put_head(void *ctx, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        text_format(ctx, "%s|", names[i]);
    return true;
}

static bool tables_put_row(void *ctx, const struct sql_value *cells, size_t n)
{
    struct arena arena;

    arena_init(&arena);
    text_char(ctx, '\n');
    for (size_t i = 0; i < n; i++)
        if (cells[i].type == SQL_INT)
            text_format(ctx, "%lld|", (long long)cells[i].number);
        else if (cells[i].type == SQL_REAL)
            text_format(ctx, cells[i].real == floor(cells[i].real) ? "%.1f|" : "%.15g|",
                        cells[i].real); /* as SQLite writes them */
        else
            text_format(
                ctx, "%.*s|",
                STR_ARGS(cells[i].type == SQL_NULL ? S("-") : columns_utf8(&arena, cells[i].text)));
    arena_free(&arena);
    return true;
}

static void tables_read(sqlite3 *db, const char *statement, struct text *out)
{
    sqlite3_stmt *stmt;

    assert_int_equal(sqlite3_prepare_v2(db, statement, -1, &stmt, NULL), SQLITE_OK);
    int n = sqlite3_column_count(stmt);
    for (int i = 0; i < n; i++)
        text_format(out, "%s|", sqlite3_column_name(stmt, i));
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        text_char(out, '\n');
        for (int i = 0; i < n; i++) {
            const char *text = (const char *)sqlite3_column_text(stmt, i);
            text_format(out, "%s|", text != NULL ? text : "-");
        }
    }
    sqlite3_finalize(stmt);
}

static void write_database(const struct capture *cap, const char *path, struct diag *d)
{
    struct answer_tables tables;
    struct outfile file;
    const char *why = NULL;
    struct cut cut;

    cut_init(&cut, cap, &(struct cut_options){0});
    assert_int_equal(answer_tables_init(&tables, &cut, 1, d), ST_OK);
    assert_int_equal(outfile_open(&file, path, d), ST_OK);
    struct timeline_options how = {.tables = &tables.tables, .why = &why};
    assert_true(timeline_sqlite.write(&cut, &how, outfile_sink(&file)));
    assert_null(why);
    assert_int_equal(outfile_commit(&file, OUTFILE_FAST, d), ST_OK);
    answer_tables_fini(&tables);
    cut_fini(&cut);
}

TEST(a_database_has_the_rows_of_every_query)
{
    struct capture *cap = tables_sample();
    const struct capture *list = cap;
    struct text path = {0}, want = {0}, got = {0}, statement = {0};
    struct diag diag;
    struct sql *sql;
    sqlite3 *db;

    diag_init(&diag);
    text_format(&path, "%s/strata-tables-%d.db",
                getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp", (int)getpid());
    text_char(&path, '\0');
    write_database(cap, path.at, &diag);
    assert_int_equal(sqlite3_open_v2(path.at, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sql_open(&sql, &list, 1, &diag), ST_OK);
    for (size_t i = 0; sql_schema(i) != NULL; i++) {
        text_clear(&statement);
        text_clear(&want);
        text_clear(&got);
        text_format(&statement, "SELECT * FROM %s ORDER BY id", sql_schema(i)->name);
        struct sql_query query = {.text = text_view(&statement),
                                  .head = tables_put_head,
                                  .row = tables_put_row,
                                  .ctx = &want};
        assert_int_equal(sql_run(sql, &query, &diag), ST_OK);
        text_char(&statement, '\0');
        tables_read(db, statement.at, &got);
        text_char(&want, '\0');
        text_char(&got, '\0');
        assert_string_equal(got.at, want.at);
    }
    text_clear(&got);
    tables_read(
        db, "SELECT count(*), sum(tbl_name = 'kernels') FROM sqlite_master WHERE type = 'index'",
        &got);
    assert_true(str_ends(text_view(&got), S("\n11|3|")));
    sqlite3_close(db);
    sql_close(sql);
    unlink(path.at);
    text_free(&path);
    text_free(&want);
    text_free(&got);
    text_free(&statement);
    capture_free(cap);
    diag_fini(&diag);
}

TEST(a_database_that_cannot_be_begun_gives_a_reason)
{
    struct capture *cap = tables_sample();
    struct answer_tables tables;
    struct text out = {0};
    const char *why = NULL;
    struct diag diag;
    struct cut cut;

    diag_init(&diag);
    cut_init(&cut, cap, &(struct cut_options){0});
    assert_int_equal(answer_tables_init(&tables, &cut, 1, &diag), ST_OK);
    struct timeline_options how = {
        .tables = &tables.tables, .why = &why, .folder = "/nowhere/at/all"};
    assert_false(timeline_sqlite.write(&cut, &how, text_sink(&out)));
    assert_string_equal(why, "No such file or directory");
    assert_int_equal(out.n, 0);
    answer_tables_fini(&tables);
    cut_fini(&cut);
    capture_free(cap);
    diag_fini(&diag);
}

TEST_MAIN("answers/answer_tables", T(a_database_has_the_rows_of_every_query),
          T(a_database_that_cannot_be_begun_gives_a_reason))
