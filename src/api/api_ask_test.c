#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/testing.h"
#include "strata/strata.h"

static struct strata_result *ask_test_ask(struct strata_capture *cap, const char *const *words,
                                          enum strata_form form)
{
    const struct strata_capture *const list[] = {cap};
    struct strata_result *r;

    assert_int_equal(strata_ask(list, 1, words, form, &r), STRATA_OK);
    assert_string_equal(strata_result_error(r), "");
    return r;
}

static struct strata_capture *open_sample(void)
{
    struct strata_capture *cap;

    assert_int_equal(strata_open("examples/kineto-small", NULL, &cap), STRATA_OK);
    assert_string_equal(strata_capture_path(cap), "examples/kineto-small");
    assert_int_equal(strata_result_status(strata_capture_opened(cap)), STRATA_OK);
    return cap;
}

TEST(a_command_is_asked_and_its_answer_walked)
{
    static const char *const words[] = {"diagnose", NULL};
    struct strata_capture *cap = open_sample();
    struct strata_result *r = ask_test_ask(cap, words, STRATA_AS_VALUES);
    const struct strata_value *all = strata_result_value(r), *v;

    strata_close(cap); /* the result outlives it */
    assert_string_equal(strata_result_schema(r), "strata.diagnosis/1");
    assert_int_equal(strata_result_code(r), 0);
    assert_int_equal(strata_value_type(all), STRATA_RECORD);
    v = strata_value_get(all, "verdict.cause");
    assert_string_equal(strata_value_key(v), "cause");
    assert_string_equal(strata_value_text(v), "gemm_inefficient");
    v = strata_value_get(all, "causes");
    assert_int_equal(strata_value_type(v), STRATA_LIST);
    assert_true(strata_value_count(v) > 0);
    size_t n = 0;
    for (v = strata_value_first(v); v != NULL; v = strata_value_next(v))
        n++;
    assert_int_equal(n, strata_value_count(strata_value_get(all, "causes")));
    assert_true(strata_value_real(strata_value_get(all, "causes.0.saving_ms")) > 0);
    assert_int_equal(strata_value_int(strata_value_get(all, "step.count")), 2);
    assert_null(strata_value_get(all, "causes.99.id"));
    assert_null(strata_value_get(all, "no.such"));
    strata_result_free(r);
}

TEST(fields_are_described)
{
    static const char *const words[] = {"ops", "--by", "family", NULL};
    struct strata_capture *cap = open_sample();
    struct strata_result *r = ask_test_ask(cap, words, STRATA_AS_VALUES);
    struct strata_field f = {0};
    bool has_rows = false;
    size_t n = strata_field_count(r, "");

    assert_true(n > 3);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(strata_field_get(r, "", i, &f), STRATA_OK);
        has_rows |= strcmp(f.name, "rows") == 0 && f.shape == STRATA_MANY;
    }
    assert_true(has_rows);
    assert_int_equal(strata_field_get(r, "", n, &f), STRATA_NOT_FOUND);
    n = strata_field_count(r, "rows");
    assert_true(n > 5);
    bool has_ns = false;
    for (size_t i = 0; i < n; i++) {
        strata_field_get(r, "rows", i, &f);
        has_ns |= strcmp(f.unit, "ns") == 0 && f.type == STRATA_INT;
        assert_non_null(strata_value_get(strata_result_value(r), "rows.0"));
    }
    assert_true(has_ns);
    assert_int_equal(strata_field_count(r, "nothing.here"), 0);
    strata_result_free(r);
    strata_close(cap);
}

TEST(an_answer_comes_in_every_form)
{
    static const char *const words[] = {"diagnose", NULL};
    static const char *const begin[] = {"{\n", "{\n", "kineto-small\n", "# kineto-small",
                                        "<!DOCTYPE html>"};
    struct strata_capture *cap = open_sample();

    for (enum strata_form form = STRATA_AS_VALUES; form <= STRATA_AS_HTML; form++) {
        struct strata_result *r = ask_test_ask(cap, words, form);
        size_t n;
        const char *text = strata_result_text(r, &n);
        assert_memory_equal(text, begin[form], strlen(begin[form]));
        assert_int_equal(strlen(text), n);
        assert_true((strata_result_value(r) != NULL) == (form == STRATA_AS_VALUES));
        strata_result_free(r);
    }
    strata_close(cap);
}

