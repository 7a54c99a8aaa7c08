#include "opdb/compare/compare_trace.h"

#include "base/testing.h"

static enum status rows_parse(struct measured *m, struct diag *d, const char *text)
{
    diag_init(d);
    return measured_parse(m, "m.csv", str_of(text), d);
}

static void rows_done(struct measured *m, struct diag *d)
{
    measured_free(m);
    diag_fini(d);
}

TEST(cells_are_trimmed_and_short_rows_are_padded)
{
    struct measured m;
    struct diag d;
    double us;

    assert_int_equal(rows_parse(&m, &d,
                                "\xef\xbb\xbfType,Start Time(us),Duration(us),Input Shapes\r\n"
                                " Add ,10.5\t, 3 ,\"\"\"1,2\"\"\"\r\nMul,4\r\nA,1,2,3,4,5\r\n"),
                     ST_OK);
    assert_int_equal(m.table.n_rows, 3);
    struct measured_row row = measured_row(&m, 0);
    assert_str(row.type, "Add");
    assert_str(row.start, "10.5");
    assert_str(row.shapes, "\"1,2\"");
    row = measured_row(&m, 1);
    assert_str(row.duration, "");
    assert_true(measured_time(row.duration, &us) && us == 0);
    assert_int_equal(row.line, 3);
    assert_str(measured_row(&m, 2).shapes, "3");
    rows_done(&m, &d);
}

TEST(a_file_without_the_columns_is_refused)
{
    static const char *const texts[] = {"", "Type\nAdd\n", "Duration(us)\n1\n"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct measured m;
        struct diag d;
        assert_int_equal(rows_parse(&m, &d, texts[i]), ST_FORMAT);
        assert_int_equal(diag_count(&d, i == 0 ? "perfdb.no-header" : "perfdb.no-column"), 1);
        rows_done(&m, &d);
    }
}

TEST(a_time_is_a_finite_number)
{
    double us;

    assert_true(measured_time(S("1e3"), &us) && us == 1000);
    assert_false(measured_time(S("abc"), &us));
    assert_false(measured_time(S("nan"), &us));
    assert_false(measured_time(S("inf"), &us));
}

TEST(a_collective_listed_twice_counts_once)
{
    struct twins t;

    /* Same microsecond and type: one. Another type, another microsecond, another key: not. */
    twins_init(&t);
    twins_put(&t, 1000.2, S("hcom_a"), S(""), 80);
    twins_put(&t, 1000.9, S("hcom_a"), S(""), 82.5);
    twins_put(&t, 1000.9, S("hcom_b"), S(""), 1);
    twins_put(&t, 1001.0, S("hcom_a"), S(""), 2);
    twins_put(&t, 1000.5, S("hcom_a"), S("k"), 3);
    twins_put(&t, -0.5, S("hcom_c"), S(""), 4);
    twins_put(&t, 0.5, S("hcom_c"), S(""), 1);
    assert_int_equal(t.at.n, 5);
    assert_true(t.at.at[0].us == 82.5);
    assert_true(t.at.at[4].us == 4);
    twins_free(&t);
}

TEST_MAIN("opdb/compare/compare_rows", T(cells_are_trimmed_and_short_rows_are_padded),
          T(a_file_without_the_columns_is_refused), T(a_time_is_a_finite_number),
          T(a_collective_listed_twice_counts_once))
