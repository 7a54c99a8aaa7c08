#include "analysis/sql/sql.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/run/cancel.h"
#include "base/testing.h"
#include "capture/capture.h"

/* Rows as text: cells with "|" between them, rows with "\n"; NULL is "-". */
struct page {
    char text[1 << 16];
    size_t n;
    size_t stop_after; /* rows; 0: never */
    size_t rows;
};

static void sql_put(struct page *p, const char *text, size_t n)
{
    assert_true(p->n + n < sizeof(p->text));
    memcpy(p->text + p->n, text, n);
    p->n += n;
    p->text[p->n] = '\0';
}

static bool sql_put_head(void *ctx, const char *const *names, size_t n)
{
    (void)ctx, (void)names, (void)n;
    return true;
}

static bool sql_put_row(void *ctx, const struct sql_value *cells, size_t n)
{
    struct page *p = ctx;
    char buf[64];

    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            sql_put(p, "|", 1);
        if (cells[i].type == SQL_INT)
            sql_put(p, buf, (size_t)snprintf(buf, sizeof(buf), "%lld", (long long)cells[i].number));
        else if (cells[i].type == SQL_REAL)
            sql_put(p, buf, (size_t)snprintf(buf, sizeof(buf), "%g", cells[i].real));
        else if (cells[i].type == SQL_NULL)
            sql_put(p, "-", 1);
        else
            sql_put(p, cells[i].text.at, cells[i].text.n);
    }
    sql_put(p, "\n", 1);
    return ++p->rows != p->stop_after;
}

static enum status sql_ask(struct sql *sql, const char *text, struct page *page, struct diag *d)
{
    struct sql_query query = {
        .text = str_of(text), .head = sql_put_head, .row = sql_put_row, .ctx = page};

    page->n = page->rows = 0;
    page->text[0] = '\0';
    return sql_run(sql, &query, d);
}

/* Two ranks, one with host events and arrows. */
struct fixture {
    struct capture *caps[2];
    struct sql *sql;
    struct diag diag;
    struct page page;
};

static uint32_t sql_add(struct capture *cap, lane_id lane, enum slice_kind kind, const char *name,
                        nanos begin, nanos dur, const char *step)
{
    struct attr own = attr_text(capture_key(cap, KEY_STEP), capture_intern(cap, str_of(step)));
    struct attr set[] = {
        attr_text(capture_key(cap, KEY_TYPE), capture_intern(cap, S("MatMul"))),
        attr_real(capture_intern(cap, S("aic_mac_ratio")), 0.5),
    };
    struct slice slice = {
        .begin = begin,
        .dur = dur,
        .lane = lane,
        .name = capture_intern(cap, str_of(name)),
        .kind = kind,
        .set = slice_is_kernel(kind) ? attrs_set(&cap->attrs, set, 2) : 0,
        .own = step[0] != '\0' ? attrs_own(&cap->attrs, &own, 1) : 0,
    };

    return capture_slice(cap, &slice);
}

static struct capture *first_rank(void)
{
    struct capture *cap = capture_new();
    lane_id stream = capture_lane(
        cap, (struct lane_key){.kind = LANE_STREAM, .name = capture_intern(cap, S("2"))});
    lane_id thread = capture_lane(
        cap, (struct lane_key){LANE_THREAD, -1, 0, capture_intern(cap, S("main")), 7, 8});

    uint32_t b = sql_add(cap, stream, SLICE_COMPUTE, "b", 300, 20, "1");
    uint32_t a = sql_add(cap, stream, SLICE_COMPUTE, "a", 100, 50, "0");
    sql_add(cap, stream, SLICE_COMM, "c", 160, 40, "0");
    uint32_t launch = sql_add(cap, thread, SLICE_RUNTIME, "launch", 90, 5, "");
    uint32_t late = sql_add(cap, thread, SLICE_RUNTIME, "launch", 200, 5, "");
    capture_flow(cap, FLOW_LAUNCH, late, b);
    capture_flow(cap, FLOW_LAUNCH, launch, a);
    series_id clock =
        capture_series(cap, 0, capture_intern(cap, S("clock")), capture_intern(cap, S("MHz")));
    capture_sample(cap, clock, 150, 1800);
    capture_source(
        cap, (struct source){
                 .path = "t.csv", .format = "kernel-details", .bytes = 10, .rows = 3, .lost = 1});
    cap->facts.rank = 0;
    capture_seal(cap);
    return cap;
}

