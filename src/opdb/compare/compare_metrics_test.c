#include "opdb/compare/m6.h"

#include <math.h>

#include "base/testing.h"
#include "opdb/compare_testing.h"

#define PROCESS(pid, name)                                                                         \
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" #pid ",\"args\":{\"name\":\"" name "\"}}"

/* The events behind the names of two processes. */
static struct metrics compare_metrics_compute(const struct test_event *events, size_t n)
{
    struct predicted p;
    struct arena arena;
    struct diag d;

    diag_init(&d);
    arena_init(&arena);
    struct str trace =
        test_trace(&arena, PROCESS(0, "analytic") "," PROCESS(1, "empirical"), events, n);
    assert_int_equal(predicted_parse(&p, "t", trace, &d), ST_OK);
    struct metrics m = metrics_compute(&p);
    predicted_free(&p);
    arena_free(&arena);
    diag_fini(&d);
    return m;
}

TEST(shares_count_what_never_misses)
{
    /* Three mm of two shapes, one not found; a free view; a partial add; a name that is none. */
    const struct test_event events[] = {
        {"mm", 1, .source = "MEASURED", .shapes = "1", .pid = 1},
        {"mm", 1, .source = "INTERPOLATED", .shapes = "2", .pid = 1},
        {"mm", 1, .shapes = "2", .pid = 1},
        {"view", 0, .source = "MEASURED", .zero_cost = "True", .pid = 1},
        {"add", 1, .source = "PARTIAL", .pid = 1},
        {"torch.ops.", 1, .pid = 1},
    };
    struct metrics m = compare_metrics_compute(events, ARRAY_LEN(events));

    assert_int_equal(m.invocations, 6);
    assert_true(m.m1 == 3.0 / 6);
    assert_true(m.m2 == 1.0 / 3);
    assert_true(m.m3 == 0);
    assert_true(m.m4 == 1.0 / 4);
    assert_true(isnan(m.m5));
}

TEST(members_of_a_fused_group_are_one_operator)
{
    const struct test_event events[] = {
        {"x.init_routing_v2", 1, .source = "MEASURED", .pid = 1},
        {"x.grouped_matmul_swiglu", 1, .pid = 1},
        {"x.mm", 1, .source = "EXTRAPOLATED", .pid = 1},
    };

    assert_true(compare_metrics_compute(events, ARRAY_LEN(events)).m2 == 0.5);
}

TEST(analytic_time_is_paired_in_order)
{
    const struct test_event events[] = {
        {"a", 9, .source = "MEASURED", .pid = 1},
        {"a", 30, .pid = 0},
        {"b", 10, .pid = 0},
        {"b", 9, .pid = 1},
    };
    struct metrics m = compare_metrics_compute(events, ARRAY_LEN(events));

    assert_int_equal(m.invocations, 2);
    assert_true(m.m5 == 0.75);
}

TEST(an_empty_trace_has_no_shares)
{
    struct metrics m = compare_metrics_compute(NULL, 0);

    assert_true(isnan(m.m1) && isnan(m.m2) && isnan(m.m3) && isnan(m.m4) && isnan(m.m5));
}

TEST_MAIN("opdb/compare/compare_metrics", T(shares_count_what_never_misses),
          T(members_of_a_fused_group_are_one_operator), T(analytic_time_is_paired_in_order),
          T(an_empty_trace_has_no_shares))
