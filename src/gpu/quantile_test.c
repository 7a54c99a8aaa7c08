#include "gpu/quantile.h"

#include <math.h>
#include <stdlib.h>

#include "base/testing.h"

static int by_value(const void *a, const void *b)
{
    nanos x = *(const nanos *)a, y = *(const nanos *)b;

    return x < y ? -1 : x > y;
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
        qsort(sorted, N, sizeof(*sorted), by_value);
        assert_int_equal(quantile_at(list, N, k), sorted[k]);
    }
}

TEST(the_median_of_an_even_number_is_the_mean_of_two)
{
    nanos even[] = {9, 1, 4, 3}, odd[] = {9, 1, 4};

    assert_true(quantile_median(even, 4) == 3.5);
    assert_true(quantile_median(odd, 3) == 4);
    assert_true(isnan(quantile_median(odd, 0)));
}

TEST(ranks_are_the_nearest_from_above)
{
    nanos list[20], one[] = {7};

    for (size_t i = 0; i < 20; i++)
        list[i] = (nanos)(20 - i);
    assert_int_equal(quantile_rank(list, 20, 95), 19);
    assert_int_equal(quantile_rank(list, 20, 96), 20);
    assert_int_equal(quantile_rank(list, 20, 0), 1);
    assert_int_equal(quantile_rank(one, 1, 95), 7);
}

TEST_MAIN("gpu/quantile", T(every_place_is_that_of_the_sorted_list),
          T(the_median_of_an_even_number_is_the_mean_of_two), T(ranks_are_the_nearest_from_above))