static struct capture *second_rank(void)
{
    struct capture *cap = capture_new();
    lane_id stream = capture_lane(
        cap, (struct lane_key){.kind = LANE_STREAM, .name = capture_intern(cap, S("N/A"))});

    sql_add(cap, stream, SLICE_COMPUTE, "b", 110, 7, "0");
    sql_add(cap, stream, SLICE_COMPUTE, "a", 130, 8, "x");
    cap->facts.rank = 1;
    capture_seal(cap);
    return cap;
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    diag_init(&f->diag);
    f->caps[0] = first_rank();
    f->caps[1] = second_rank();
    assert_int_equal(sql_open(&f->sql, (const struct capture *const *)f->caps, 2, &f->diag), ST_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    sql_close(f->sql);
    capture_free(f->caps[0]);
    capture_free(f->caps[1]);
    diag_fini(&f->diag);
    free(f);
    return 0;
}

static void sql_expect(struct fixture *f, const char *text, const char *rows)
{
    assert_int_equal(sql_ask(f->sql, text, &f->page, &f->diag), ST_OK);
    assert_string_equal(f->page.text, rows);
}

static void tables_show_what_the_captures_hold(void **state)
{
    struct fixture *f = *state;

    /* Numbers go through both ranks: lanes 0 and 1 are of rank 0, lane 2 of rank 1. */
    sql_expect(f, "SELECT id, rank, lane, lane_name, ts, dur, end_ts, name, kind, step FROM slices",
               "0|0|0|2|100|50|150|a|compute|0\n"
               "1|0|0|2|160|40|200|c|comm|0\n"
               "2|0|0|2|300|20|320|b|compute|1\n"
               "3|0|1|main|90|5|95|launch|runtime|-\n"
               "4|0|1|main|200|5|205|launch|runtime|0\n" /* by its time: step 0 is [100, 300) */
               "5|1|2|N/A|110|7|117|b|compute|0\n"
               "6|1|2|N/A|130|8|138|a|compute|x\n");
    sql_expect(f, "SELECT id, stream, type, class, core FROM kernels WHERE rank = 1",
               "5|N/A|MatMul|compute|-\n6|N/A|MatMul|compute|-\n");
    sql_expect(f, "SELECT id, name FROM host_events", "3|launch\n4|launch\n");
    sql_expect(f, "SELECT id, kind, name, tid, slices, rank FROM lanes",
               "0|stream|2|0|3|0\n1|thread|main|8|2|0\n2|stream|N/A|0|2|1\n");
    sql_expect(
        f, "SELECT step, ts, dur, source, rank FROM steps ORDER BY rank, ts",
        "0|100|200|step_id_column|0\n1|300|20|step_id_column|0\n0|110|20|step_id_column|1\nx|"
        "130|8|step_id_column|1\n");
    sql_expect(f, "SELECT ts, value, name, unit FROM counters", "150|1800|clock|MHz\n");
    sql_expect(f, "SELECT path, rows, lost FROM sources", "t.csv|3|1\n");
    sql_expect(f, "SELECT rank, origin FROM captures", "0|measured\n1|measured\n");
}

static void arrows_join_launches_and_kernels(void **state)
{
    struct fixture *f = *state;

    sql_expect(f,
               "SELECT k.name, k.ts - h.end_ts FROM flows f JOIN kernels k ON k.id = f.to_id "
               "JOIN slices h ON h.id = f.from_id ORDER BY k.id",
               "a|5\nb|95\n");
    sql_expect(f, "SELECT id FROM flows WHERE to_id = 0", "0\n");
    sql_expect(f, "SELECT to_id FROM flows WHERE from_id = 4", "2\n");
    sql_expect(f, "SELECT count(*) FROM flows WHERE from_id = 5", "0\n");
    sql_expect(f, "SELECT (SELECT from_id FROM flows WHERE to_id = k.id) FROM kernels k",
               "3\n-\n4\n-\n-\n");
}

static void attributes_are_reached_by_name(void **state)
{
    struct fixture *f = *state;

    sql_expect(
        f, "SELECT attr(0, 'aic_mac_ratio'), attr(0, 'nothing'), attr(3, 'type'), attr(99, 'x')",
        "0.5|-|-|-\n");
    sql_expect(f, "SELECT attrs(1), attrs(3)",
               "{\"step\":\"0\",\"type\":\"MatMul\",\"aic_mac_ratio\":0.5}|{}\n");
}

static void names_of_both_ranks_group_together(void **state)
{
    struct fixture *f = *state;

    sql_expect(f, "SELECT name, count(*), sum(dur) FROM slices GROUP BY name",
               "a|2|58\nb|2|27\nc|1|40\nlaunch|2|10\n");
    sql_expect(f, "SELECT name, count(*) FROM kernels GROUP BY name", "a|2\nb|2\nc|1\n");
    sql_expect(f, "SELECT DISTINCT name FROM host_events", "launch\n");
    sql_expect(f, "SELECT DISTINCT name FROM slices WHERE name > 'a' ORDER BY name DESC",
               "launch\nc\nb\n");
}

/* What the planner would do: "65536" in a plan is the walk by name, no "B-TREE" means no sorting.
 */
static void orders_are_walked_and_not_sorted(void **state)
{
    struct fixture *f = *state;
    static const char *const free_of_sorting[] = {
        "SELECT name, count(*), sum(dur) FROM slices GROUP BY name",
        "SELECT name, count(*) FROM kernels GROUP BY name",
        "SELECT name, count(*) FROM host_events GROUP BY name",
        "SELECT * FROM slices ORDER BY lane, ts",
        "SELECT * FROM slices ORDER BY id",
        "SELECT * FROM kernels ORDER BY ts, lane",
        "SELECT * FROM kernels ORDER BY name, lane, ts",
        "SELECT * FROM kernels WHERE lane = 1 ORDER BY ts",
        "SELECT lag(ts) OVER (PARTITION BY lane ORDER BY ts) FROM kernels",
        "SELECT lag(ts) OVER (ORDER BY ts) FROM kernels",
    };

    for (size_t i = 0; i < ARRAY_LEN(free_of_sorting); i++) {
        char text[256];
        snprintf(text, sizeof(text), "EXPLAIN QUERY PLAN %s", free_of_sorting[i]);
        assert_int_equal(sql_ask(f->sql, text, &f->page, &f->diag), ST_OK);
        assert_null(strstr(f->page.text, "B-TREE"));
    }
}

/* Each condition beside a twin that no table can see through: SQLite must then do all the work. */
static void narrowed_scans_give_what_whole_scans_give(void **state)
{
    struct fixture *f = *state;
    static const char *const pairs[][2] = {
        {"lane = 1", "+lane = 1"},
        {"lane = 2.0", "+lane = 2.0"},
        {"lane = '1'", "+lane = 1"},
        {"lane = 1.5", "+lane = 1.5"},
        {"lane = -1", "+lane = -1"},
        {"lane IN (0, 2)", "+lane IN (0, 2)"},
        {"ts >= 110 AND ts < 200", "+ts >= 110 AND +ts < 200"},
        {"ts > 110 AND ts <= 200", "+ts > 110 AND +ts <= 200"},
        {"ts = 130", "+ts = 130"},
        {"ts BETWEEN 99.5 AND 159.9", "+ts BETWEEN 99.5 AND 159.9"},
        {"ts > '110'", "+ts > 110"},
        {"ts < NULL", "+ts < NULL"},
        {"ts > 1e300", "+ts > 1e300"},
        {"ts > 9223372036854775807", "+ts > 9223372036854775807"},
        {"ts <= 9223372036854775807", "+ts <= 9223372036854775807"},
        {"name = 'b'", "+name = 'b'"},
        {"name = 'zz'", "+name = 'zz'"},
        {"name = 'B'", "+name = 'B'"},
        {"name = 'B' COLLATE NOCASE", "+name = 'B' COLLATE NOCASE"},
        {"name = NULL", "+name = NULL"},
        {"name = 'b' AND ts > 150", "+name = 'b' AND +ts > 150"},
        {"name = 'b' AND lane = 2", "+name = 'b' AND +lane = 2"},
        {"name IN ('a', 'c')", "+name IN ('a', 'c')"},
        {"step = 0", "+step = 0"},
        {"step = '0'", "+step = 0"},
        {"step = 'x'", "+step = 'x'"},
        {"step = 99", "+step = 99"},
        {"step IS NULL", "+step IS NULL"},
        {"step = 0 AND lane = 0 AND ts > 120", "+step = 0 AND +lane = 0 AND +ts > 120"},
        {"kind = 'compute'", "+kind = 'compute'"},
        {"kind = 'nonsense'", "+kind = 'nonsense'"},
        {"rank = 1", "+rank = 1"},
        {"rank = 5", "+rank = 5"},
        {"rank = 0 AND lane = 2", "+rank = 0 AND +lane = 2"},
        {"id = 2", "+id = 2"},
        {"id = 2 AND name = 'a'", "+id = 2 AND +name = 'a'"},
        {"id = 99", "+id = 99"},
        {"id = -1", "+id = -1"},
        {"rowid = 3", "+rowid = 3"},
    };
    static const char *const tables[] = {"slices", "kernels", "host_events"};
    static const char *const orders[] = {"id", "ts, id", "name, id", "lane, ts, id",
                                         "name DESC, id"};
    struct page *other = calloc(1, sizeof(*other));
    char text[512];

    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        for (size_t t = 0; t < ARRAY_LEN(tables); t++) {
            for (size_t o = 0; o < ARRAY_LEN(orders); o++) {
                snprintf(text, sizeof(text), "SELECT * FROM %s WHERE %s ORDER BY %s", tables[t],
                         pairs[i][0], orders[o]);
                assert_int_equal(sql_ask(f->sql, text, &f->page, &f->diag), ST_OK);
                snprintf(text, sizeof(text),
                         "SELECT * FROM (SELECT * FROM %s WHERE %s LIMIT 1000) ORDER BY %s",
                         tables[t], pairs[i][1], orders[o]);
                assert_int_equal(sql_ask(f->sql, text, other, &f->diag), ST_OK);
                assert_string_equal(f->page.text, other->text);
            }
        }
    }
    free(other);
}

