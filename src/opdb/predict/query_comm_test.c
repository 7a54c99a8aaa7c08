#include "opdb/predict/query.h"

#include <math.h>

#include "base/testing.h"
#include "opdb/rows/table.h"

#define TABLE                                                                                      \
    "message_bytes,num_devices,topology_tier,Duration(us)\n"                                       \
    "1000,8,1,10\n2000,8,1,20\n4000,8,1,50\n1000,8,2,99\n3000,8,1,0\n"

static struct comm_result comm_ask(const char *text, int64_t bytes, int64_t tier,
                                   enum comm_method method)
{
    struct comm_query q = {bytes, 8, tier, method};
    struct op_table t;
    struct diag d;

    diag_init(&d);
    assert_int_equal(table_parse(&t, "t", str_of(text), &d), ST_OK);
    struct comm_result r = query_comm(&t, &q);
    table_free(&t);
    diag_fini(&d);
    return r;
}

TEST(measured_sizes_are_exact)
{
    struct comm_result r = comm_ask(TABLE, 2000, 1, COMM_ALPHA_BETA);

    assert_null(r.miss);
    assert_true(r.latency_us == 20 && !r.is_interpolated);
    assert_true(comm_ask(TABLE, 1000, 2, COMM_ALPHA_BETA).latency_us == 99);
    assert_true(comm_ask(TABLE, 1000, -1, COMM_ALPHA_BETA).latency_us == 10);
}

TEST(between_sizes_a_line_is_used)
{
    struct comm_result r = comm_ask(TABLE, 3000, 1, COMM_BRACKET_LINEAR);

    assert_true(r.is_interpolated && r.latency_us == 35);
    /* Least squares of (1,10) (2,20) (4,50): slope 40 * 3 / 14 ... = 13.571428..., mean at 7/3. */
    r = comm_ask(TABLE, 3000, 1, COMM_ALPHA_BETA);
    double slope =
        (-4.0 / 3 * (10 - 80.0 / 3) + -1.0 / 3 * (20 - 80.0 / 3) + 5.0 / 3 * (50 - 80.0 / 3)) /
        (16.0 / 9 + 1.0 / 9 + 25.0 / 9);
    assert_true(fabs(r.latency_us - (80.0 / 3 + slope * (3 - 7.0 / 3))) < 1e-9);
    /* The line is below the lower neighbour at 1001: its value is the least there. */
    assert_true(comm_ask(TABLE, 1001, 1, COMM_ALPHA_BETA).latency_us == 10);
}

TEST(nothing_is_extrapolated)
{
    assert_string_equal(comm_ask(TABLE, 999, 1, COMM_ALPHA_BETA).miss, "shape_mismatch");
    assert_string_equal(comm_ask(TABLE, 4001, 1, COMM_ALPHA_BETA).miss, "shape_mismatch");
    assert_string_equal(comm_ask(TABLE, 1000, 3, COMM_ALPHA_BETA).miss, "shape_mismatch");
    assert_string_equal(comm_ask("a,b\n1,2\n", 1, 1, COMM_ALPHA_BETA).miss, "csv_format_raw");
}

TEST(collectives_have_their_names)
{
    assert_str(query_comm_kernel(S("all_reduce")), "hcom_allReduce_");
    assert_str(query_comm_kernel(S("hcom_x_")), "hcom_x_");
    assert_str(query_comm_kernel(S("dance")), "");
}

TEST_MAIN("opdb/predict/query_comm", T(measured_sizes_are_exact), T(between_sizes_a_line_is_used),
          T(nothing_is_extrapolated), T(collectives_have_their_names))