TEST(a_failure_has_its_code)
{
    static const char *const typo[] = {"diagnoze", NULL}, *const option[] = {"ops", "--by", "x",
                                                                             NULL};
    struct strata_capture *cap;
    struct strata_diagnostic d;
    struct strata_result *r;

    assert_int_equal(strata_open("/nowhere/at/all", NULL, &cap), STRATA_NOT_FOUND);
    const struct strata_result *why = strata_capture_opened(cap);
    assert_non_null(strstr(strata_result_hints(why), "try: check the spelling"));
    assert_int_equal(strata_diagnostic_count(why), 1);
    assert_int_equal(strata_diagnostic_get(why, 0, &d), STRATA_OK);
    assert_string_equal(d.code, "file.missing");
    assert_string_equal(d.severity, "error");
    assert_string_equal(d.path, "/nowhere/at/all");
    strata_close(cap);
    assert_int_equal(strata_ask(NULL, 0, typo, STRATA_AS_TEXT, &r), STRATA_USAGE);
    assert_non_null(strstr(strata_result_error(r), "[usage.command]"));
    strata_result_free(r);
    assert_int_equal(strata_ask(NULL, 0, option, STRATA_AS_TEXT, &r), STRATA_USAGE);
    strata_result_free(r);
}

TEST(columns_are_contiguous)
{
    struct strata_capture *cap = open_sample();
    struct strata_result *r;
    struct strata_column c;

    assert_int_equal(strata_query(cap, "SELECT id, dur / 2.0, name FROM slices ORDER BY id", 0, &r),
                     STRATA_OK);
    assert_int_equal(strata_row_count(r), 812);
    assert_int_equal(strata_column_count(r), 3);
    assert_int_equal(strata_column_get(r, 0, &c), STRATA_OK);
    assert_int_equal(c.type, STRATA_INT);
    assert_int_equal(((const int64_t *)c.values)[811], 811);
    assert_null(c.valid);
    assert_int_equal(strata_column_get(r, 1, &c), STRATA_OK);
    assert_int_equal(c.type, STRATA_REAL);
    assert_int_equal(strata_column_get(r, 2, &c), STRATA_OK);
    assert_int_equal(c.type, STRATA_TEXT);
    assert_int_equal(c.offsets[0], 0);
    assert_true(c.offsets[812] > 812);
    assert_int_equal(strata_column_get(r, 3, &c), STRATA_NOT_FOUND);
    strata_result_free(r);
    assert_int_equal(strata_query(cap, "SELECT wrong FROM slices", 0, &r), STRATA_FORMAT);
    assert_non_null(strstr(strata_result_error(r), "[query.sql]"));
    strata_result_free(r);
    strata_close(cap);
}

TEST(a_column_takes_the_widest_type)
{
    static const char *const statement =
        "SELECT column1, column2, column3, column4, column5 FROM (VALUES (1, NULL, 'a', NULL, 1), "
        "(2.5, 7, 3, NULL, NULL), (NULL, 8, NULL, NULL, x'00ff'), (4, 9, 1.5, NULL, 'b'))";
    struct strata_capture *cap = open_sample();
    struct strata_result *r;
    struct strata_column c;

    assert_int_equal(strata_query(cap, statement, 1, &r), STRATA_OK);
    strata_column_get(r, 0, &c);
    assert_int_equal(c.type, STRATA_REAL);
    assert_true(((const double *)c.values)[0] == 1.0 && ((const double *)c.values)[3] == 4.0);
    assert_int_equal(c.valid[0] & 15, 11);
    assert_int_equal(c.nulls, 1);
    strata_column_get(r, 1, &c);
    assert_int_equal(c.type, STRATA_INT);
    assert_int_equal(((const int64_t *)c.values)[3], 9);
    assert_int_equal(c.valid[0] & 15, 14);
    strata_column_get(r, 2, &c);
    assert_int_equal(c.type, STRATA_TEXT);
    assert_memory_equal(c.values, "a31.5", 5);
    assert_int_equal(c.offsets[4], 5);
    strata_column_get(r, 3, &c);
    assert_int_equal(c.type, STRATA_NULL);
    assert_int_equal(c.nulls, 4);
    strata_column_get(r, 4, &c);
    assert_int_equal(c.type, STRATA_BLOB);
    assert_memory_equal(c.values,
                        "1\x00\xff"
                        "b",
                        4);
    strata_result_free(r);
    strata_close(cap);
}

