#include "analysis/compare/ranksum.h"

#include <math.h>

#include "base/testing_arena.h"

static void assert_near(double found, double expected)
{
    assert_true(fabs(found - expected) < 1e-12);
}

/* C(8, 4) = 70 orders; U of 0, 1, 2, 3, 4 occur 1, 1, 2, 3, 5 times. */
TEST(small_samples_are_counted_exactly)
{
    struct ranksum r = ranksum_of(&arena, 4, 4);

    assert_near(r.chance[0], 1.0 / 70);
    assert_near(r.chance[1], 2.0 / 70);
    assert_near(r.chance[2], 4.0 / 70);
    assert_near(r.chance[3], 7.0 / 70);
    assert_near(r.chance[4], 12.0 / 70);
    assert_near(r.chance[16], 1);
    assert_near(ranksum_least(&r), 2.0 / 70);
}

/* C(5, 2) = 10 orders: U of 0 to 6 occur 1, 1, 2, 2, 2, 1, 1 times. */
TEST(sizes_may_differ)
{
    struct ranksum r = ranksum_of(&arena, 2, 3), turned = ranksum_of(&arena, 3, 2);

    assert_near(r.chance[1], 0.2);
    assert_near(r.chance[3], 0.6);
    assert_near(turned.chance[3], 0.6);
}

TEST(separate_samples_differ_and_mixed_ones_do_not)
{
    const double low[] = {1, 2, 3, 4}, high[] = {5, 6, 7, 8}, mixed[] = {0, 2.5, 3.5, 9};
    struct ranksum r = ranksum_of(&arena, 4, 4);

    assert_near(ranksum_p(&r, low, high), 2.0 / 70);
    assert_near(ranksum_p(&r, high, low), 2.0 / 70);
    assert_near(ranksum_p(&r, low, low), 1);
    /* Pairs with low larger: 4 above 0, 2 above 2.5, 1 above 3.5, none above 9: U = 7. */
    assert_near(ranksum_p(&r, low, mixed), fmin(1, 2 * r.chance[7]));
}

TEST(equal_pairs_count_half_and_round_against_a_difference)
{
    const double a[] = {1, 1, 1, 5}, b[] = {5, 6, 7, 8};
    struct ranksum r = ranksum_of(&arena, 4, 4);

    assert_near(ranksum_p(&r, a, b), 2 * 2.0 / 70); /* U = 0.5 is taken for 1 */
}

TEST(three_against_three_can_tell_nothing)
{
    struct ranksum three = ranksum_of(&arena, 3, 3), none = ranksum_of(&arena, 0, 5);

    assert_near(ranksum_least(&three), 0.1);
    assert_near(ranksum_least(&none), 1);
    assert_near(ranksum_p(&none, NULL, NULL), 1);
}

TEST(large_samples_use_the_normal_approximation)
{
    double low[50], high[50], same[50];
    struct ranksum r = ranksum_of(&arena, 50, 50);

    for (size_t i = 0; i < 50; i++) {
        low[i] = (double)i;
        high[i] = (double)i + 20;
        same[i] = 3;
    }
    assert_null(r.chance);
    assert_near(ranksum_p(&r, low, low), 1);
    assert_near(ranksum_p(&r, same, same), 1);
    assert_true(ranksum_p(&r, low, high) < 1e-4);
}

TEST_MAIN("analysis/compare/ranksum", TA(small_samples_are_counted_exactly), TA(sizes_may_differ),
          TA(separate_samples_differ_and_mixed_ones_do_not),
          TA(equal_pairs_count_half_and_round_against_a_difference),
          TA(three_against_three_can_tell_nothing), TA(large_samples_use_the_normal_approximation))
