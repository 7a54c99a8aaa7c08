#include "perfdb/compare_metrics.h"

#include <math.h>

#include "base/testing.h"

static struct metrics compute(const char *trace)
{
    struct predicted p;
    struct diag d;

    diag_init(&d);
    assert_int_equal(predicted_parse(&p, "t", str_of(trace), &d), ST_OK);
    struct metrics m = metrics_compute(&p);
    predicted_free(&p);
    diag_fini(&d);
    return m;
}

#define EVENT(name, pid, dur, args)                                                                \
    "{\"ph\":\"X\",\"name\":\"" name "\",\"pid\":" #pid ",\"dur\":" #dur ",\"args\":{" args "}}"

TEST(shares_count_what_never_misses)
{
    /* Three mm of two shapes, one not found; a free view; a partial add. */
    struct metrics m = compute(
        "[" EVENT("mm", 0, 1, "\"source\":\"MEASURED\",\"simulation_shapes\":\"1\"") "," EVENT("mm", 0, 1, "\"source\":\"INTERPOLATED\",\"simulation_shapes\":\"2\"") "," EVENT(
            "mm", 0,
            1, "\"simulation_shapes\":\"2\"") "," EVENT("view", 0, 0,
                                                        "\"source\":\"MEASURED\",\"zero_cost\":"
                                                        "\"True\"") "," EVENT("add", 0, 1,
                                                                              "\"source\":"
                                                                              "\"PARTIAL\"") "," EVENT("torch.ops.",
                                                                                                       0,
                                                                                                       1,
                                                                                                       "") "]");

    assert_int_equal(m.invocations, 6);
    assert_true(m.m1 == 3.0 / 6);
    assert_true(m.m2 == 1.0 / 3);
    assert_true(m.m3 == 0);
    assert_true(m.m4 == 1.0 / 4);
    assert_true(isnan(m.m5));
}

TEST(members_of_a_fused_group_are_one_operator)
{
    struct metrics m =
        compute("[" EVENT("x.init_routing_v2", 0, 1, "\"source\":\"MEASURED\"") "," EVENT(
            "x.grouped_matmul_swiglu", 0, 1, "") "," EVENT("x.mm", 0, 1,
                                                           "\"source\":\"EXTRAPOLATED\"") "]");

    assert_true(m.m2 == 0.5);
}

TEST(analytic_time_is_paired_in_order)
{
    struct metrics m = compute(
        "[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"args\":{\"name\":\"analytic\"}},"
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"empirical\"}}"
        "," EVENT("a", 1, 9, "\"source\":\"MEASURED\"") "," EVENT("a", 0, 30, "") "," EVENT(
            "b", 0, 10, "") "," EVENT("b", 1, 9, "") "]");

    assert_int_equal(m.invocations, 2);
    assert_true(m.m5 == 0.75);
}

TEST(an_empty_trace_has_no_shares)
{
    struct metrics m = compute("[]");

    assert_true(isnan(m.m1) && isnan(m.m2) && isnan(m.m3) && isnan(m.m4) && isnan(m.m5));
}

TEST_MAIN("perfdb/compare_metrics", T(shares_count_what_never_misses),
          T(members_of_a_fused_group_are_one_operator), T(analytic_time_is_paired_in_order),
          T(an_empty_trace_has_no_shares))