/* The same rows, whether SQLite gives them or they are copied. */
TEST(plain_columns_are_those_of_the_engine)
{
    static const char *const tables[] = {"slices", "kernels", "host_events"};
    struct strata_capture *cap = open_sample();

    for (size_t t = 0; t < 3; t++) {
        struct strata_result *r[2];
        char statement[2][128];
        snprintf(statement[0], sizeof(statement[0]),
                 "select id, ts, DUR, end_ts, lane, name, kind FROM %s ;", tables[t]);
        snprintf(statement[1], sizeof(statement[1]),
                 "SELECT id, ts, dur, end_ts, lane, name, kind FROM %s WHERE id >= 0", tables[t]);
        for (int i = 0; i < 2; i++)
            assert_int_equal(strata_query(cap, statement[i], 0, &r[i]), STRATA_OK);
        uint64_t rows = strata_row_count(r[0]);
        assert_true(rows > 100);
        assert_int_equal(rows, strata_row_count(r[1]));
        for (size_t c = 0; c < 7; c++) {
            struct strata_column a, b;
            strata_column_get(r[0], c, &a);
            strata_column_get(r[1], c, &b);
            assert_int_equal(a.type, b.type);
            assert_string_equal(a.name, b.name);
            if (a.type == STRATA_TEXT) {
                assert_memory_equal(a.offsets, b.offsets, (rows + 1) * sizeof(int64_t));
                assert_memory_equal(a.values, b.values, (size_t)a.offsets[rows]);
            } else {
                assert_memory_equal(a.values, b.values, rows * sizeof(int64_t));
            }
        }
        strata_result_free(r[0]);
        strata_result_free(r[1]);
    }
    strata_close(cap);
}

struct work {
    struct strata_capture *cap;
    char verdict[64];
    uint64_t rows;
};

static void *study(void *ctx)
{
    static const char *const words[] = {"diagnose", NULL};
    struct work *w = ctx;

    for (int i = 0; i < 5; i++) {
        struct strata_result *r = NULL;
        const struct strata_capture *const list[] = {w->cap};
        strata_ask(list, 1, words, STRATA_AS_VALUES, &r);
        snprintf(w->verdict, sizeof(w->verdict), "%s",
                 strata_value_text(strata_value_get(strata_result_value(r), "verdict.cause")));
        strata_result_free(r);
        strata_query(w->cap, "SELECT * FROM kernels", 0, &r);
        w->rows = strata_row_count(r);
        strata_result_free(r);
    }
    return NULL;
}

TEST(four_threads_share_a_capture)
{
    struct strata_capture *cap = open_sample();
    struct work work[4];
    pthread_t threads[4];

    for (size_t i = 0; i < 4; i++) {
        work[i] = (struct work){.cap = cap};
        assert_int_equal(pthread_create(&threads[i], NULL, study, &work[i]), 0);
    }
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(work[i].verdict, "gemm_inefficient");
        assert_int_equal(work[i].rows, 249);
    }
    strata_close(cap);
}

/* The leak check of the asan build looks at the end. */
TEST(ten_thousand_calls_leave_nothing_behind)
{
    static const char *const version[] = {"version", NULL}, *const wrong[] = {"no-such", NULL};
    struct strata_capture *cap = open_sample();
    struct strata_result *r;

    for (int i = 0; i < 10000; i++) {
        if (i % 20 == 0)
            assert_int_equal(strata_query(cap, "SELECT 1, 'a' FROM slices LIMIT 1", 0, &r),
                             STRATA_OK);
        else if (i % 20 == 1)
            assert_int_equal(strata_query(cap, "SELECT id, name FROM kernels", 0, &r), STRATA_OK);
        else if (i % 20 == 2)
            assert_int_equal(strata_ask(NULL, 0, wrong, STRATA_AS_TEXT, &r), STRATA_USAGE);
        else
            assert_int_equal(strata_ask(NULL, 0, version, STRATA_AS_VALUES, &r), STRATA_OK);
        strata_result_free(r);
    }
    strata_close(cap);
}

