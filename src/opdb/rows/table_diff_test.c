#include "opdb/rows/table.h"

#include "base/formats/json_write.h"
#include "base/testing.h"

static const char *diff(const char *old, const char *fresh, struct text *out)
{
    struct op_table a, b;
    struct diag d;

    diag_init(&d);
    assert_int_equal(table_parse(&b, "t", str_of(fresh), &d), ST_OK);
    if (old != NULL)
        assert_int_equal(table_parse(&a, "t", str_of(old), &d), ST_OK);
    table_diff(old != NULL ? &a : NULL, &b, "T.csv", text_sink(out));
    struct sink sink = text_sink(out);
    sink.write(sink.ctx, (struct str){"", 1});
    if (old != NULL)
        table_free(&a);
    table_free(&b);
    diag_fini(&d);
    return out->at;
}

TEST(rows_that_go_and_come_are_shown)
{
    struct text out = {0};

    assert_string_equal(diff("a,b\n1,2\n3,4\n5,6\n", "a,b\n1,2\n3,9\n5,6\n7,8\n", &out),
                        "--- T.csv\n+++ T.csv\n-3,4\n+3,9\n+7,8\n");
    text_free(&out);
    assert_string_equal(diff(NULL, "a\n1\n", &out), "--- /dev/null\n+++ T.csv\n+a\n+1\n");
    text_free(&out);
    assert_string_equal(diff("a\n1\n", "a\n1\n", &out), "");
    text_free(&out);
    assert_string_equal(diff("a\n1\n2\n", "a\n2\n", &out), "--- T.csv\n+++ T.csv\n-1\n");
    text_free(&out);
}

TEST(new_columns_show_in_the_header)
{
    struct text out = {0};

    assert_string_equal(diff("a\n1\n", "a,b\n1,\n", &out),
                        "--- T.csv\n+++ T.csv\n-a\n+a,b\n-1\n+1,\n");
    text_free(&out);
}

TEST_MAIN("opdb/rows/table_diff", T(rows_that_go_and_come_are_shown),
          T(new_columns_show_in_the_header))
