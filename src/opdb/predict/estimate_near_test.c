/*
 * Kriging between a few points, with numbers worked out by hand.
 */
#include "opdb/predict/estimate_in.h"

#include <math.h>

#include "base/testing.h"

enum { MOST = 16 };

static double place[MOST][WORK_AXES], rest[MOST];

/* Points on the first axis; lengths of 1, so distances are as they stand. */
static struct estimate_field field_of(const struct estimate_kriging *k, size_t n)
{
    return (struct estimate_field){
        .kriging = k, .place = (const double(*)[WORK_AXES])place, .rest = rest, .n = n};
}

static void near_point(size_t i, double at, double left)
{
    for (size_t k = 0; k < WORK_AXES; k++)
        place[i][k] = 0;
    place[i][0] = at;
    rest[i] = left;
}

static bool is_close(double a, double b)
{
    return fabs(a - b) < 1e-12;
}

static double krige_at(const struct estimate_field *f, double x, double *variance)
{
    double at[WORK_AXES] = {x};
    struct estimate_near near = estimate_nearest(f, at, UINT32_MAX);

    return estimate_krige(f, &near, variance);
}

TEST(noise_pulls_a_single_point_to_the_trend)
{
    struct estimate_kriging k = {.scale = {1}, .noise = 0.25};
    struct estimate_field f = field_of(&k, 1);
    double variance;

    /* Weight 1 / (1 + 0.25). */
    near_point(0, 3, 2);
    assert_true(is_close(krige_at(&f, 3, &variance), 0.8 * 2));
    assert_true(is_close(variance, 1 - 0.8 + 0.25));
    /* Far away nothing is known: the trend alone, and the whole spread. */
    assert_true(is_close(krige_at(&f, 1003, &variance), 0));
    assert_true(is_close(variance, 1 + 0.25));
}

TEST(between_two_points_both_count_the_same)
{
    struct estimate_kriging k = {.scale = {1}};
    struct estimate_field f = field_of(&k, 2);
    double e = exp(-1), w = e / (1 + e * e), variance;

    /* Both are 1 away and 2 apart: (1 + e^-2) w = e^-1. */
    near_point(0, -1, 0.5);
    near_point(1, 1, -0.25);
    assert_true(is_close(krige_at(&f, 0, &variance), w * 0.25));
    assert_true(is_close(variance, 1 - 2 * w * e));
    /* Without noise a point is met exactly. */
    assert_true(is_close(krige_at(&f, 1, &variance), -0.25));
    assert_true(fabs(variance) < 1e-12);
}

TEST(a_length_of_two_halves_distances)
{
    struct estimate_kriging k = {.scale = {0.5}, .is_smooth = true};
    struct estimate_field f = field_of(&k, 1);
    double variance, far = sqrt(3);

    /* Matern 3/2 at one length: (1 + sqrt 3) e^-sqrt 3. */
    near_point(0, 2, 1);
    assert_true(fabs(krige_at(&f, 0, &variance) - (1 + far) * exp(-far)) < 1e-7);
}

TEST(the_nearest_are_kept_in_order_and_ties_go_by_number)
{
    static const double at[] = {9, 5, -5, 3, 1, -1, 8, 7, 2, 6, 4};
    static const uint32_t want[] = {4, 5, 8, 3, 10, 1, 2, 9};
    struct estimate_kriging k = {.scale = {1}};
    struct estimate_field f = field_of(&k, ARRAY_LEN(at));
    double origin[WORK_AXES] = {0};

    for (size_t i = 0; i < ARRAY_LEN(at); i++)
        near_point(i, at[i], 0);
    struct estimate_near near = estimate_nearest(&f, origin, UINT32_MAX);
    assert_int_equal(near.n, ESTIMATE_NEAR);
    for (size_t i = 0; i < ESTIMATE_NEAR; i++)
        assert_int_equal(near.at[i], want[i]);
    assert_true(near.far[0] == 1 && near.far[5] == 25 && near.far[6] == 25);
}

TEST(points_that_are_out_and_the_point_itself_do_not_count)
{
    bool is_out[] = {false, true, false};
    struct estimate_kriging k = {.scale = {1}};
    struct estimate_field f = field_of(&k, 3);
    double origin[WORK_AXES] = {0}, variance;

    for (size_t i = 0; i < 3; i++)
        near_point(i, (double)i, 1);
    f.is_out = is_out;
    struct estimate_near near = estimate_nearest(&f, origin, 0);
    assert_int_equal(near.n, 1);
    assert_int_equal(near.at[0], 2);
    near.n = 0;
    assert_true(estimate_krige(&f, &near, &variance) == 0 && variance == 1);
}

/* Many points in one place leave K singular: the answer stays finite. */
TEST(points_in_one_place_are_no_trouble)
{
    struct estimate_kriging k = {.scale = {1}};
    struct estimate_field f = field_of(&k, 4);
    double variance;

    for (size_t i = 0; i < 4; i++)
        near_point(i, 1, 3);
    double mean = krige_at(&f, 1, &variance);
    assert_true(fabs(mean - 3) < 1e-6);
    assert_true(variance >= 0 && variance < 1e-6);
}

TEST_MAIN("opdb/predict/estimate_near", T(noise_pulls_a_single_point_to_the_trend),
          T(between_two_points_both_count_the_same), T(a_length_of_two_halves_distances),
          T(the_nearest_are_kept_in_order_and_ties_go_by_number),
          T(points_that_are_out_and_the_point_itself_do_not_count),
          T(points_in_one_place_are_no_trouble))
