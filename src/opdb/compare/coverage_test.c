#include "opdb/compare/coverage.h"

#include "base/testing_arena.h"

static struct coverage_axis coverage_test_measure(const struct coverage_rule *rule,
                                                  const int64_t *points, size_t n)
{
    struct coverage_axis axis = {0};

    coverage_measure(&arena, rule, points, n, &axis);
    return axis;
}

TEST(neighbours_are_judged_by_the_segment_of_the_larger_one)
{
    const struct coverage_segment segments[] = {{1, 8, 1, 0}, {9, 64, 8, 0}, {65, 1024, 0, 2}};
    const struct coverage_rule rule = {true, 1, 1024, segments, 3, {0}};
    const int64_t points[] = {1, 2, 4, 12, 20, 64, 128, 300, 1024};
    struct coverage_axis a;

    a = coverage_test_measure(&rule, points, ARRAY_LEN(points));
    /* 2-4 by 2, 20-64 by 44, 128-300 and 300-1024 by more than twice. */
    assert_int_equal(a.gaps_n, 4);
    assert_int_equal(a.gaps[0].from, 2);
    assert_true(a.gaps[0].gap == 1 && a.gaps[0].ratio == 0);
    assert_int_equal(a.gaps[1].to, 64);
    assert_true(a.gaps[3].ratio == 2);
    assert_int_equal(a.missing.n, 0);
}

TEST(ends_of_the_range_and_required_values_must_be_there)
{
    const int64_t required[] = {64, 1, 16};
    const struct coverage_rule rule = {true, 1, 64, NULL, 0, {required, 3}};
    const int64_t some[] = {16, 100};
    struct coverage_axis a;

    a = coverage_test_measure(&rule, some, 2);
    assert_int_equal(a.missing.n, 2);
    assert_int_equal(a.missing.at[0], 1);
    assert_int_equal(a.missing.at[1], 64); /* required, though 100 lies beyond the end */
    assert_int_equal(coverage_test_measure(&rule, NULL, 0).missing.n, 3);
}

/* What `db grid` makes must satisfy what `db coverage` asks for. */
TEST(the_grids_are_as_dense_as_their_rules)
{
    struct grid_rules grids;
    struct coverage_rules rules;
    size_t checked = 0;

    assert_int_equal(grid_rules_read(&grids, &arena, NULL, &diag), ST_OK);
    assert_int_equal(coverage_rules_read(&rules, &arena, NULL, &diag), ST_OK);
    for (size_t i = 0; i < grids.grids_n; i++) {
        struct coverage_rule rule;
        bool is_there;
        assert_int_equal(
            coverage_rules_axis(&rules, S(""), S(""), grids.grids[i].name, &rule, &is_there),
            ST_OK);
        assert_true(is_there);
        struct coverage_axis a =
            coverage_test_measure(&rule, grids.grids[i].values.at, grids.grids[i].values.n);
        assert_int_equal(a.missing.n, 0);
        assert_int_equal(a.gaps_n, 0);
        checked++;
    }
    assert_int_equal(checked, 11);
}

TEST(an_axis_of_a_pattern_goes_before_its_grid)
{
    struct coverage_rules rules;
    struct coverage_rule rule;
    bool is_there;

    assert_int_equal(coverage_rules_read(&rules, &arena, NULL, &diag), ST_OK);
    assert_int_equal(coverage_rules_axis(&rules, S("tile"), S("D"), S(""), &rule, &is_there),
                     ST_OK);
    assert_true(is_there);
    assert_int_equal(rule.max, 2048);
    assert_int_equal(
        coverage_rules_axis(&rules, S("fused_attention"), S("seq"), S(""), &rule, &is_there),
        ST_OK);
    assert_int_equal(rule.max, 131072);
    assert_int_equal(coverage_rules_axis(&rules, S("x"), S("y"), S("z"), &rule, &is_there), ST_OK);
    assert_false(is_there);
}

TEST_MAIN("opdb/compare/coverage", TA(neighbours_are_judged_by_the_segment_of_the_larger_one),
          TA(ends_of_the_range_and_required_values_must_be_there),
          TA(the_grids_are_as_dense_as_their_rules), TA(an_axis_of_a_pattern_goes_before_its_grid))