TEST(two_captures_are_compared)
{
    static const char *const words[] = {"diff", NULL};
    struct strata_capture *a = open_sample(), *b = open_sample();
    const struct strata_capture *const list[] = {a, b};
    struct strata_result *r;

    assert_int_equal(strata_ask(list, 2, words, STRATA_AS_VALUES, &r), STRATA_OK);
    assert_string_equal(strata_result_schema(r), "strata.diff/2");
    strata_result_free(r);
    strata_close(a);
    strata_close(b);
}

/* They would take the input and output of the program around the library. */
TEST(servers_are_not_started)
{
    static const char *const servers[][3] = {{"mcp", NULL},
                                             {"view", "examples/kineto-small", NULL}};

    for (size_t i = 0; i < 2; i++) {
        struct strata_result *r;
        assert_int_equal(strata_ask(NULL, 0, servers[i], STRATA_AS_TEXT, &r), STRATA_USAGE);
        assert_non_null(strstr(strata_result_error(r), "run the program"));
        strata_result_free(r);
    }
}

TEST(anything_may_be_null)
{
    static const char *const words[] = {"version", NULL};
    struct strata_capture *cap;
    struct strata_diagnostic d;
    struct strata_field f;
    struct strata_column c;
    struct strata_result *r;

    assert_int_equal(strata_open(NULL, NULL, &cap), STRATA_USAGE);
    assert_non_null(strstr(strata_result_error(strata_capture_opened(cap)), "path is NULL"));
    strata_close(cap);
    assert_int_equal(strata_open("x", NULL, NULL), STRATA_USAGE);
    assert_int_equal(strata_ask(NULL, 1, words, STRATA_AS_TEXT, &r), STRATA_USAGE);
    assert_int_equal(strata_result_status(r), STRATA_USAGE);
    strata_result_free(r);
    assert_int_equal(strata_ask(NULL, 0, NULL, STRATA_AS_TEXT, NULL), STRATA_USAGE);
    assert_int_equal(strata_query(NULL, "SELECT 1", 0, NULL), STRATA_USAGE);
    assert_int_equal(strata_ask(NULL, 0, words, STRATA_AS_TEXT, &r), STRATA_OK);
    assert_non_null(strstr(strata_result_text(r, NULL), strata_version()));
    strata_result_free(r);
    assert_int_equal(strata_diagnostic_get(NULL, 0, &d), STRATA_USAGE);
    assert_int_equal(strata_field_get(NULL, "", 0, &f), STRATA_USAGE);
    assert_int_equal(strata_column_get(NULL, 0, &c), STRATA_USAGE);
    assert_int_equal(strata_result_status(NULL), STRATA_MEMORY);
    assert_int_equal(strata_value_type(NULL), STRATA_NULL);
    assert_string_equal(strata_value_text(NULL), "");
    assert_string_equal(strata_value_key(NULL), "");
    assert_int_equal(strata_value_int(NULL), 0);
    assert_true(strata_value_real(NULL) != strata_value_real(NULL));
    assert_string_equal(strata_result_text(NULL, NULL), "");
    assert_int_equal(strata_result_code(NULL), 0);
    assert_int_equal(strata_column_count(NULL) + strata_row_count(NULL), 0);
    assert_int_equal(strata_diagnostic_count(NULL) + strata_field_count(NULL, NULL), 0);
    strata_result_free(NULL);
    strata_close(NULL);
}

TEST_MAIN("api/api_ask", T(a_command_is_asked_and_its_answer_walked), T(fields_are_described),
          T(an_answer_comes_in_every_form), T(a_failure_has_its_code), T(columns_are_contiguous),
          T(a_column_takes_the_widest_type), T(plain_columns_are_those_of_the_engine),
          T(four_threads_share_a_capture), T(ten_thousand_calls_leave_nothing_behind),
          T(two_captures_are_compared), T(servers_are_not_started), T(anything_may_be_null))