static const char *failure(struct fixture *f, const char *text, const char *code)
{
    diag_fini(&f->diag);
    diag_init(&f->diag);
    assert_int_equal(sql_ask(f->sql, text, &f->page, &f->diag), ST_FORMAT);
    assert_int_equal(diag_count(&f->diag, code), 1);
    return f->diag.hints.n > 0 ? f->diag.hints.at[f->diag.hints.n - 1].text : "";
}

static void a_wrong_statement_is_explained(void **state)
{
    struct fixture *f = *state;

    assert_string_equal(failure(f, "SELECT durr FROM slices", "query.sql"), "dur");
    assert_string_equal(failure(f, "SELECT s.nam FROM slices s", "query.sql"), "name");
    assert_string_equal(failure(f, "SELECT 1 FROM kernel", "query.sql"), "kernels");
    assert_string_equal(failure(f, "SELECT 1 FORM x", "query.sql"), "character 15: x");
    assert_string_equal(failure(f, "", "query.sql"), "");
    assert_string_equal(failure(f, "-- nothing", "query.sql"), "");
    assert_string_equal(failure(f, "SELECT 1; SELECT 2", "query.sql"), "");
    sql_expect(f, "SELECT 1; -- and no more", "1\n");
}

static void nothing_but_reading_is_allowed(void **state)
{
    struct fixture *f = *state;
    static const char *const refused[] = {
        "ATTACH ':memory:' AS other",
        "CREATE TABLE t(a)",
        "CREATE TEMP TABLE t(a)",
        "CREATE VIEW v AS SELECT 1",
        "PRAGMA cache_size = 1",
        "PRAGMA writable_schema = 1",
        "SELECT load_extension('x')",
        "BEGIN",
        "VACUUM INTO 'x'",
        "DELETE FROM sqlite_schema",
        "DELETE FROM slices",
        "INSERT INTO slices(id) VALUES (1)",
        "SELECT * FROM pragma_cache_size",
    };

    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        failure(f, refused[i], "query.read-only");
    sql_expect(f, "SELECT count(*) FROM pragma_table_info('steps')", "8\n");
    sql_expect(f, "SELECT key FROM json_each(attrs(0)) LIMIT 1", "step\n");
}

