#include "opdb/compare/compare_trace.h"

#include "base/formats/json_write.h"
#include "base/testing.h"

#define HEADER                                                                                     \
    "op_name,kernel_type,simulation_shapes,dur_us,source,confidence,composite,"                    \
    "sub_kernel_durations,kernel_shapes,shape_match_rule,sub_kernel_shapes\r\n"

static void assert_csv(const char *trace, const char *expected)
{
    struct text out = {0};
    struct predicted p;
    struct op_table t;
    struct diag d;

    diag_init(&d);
    assert_int_equal(predicted_parse(&p, "t", str_of(trace), &d), ST_OK);
    compare_trace_fill(&p, &t);
    assert_true(table_print(&t, TABLE_NO_BOM, text_sink(&out)));
    assert_int_equal(out.n, strlen(expected));
    assert_memory_equal(out.at, expected, out.n);
    text_free(&out);
    table_free(&t);
    predicted_free(&p);
    diag_fini(&d);
}

TEST(an_empty_trace_is_a_header)
{
    assert_csv("{\"traceEvents\":[]}", HEADER);
}

TEST(rows_come_in_file_order_and_are_quoted_when_needed)
{
    assert_csv("[{\"ph\":\"X\",\"name\":\" b \",\"dur\":2.25},{\"ph\":\"i\"},"
               "{\"ph\":\"X\",\"name\":\"a, \\\"q\\\"\\nx\",\"args\":{\"simulation_shapes\":\"[[1, "
               "2]]\",\"composite\":true}}]",
               HEADER " b ,,,2.25,,,,,,,\r\n\"a, \"\"q\"\"\nx\",,\"[[1, 2]]\",0,,,True,,,,\r\n");
}

TEST_MAIN("opdb/compare/trace_csv", T(an_empty_trace_is_a_header),
          T(rows_come_in_file_order_and_are_quoted_when_needed))
