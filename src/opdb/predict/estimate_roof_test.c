/*
 * Times under a roof, worked out by hand.
 */
#include "opdb/predict/estimate_in.h"

#include <math.h>

#include "base/testing.h"

static bool is_time(double got, double want)
{
    return fabs(got - want) < 1e-9 * want;
}

TEST(the_slower_of_operations_and_bytes_counts_after_the_launch)
{
    struct estimate_roof r = {.launch_us = 2, .rate = 1e6, .speed = 1e5};
    struct call_work w = {.flops = 3e6, .bytes = 1e5};

    assert_true(is_time(estimate_roof_us(&r, &w), 2 + 3));
    w.bytes = 5e5;
    assert_true(is_time(estimate_roof_us(&r, &w), 2 + 5));
    w = (struct call_work){0};
    assert_true(is_time(estimate_roof_us(&r, &w), 2));
}

/* 100 of the 128 rows of two tiles are used: 1.28 times the work, in one wave of four cores of
 * which two are idle: 2 * 1.28. */
TEST(tiles_at_the_edge_and_idle_cores_cost_their_part)
{
    struct estimate_roof r = {
        .rate = 1e6, .speed = 1e9, .tile_rows = 64, .tile_columns = 64, .cores = 4};
    struct call_work w = {
        .kind = WORK_MATMUL, .flops = 1e6, .rows = 100, .columns = 64, .units = 1, .peak = 1};

    assert_true(is_time(estimate_roof_us(&r, &w), 2.56));
    /* Tiles that take what they hold waste nothing but the cores. */
    r.is_cut = true;
    assert_true(is_time(estimate_roof_us(&r, &w), 2));
    /* Columns are rounded up for products: 65 take two tiles of 64. */
    r.is_cut = false;
    w.rows = 64;
    w.columns = 65;
    assert_true(is_time(estimate_roof_us(&r, &w), 128.0 / 65 * 2));
    /* Five tiles on four cores take two waves of a fifth of the work each. */
    w.columns = 64;
    w.units = 5;
    assert_true(is_time(estimate_roof_us(&r, &w), 2 * 4 / 5.0));
    /* Parts of unequal length: 257 columns are five tiles, 320 / 257 of the work; the longest takes
     * 2 * 64 / 257. All the work and the longest on every core is less than two waves of it. */
    w.columns = 257;
    w.units = 1;
    w.peak = 2;
    assert_true(is_time(estimate_roof_us(&r, &w), (320 + 4 * 128) / 257.0));
    w.peak = 1;
    /* Without rows there are no tiles. */
    w.rows = 0;
    assert_true(is_time(estimate_roof_us(&r, &w), 1));
}

TEST(a_cache_serves_less_and_less_beyond_its_size)
{
    struct estimate_roof r = {.rate = 1e9, .speed = 1e3, .cache = 1e6, .fast = 1e4};
    struct call_work w = {.bytes = 1e6};

    assert_true(is_time(estimate_roof_us(&r, &w), 100));
    w.bytes = 1.5e6; /* half of it hits */
    assert_true(is_time(estimate_roof_us(&r, &w), 1.5e6 * (0.5 / 1e4 + 0.5 / 1e3)));
    w.bytes = 2e6;
    assert_true(is_time(estimate_roof_us(&r, &w), 2000));
    w.bytes = 9e6;
    assert_true(is_time(estimate_roof_us(&r, &w), 9000));
}

/* Two rates that made the points are found again. */
TEST(rates_are_fitted_to_points_of_both_kinds)
{
    enum { POINTS = 24 };
    struct estimate_point points[POINTS] = {0};
    uint32_t at[POINTS];
    const struct estimate_chip unknown = {0};
    struct estimate_fits family[ESTIMATE_KINDS] = {0};
    struct estimate_roof made = {.launch_us = 3, .rate = 2e6, .speed = 5e4}, out[ESTIMATE_ROOFS];

    for (uint32_t i = 0; i < POINTS; i++) {
        double size = exp2(i / 2.0);
        points[i].work = (struct call_work){.flops = (i % 2 ? 4e5 : 1e3) * size,
                                            .bytes = (i % 2 ? 1e2 : 2e4) * size};
        points[i].us = estimate_roof_us(&made, &points[i].work);
        at[i] = i;
    }
    struct estimate_sample sample = {.points = points, .at = at, .n = POINTS, .chip = &unknown};
    assert_true(estimate_roofs(out, family, &sample) > 0);
    assert_true(fabs(log(out[0].rate / made.rate)) < 0.02);
    assert_true(fabs(log(out[0].speed / made.speed)) < 0.02);
    assert_true(fabs(log(out[0].launch_us / made.launch_us)) < 0.05);
}

TEST_MAIN("opdb/predict/estimate_roof",
          T(the_slower_of_operations_and_bytes_counts_after_the_launch),
          T(tiles_at_the_edge_and_idle_cores_cost_their_part),
          T(a_cache_serves_less_and_less_beyond_its_size),
          T(rates_are_fitted_to_points_of_both_kinds))
