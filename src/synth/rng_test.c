#include "synth/rng.h"

#include "base/testing.h"

TEST(the_first_numbers_are_those_of_splitmix64)
{
    /* Known values of the algorithm for seed 0. */
    struct rng r = {0};

    assert_true(rng_next(&r) == 0xe220a8397b1dcdafu);
    assert_true(rng_next(&r) == 0x6e789e6aa1b965f4u);
    assert_true(rng_next(&r) == 0x06c45d188009454fu);
}

TEST(numbers_stay_in_their_range)
{
    struct rng r = rng_seed(1, 2);

    for (int i = 0; i < 1000; i++) {
        int64_t a = rng_below(&r, 7), b = rng_between(&r, -3, 3);
        assert_true(a >= 0 && a < 7);
        assert_true(b >= -3 && b <= 3);
    }
    assert_int_equal(rng_below(&r, 1), 0);
    assert_int_equal(rng_below(&r, 0), 0);
}

TEST(streams_of_one_seed_differ)
{
    struct rng a = rng_seed(5, 0), b = rng_seed(5, 1);

    assert_true(rng_next(&a) != rng_next(&b));
}

TEST_MAIN("synth/rng", T(the_first_numbers_are_those_of_splitmix64), T(numbers_stay_in_their_range),
          T(streams_of_one_seed_differ))