static void a_statement_ends_when_its_time_is_up_or_the_user_stops(void **state)
{
    static const char forever[] =
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n";
    struct fixture *f = *state;
    struct sql_query query = {.text = str_of(forever),
                              .timeout = 20000000,
                              .head = sql_put_head,
                              .row = sql_put_row,
                              .ctx = &f->page};

    assert_int_equal(sql_run(f->sql, &query, &f->diag), ST_LIMIT);
    assert_int_equal(diag_count(&f->diag, "query.timeout"), 1);
    cancel_request(SIGINT);
    assert_int_equal(sql_ask(f->sql, forever, &f->page, &f->diag), ST_CANCELLED);
    cancel_clear();
    f->page.stop_after = 2; /* the reader has seen enough */
    sql_expect(f, "SELECT id FROM slices", "0\n1\n");
}

static void a_part_of_the_rows_is_given(void **state)
{
    static const struct {
        uint64_t skip, limit;
        const char *want;
        bool has_more;
    } cases[] = {{0, 2, "1\n2\n", true}, {1, 2, "2\n3\n", false},    {1, 0, "2\n3\n", false},
                 {3, 1, "", false},      {0, 3, "1\n2\n3\n", false}, {9, UINT64_MAX, "", false}};
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        bool has_more = false;
        struct sql_query query = {S("VALUES (1), (2), (3)"),
                                  0,
                                  sql_put_head,
                                  sql_put_row,
                                  &f->page,
                                  cases[i].skip,
                                  cases[i].limit,
                                  &has_more};
        f->page.n = f->page.rows = 0;
        f->page.text[0] = '\0';
        assert_int_equal(sql_run(f->sql, &query, &f->diag), ST_OK);
        assert_string_equal(f->page.text, cases[i].want);
        assert_int_equal(has_more, cases[i].has_more);
    }
}

