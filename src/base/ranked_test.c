#include "base/ranked.h"

#include "base/testing.h"

TEST(values_are_sorted_ascending)
{
    double values[] = {3, -1, 2, -1};

    ranked_sort(values, 4);
    assert_true(values[0] == -1 && values[1] == -1 && values[2] == 2 && values[3] == 3);
    ranked_sort(NULL, 0);
}

TEST(between_two_values_lies_a_share_of_both)
{
    const double values[] = {10, 20, 40};

    assert_true(ranked_at(values, 3, 0) == 10);
    assert_true(ranked_at(values, 3, 0.25) == 15); /* position 0.5 */
    assert_true(ranked_at(values, 3, 0.5) == 20);
    assert_true(ranked_at(values, 3, 0.75) == 30); /* position 1.5 */
    assert_true(ranked_at(values, 3, 1) == 40);
    assert_true(ranked_at(values, 1, 0.9) == 10);
}

TEST_MAIN("base/ranked", T(values_are_sorted_ascending), T(between_two_values_lies_a_share_of_both))
