#include "base/tables/interval.h"

#include "base/testing.h"

static uint64_t seed = 1;

static unsigned interval_draw(unsigned below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed % below);
}

TEST(merging_joins_touching_ranges_and_drops_empty_ones)
{
    struct interval r[] = {{40, 50}, {0, 10}, {10, 20}, {15, 18}, {30, 30}};
    struct interval_set s = {r, 5};

    interval_merge(&s);
    assert_int_equal(s.n, 2);
    assert_int_equal(s.at[0].begin, 0);
    assert_int_equal(s.at[0].end, 20);
    assert_int_equal(s.at[1].begin, 40);
    assert_int_equal(interval_length(s), 30);
}

TEST(reversed_ranges_are_empty)
{
    struct interval r[] = {{4, 4}, {7, 3}, {1, 2}};
    struct interval_set s = {r, 3};

    interval_merge(&s);
    assert_int_equal(s.n, 1);
    assert_int_equal(interval_length(s), 1);
}

TEST(ranges_one_apart_stay_two)
{
    struct interval r[] = {{0, 10}, {11, 20}};
    struct interval_set s = {r, 2};

    interval_merge(&s);
    assert_int_equal(s.n, 2);
    assert_int_equal(interval_length(s), 19);
}

TEST(a_range_inside_another_adds_nothing)
{
    struct interval r[] = {{5, 6}, {0, 10}, {0, 10}, {3, 4}};
    struct interval_set s = {r, 4};

    interval_merge(&s);
    assert_int_equal(s.n, 1);
    assert_int_equal(interval_length(s), 10);
}

TEST(two_streams_in_parallel_are_busy_once)
{
    /* Two 10 ns kernels, half overlapped: the kernel sum is 20, the busy union 15. */
    struct interval r[] = {{0, 10}, {5, 15}};
    struct interval_set s = {r, 2};

    interval_merge(&s);
    assert_int_equal(interval_length(s), 15);
}

TEST(an_empty_set_has_no_length)
{
    struct interval_set none = {0};

    interval_merge(&none);
    assert_int_equal(interval_length(none), 0);
    assert_int_equal(interval_overlap(none, none), 0);
    assert_int_equal(interval_clip(none, (struct interval){0, 10}, NULL).n, 0);
}

TEST(the_ends_of_time_do_not_wrap)
{
    struct interval r[] = {{0, INT64_MAX}, {INT64_MIN, -5}}, out[2];
    struct interval_set s = {r, 2};

    interval_merge(&s);
    assert_int_equal(s.n, 2);
    assert_true(interval_length(s) == INT64_MAX);
    assert_true(interval_overlap(s, s) == INT64_MAX);
    struct interval_set cut = interval_clip(s, (struct interval){INT64_MIN, INT64_MAX}, out);
    assert_int_equal(cut.n, 2);
    assert_true(cut.at[0].begin == INT64_MIN && cut.at[1].end == INT64_MAX);
}

TEST(the_overlap_counts_what_both_cover)
{
    struct interval a[] = {{0, 10}, {20, 30}, {40, 50}}, b[] = {{5, 25}, {30, 40}, {45, 60}};

    /* [5,10) [20,25) [45,50) */
    assert_int_equal(interval_overlap((struct interval_set){a, 3}, (struct interval_set){b, 3}),
                     15);
}

TEST(clipping_cuts_at_the_window)
{
    /* Kernels [2,60) [70,95) in a window of [50,75). */
    struct interval a[] = {{2, 60}, {70, 95}}, out[2];
    struct interval_set cut =
        interval_clip((struct interval_set){a, 2}, (struct interval){50, 75}, out);

    assert_int_equal(cut.n, 2);
    assert_int_equal(cut.at[0].begin, 50);
    assert_int_equal(cut.at[0].end, 60);
    assert_int_equal(cut.at[1].begin, 70);
    assert_int_equal(cut.at[1].end, 75);
    assert_int_equal(interval_length(cut), 15);
    assert_int_equal(interval_clip((struct interval_set){a, 2}, (struct interval){60, 70}, out).n,
                     0);
    assert_int_equal(interval_clip((struct interval_set){a, 2}, (struct interval){80, 20}, out).n,
                     0);
    assert_int_equal(interval_clip((struct interval_set){a, 2}, (struct interval){5, 5}, out).n, 0);
}

/* One byte per time from -32 to 31. */
enum { SPAN = 64, ZERO = 32, MOST = 12 };

static struct interval_set random_set(struct interval *r, char *map)
{
    struct interval_set s = {r, interval_draw(MOST + 1)};

    memset(map, 0, SPAN);
    for (size_t i = 0; i < s.n; i++) {
        r[i].begin = (nanos)interval_draw(SPAN) - ZERO;
        r[i].end = interval_draw(8) == 0 ? (nanos)interval_draw(SPAN) - ZERO
                                         : r[i].begin + interval_draw(9);
        if (r[i].end > SPAN - ZERO)
            r[i].end = SPAN - ZERO;
        for (nanos t = r[i].begin; t < r[i].end; t++)
            map[t + ZERO] = 1;
    }
    return s;
}

static void assert_is_map(struct interval_set s, const char *map)
{
    char covered[SPAN] = {0};
    size_t runs = 0;

    for (size_t i = 0; i < s.n; i++)
        for (nanos t = s.at[i].begin; t < s.at[i].end; t++)
            covered[t + ZERO]++; /* 2 where ranges overlap, which they may not */
    assert_memory_equal(covered, map, SPAN);
    for (int t = 0; t < SPAN; t++)
        runs += map[t] && (t == 0 || !map[t - 1]);
    assert_int_equal(s.n, runs);
}

TEST(random_sets_agree_with_a_map_of_every_nanosecond)
{
    for (int round = 0; round < 20000; round++) {
        struct interval ra[MOST], rb[MOST], rc[MOST];
        char ma[SPAN], mb[SPAN], mc[SPAN];
        struct interval_set a = random_set(ra, ma), b = random_set(rb, mb);
        nanos length = 0, both = 0;
        struct interval window = {(nanos)interval_draw(SPAN) - ZERO,
                                  (nanos)interval_draw(SPAN) - ZERO};

        interval_merge(&a);
        interval_merge(&b);
        assert_is_map(a, ma);
        for (int t = 0; t < SPAN; t++) {
            length += ma[t];
            both += ma[t] && mb[t];
            mc[t] = ma[t] && t - ZERO >= window.begin && t - ZERO < window.end;
        }
        assert_int_equal(interval_length(a), length);
        assert_int_equal(interval_overlap(a, b), both);
        assert_int_equal(interval_overlap(b, a), both);
        assert_is_map(interval_clip(a, window, rc), mc);
    }
}

TEST_MAIN("base/tables/interval", T(merging_joins_touching_ranges_and_drops_empty_ones),
          T(reversed_ranges_are_empty), T(ranges_one_apart_stay_two),
          T(a_range_inside_another_adds_nothing), T(two_streams_in_parallel_are_busy_once),
          T(an_empty_set_has_no_length), T(the_ends_of_time_do_not_wrap),
          T(the_overlap_counts_what_both_cover), T(clipping_cuts_at_the_window),
          T(random_sets_agree_with_a_map_of_every_nanosecond))
