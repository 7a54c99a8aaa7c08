#include "opdb/rows/cell.h"

#include "base/testing.h"

TEST(durations_above_zero_count)
{
    assert_true(cell_is_measured(S(" 2 "), S("0")));
    assert_true(cell_is_measured(S("abc"), S("3")));
    assert_true(cell_is_measured(S("inf"), S("")));
    assert_false(cell_is_measured(S("nan"), S("-1")));
    assert_false(cell_is_measured(S(""), S("0.0")));
}

TEST_MAIN("opdb/rows/row", T(durations_above_zero_count))
