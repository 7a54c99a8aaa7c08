#include "base/tables/ranked.h"

#include <stdlib.h>

#include "base/testing.h"

TEST(values_are_sorted_ascending)
{
    double values[] = {3, -1, NAN, 2, -1};

    ranked_sort(values, 5);
    assert_true(values[0] == -1 && values[1] == -1 && values[2] == 2 && values[3] == 3);
    assert_true(isnan(values[4]));
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

TEST(the_middle_of_an_even_number_is_the_mean_of_two)
{
    const double values[] = {10, 20, 40, 80};

    assert_true(ranked_middle(values, 4) == 30);
    assert_true(ranked_middle(values, 3) == 20);
    assert_true(isnan(ranked_middle(values, 0)));
}

TEST(nearest_ranks_are_values_of_the_list)
{
    const double values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

    assert_true(ranked_nearest(values, 10, 0.1) == 1);
    assert_true(ranked_nearest(values, 10, 0.11) == 2);
    assert_true(ranked_nearest(values, 10, 0) == 1);
    assert_true(ranked_nearest(values, 10, 1) == 10);
}

TEST(a_set_has_each_value_once)
{
    int64_t values[] = {7, 3, 7, 3, 1};

    assert_int_equal(ranked_set(values, 5), 3);
    assert_true(values[0] == 1 && values[1] == 3 && values[2] == 7);
    assert_int_equal(ranked_set(values, 0), 0);
}

TEST(every_place_is_that_of_the_sorted_list)
{
    enum { N = 97 };
    nanos list[N], sorted[N];
    uint64_t x = 1;

    for (size_t k = 0; k < N; k++) {
        for (size_t i = 0; i < N; i++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            list[i] = sorted[i] = (nanos)(x >> 59); /* many are equal */
        }
        qsort(sorted, N, sizeof(*sorted), ranked_order);
        assert_int_equal(ranked_pick(list, N, k), sorted[k]);
    }
}

TEST(the_median_of_an_even_number_is_the_mean_of_two)
{
    nanos even[] = {9, 1, 4, 3}, odd[] = {9, 1, 4};

    assert_true(ranked_pick_middle(even, 4) == 3.5);
    assert_true(ranked_pick_middle(odd, 3) == 4);
    assert_true(isnan(ranked_pick_middle(odd, 0)));
}

TEST(ranks_are_the_nearest_from_above)
{
    nanos list[20], one[] = {7};

    for (size_t i = 0; i < 20; i++)
        list[i] = (nanos)(20 - i);
    assert_int_equal(ranked_pick_nearest(list, 20, 95), 19);
    assert_int_equal(ranked_pick_nearest(list, 20, 96), 20);
    assert_int_equal(ranked_pick_nearest(list, 20, 0), 1);
    assert_int_equal(ranked_pick_nearest(one, 1, 95), 7);
}

TEST_MAIN("base/tables/ranked", T(values_are_sorted_ascending),
          T(between_two_values_lies_a_share_of_both),
          T(the_middle_of_an_even_number_is_the_mean_of_two),
          T(nearest_ranks_are_values_of_the_list), T(a_set_has_each_value_once),
          T(every_place_is_that_of_the_sorted_list),
          T(the_median_of_an_even_number_is_the_mean_of_two), T(ranks_are_the_nearest_from_above))