static void no_capture_and_empty_captures_give_empty_tables(void **state)
{
    struct fixture *f = *state;
    struct capture *empty[2] = {capture_new(), capture_new()};
    struct sql *sql;

    capture_seal(empty[0]);
    capture_seal(empty[1]);
    for (size_t n = 0; n <= 2; n++) {
        assert_int_equal(sql_open(&sql, (const struct capture *const *)empty, n, &f->diag), ST_OK);
        assert_int_equal(
            sql_ask(sql, "SELECT name, sum(dur) FROM slices GROUP BY name", &f->page, &f->diag),
            ST_OK);
        assert_string_equal(f->page.text, "");
        assert_int_equal(sql_ask(sql, "SELECT DISTINCT name FROM kernels", &f->page, &f->diag),
                         ST_OK);
        assert_string_equal(f->page.text, "");
        assert_int_equal(sql_ask(sql,
                                 "SELECT count(*) FROM (SELECT ts FROM kernels WHERE ts > 1 AND "
                                 "step = 1 ORDER BY ts), flows, lanes",
                                 &f->page, &f->diag),
                         ST_OK);
        assert_string_equal(f->page.text, "0\n");
        sql_close(sql);
    }
    capture_free(empty[0]);
    capture_free(empty[1]);
}

#define WITH(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

TEST_MAIN("analysis/sql/sql", WITH(tables_show_what_the_captures_hold),
          WITH(arrows_join_launches_and_kernels), WITH(attributes_are_reached_by_name),
          WITH(names_of_both_ranks_group_together), WITH(orders_are_walked_and_not_sorted),
          WITH(narrowed_scans_give_what_whole_scans_give), WITH(a_wrong_statement_is_explained),
          WITH(nothing_but_reading_is_allowed),
          WITH(a_statement_ends_when_its_time_is_up_or_the_user_stops),
          WITH(a_part_of_the_rows_is_given), WITH(no_capture_and_empty_captures_give_empty_tables))
