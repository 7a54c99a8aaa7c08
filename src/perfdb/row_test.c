#include "perfdb/cell.h"

#include "base/testing_arena.h"

TEST(durations_above_zero_count)
{
    assert_true(cell_is_measured(S(" 2 "), S("0")));
    assert_true(cell_is_measured(S("abc"), S("3")));
    assert_true(cell_is_measured(S("inf"), S("")));
    assert_false(cell_is_measured(S("nan"), S("-1")));
    assert_false(cell_is_measured(S(""), S("0.0")));
}

TEST(folded_matrices_are_unfolded)
{
    int64_t stored[] = {320, 48, 16, 16, 1};
    struct cell_dims out;

    assert_true(cell_logical(&arena, (struct cell_dims){stored, 4}, S("FRACTAL_NZ"), &out));
    assert_int_equal(out.n, 2);
    assert_int_equal(out.at[0], 48 * 16);
    assert_int_equal(out.at[1], 320 * 16);
    assert_true(cell_logical(&arena, (struct cell_dims){stored, 5}, S("ND"), &out));
    assert_int_equal(out.n, 5);
    assert_false(cell_logical(&arena, (struct cell_dims){stored, 5}, S("FRACTAL_NZ"), &out));
    stored[1] = INT64_MAX;
    assert_false(cell_logical(&arena, (struct cell_dims){stored, 4}, S("FRACTAL_NZ"), &out));
}

TEST_MAIN("perfdb/row", T(durations_above_zero_count), TA(folded_matrices_are_unfolded))
