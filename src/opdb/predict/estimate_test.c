#include "opdb/predict/estimate.h"

#include <math.h>
#include <stdlib.h>

#include "base/testing.h"

/* A generator of its own: the same numbers on every machine. */
static uint64_t seed;

static double uniform(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0;
}

static double noise(double share)
{
    return exp(share * (uniform() + uniform() + uniform() - 1.5));
}

/* A device that computes products in tiles: 800 TFLOP/s, 4 TB/s, 5 us. */
struct tiling {
    double rows, columns, cores;
    bool is_cut; /* tiles at the edge take less */
};
static const struct tiling usual = {128, 256, 132, false};
static const struct tiling *made_with = &usual;

static double tiled_roofline(double m, double k, double n)
{
    const struct tiling *t = made_with;
    double down = ceil(m / t->rows), across = ceil(n / t->columns);
    double waves = ceil(down * across / t->cores);
    double all = t->is_cut ? m * n : down * t->rows * across * t->columns;
    double compute = waves * t->cores / (down * across) * all * 2 * k / 800e6;
    double memory = 2 * (m * k + k * n + m * n) / 4e6;

    return 5 + fmax(compute, memory);
}

static void make_point(struct estimate_point *p, double m, double k, double n, double error)
{
    int64_t a[] = {(int64_t)m, (int64_t)k}, b[] = {(int64_t)k, (int64_t)n};
    struct query_input in[] = {{{a, 2}, S_INIT("DT_BF16")}, {{b, 2}, S_INIT("DT_BF16")}};
    struct arena arena;

    arena_init(&arena);
    assert_true(
        work_of(&arena, S("MatMulV2"), (struct query_inputs){in, 2}, NULL, NULL, S(""), &p->work));
    arena_free(&arena);
    p->us = tiled_roofline(m, k, n) * noise(error);
}

enum { SIZES = 30, WEIGHTS = 20 };

/* Numbers of rows from 1 to 16384, evenly in logarithms, at several weights. */
static size_t make_grid(struct estimate_point *out, double error)
{
    size_t count = 0;

    seed = 42;
    for (size_t w = 0; w < WEIGHTS; w++) {
        double k = 128 * floor(8 * pow(16, uniform())), n = 128 * floor(8 * pow(16, uniform()));
        for (size_t i = 0; i < SIZES; i++)
            make_point(&out[count++], floor(pow(16384, ((double)i + uniform()) / SIZES)), k, n,
                       error);
    }
    return count;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double quantile(const struct estimate_trial *t, size_t n, double share)
{
    double errors[ESTIMATE_TRIALS];

    for (size_t i = 0; i < n; i++)
        errors[i] = fabs(expm1(t[i].error));
    qsort(errors, n, sizeof(*errors), by_value);
    return errors[(size_t)ceil(share * (double)n) - 1];
}

static double coverage(const struct estimate_trial *t, size_t n)
{
    size_t covered = 0;

    for (size_t i = 0; i < n; i++)
        covered += t[i].is_covered;
    return (double)covered / (double)n;
}

TEST(a_dense_tiled_roofline_is_predicted_and_its_intervals_hold)
{
    static struct estimate_point points[SIZES * WEIGHTS];
    static struct estimate_trial trials[ESTIMATE_TRIALS];
    size_t n = make_grid(points, 0.02);

    size_t tried = estimate_leave_one_out(points, n, &(struct estimate_chip){0}, trials);
    assert_true(tried >= 200);
    assert_true(quantile(trials, tried, 0.5) <= 0.05);
    assert_true(quantile(trials, tried, 0.95) <= 0.15);
    assert_in_range(100 * coverage(trials, tried), 75, 85);
}

TEST(other_tiles_are_found)
{
    static const struct tiling other = {192, 128, 108, true};
    static struct estimate_point points[SIZES * WEIGHTS];
    static struct estimate_trial trials[ESTIMATE_TRIALS];

    made_with = &other;
    size_t n = make_grid(points, 0.02);
    made_with = &usual;
    size_t tried = estimate_leave_one_out(points, n, &(struct estimate_chip){0}, trials);
    assert_true(quantile(trials, tried, 0.5) <= 0.05);
    assert_true(quantile(trials, tried, 0.95) <= 0.15);
    assert_in_range(100 * coverage(trials, tried), 75, 85);
}

TEST(waves_are_steps)
{
    static struct estimate_point points[SIZES * WEIGHTS];
    struct estimate_model model;
    struct estimate_point one, two;
    struct estimate a, b;
    size_t n = make_grid(points, 0);

    /* 128 rows more are one more row of tiles: 33 * 4 = 132 fill a wave, 34 * 4 need two. */
    make_point(&one, 4224, 4096, 1024, 0);
    make_point(&two, 4352, 4096, 1024, 0);
    assert_true(two.us > 1.8 * one.us - 5);
    estimate_fit(&model, points, n, &(struct estimate_chip){.cores = 132});
    estimate_call(&model, &one.work, ESTIMATE_NONE, &a);
    estimate_call(&model, &two.work, ESTIMATE_NONE, &b);
    assert_true(fabs(a.us / one.us - 1) < 0.1);
    assert_true(fabs(b.us / two.us - 1) < 0.1);
    estimate_free(&model);
}

TEST(the_nearest_points_are_those_of_a_plain_search)
{
    static struct estimate_point points[SIZES * WEIGHTS];
    struct estimate_model model;
    size_t n = make_grid(points, 0.02);

    estimate_fit(&model, points, n, &(struct estimate_chip){.cores = 132});
    for (int k = 0; k < 50; k++) {
        struct estimate_point p;
        struct estimate e;
        make_point(&p, floor(pow(16384, uniform())), 1024, 4096, 0);
        estimate_call(&model, &p.work, ESTIMATE_NONE, &e);
        double least = INFINITY;
        size_t found = 0;
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            for (unsigned axis = 0; axis < p.work.n_axes; axis++)
                sum += pow(log(p.work.axis[axis] / points[i].work.axis[axis]) *
                               model.member[0].kriging.scale[axis],
                           2);
            if (sum < least - 1e-12) {
                least = sum;
                found = i;
            }
        }
        assert_int_equal(e.n_near, ESTIMATE_NEAR);
        assert_int_equal(e.near[0], found);
    }
    estimate_free(&model);
}

TEST(between_three_rows_the_answer_is_between_them)
{
    struct estimate_point points[3], asked;
    struct estimate_model model;
    struct estimate e;

    seed = 7;
    make_point(&points[0], 1, 5120, 768, 0);
    make_point(&points[1], 60, 5120, 768, 0);
    make_point(&points[2], 128, 5120, 768, 0);
    points[0].us = 10;
    points[1].us = 52;
    points[2].us = 100;
    make_point(&asked, 64, 5120, 768, 0);
    estimate_fit(&model, points, 3, &(struct estimate_chip){.cores = 0});
    estimate_call(&model, &asked.work, ESTIMATE_NONE, &e);
    assert_true(e.is_inside);
    assert_true(e.us > 50 && e.us < 70);
    assert_true(e.low_us < e.us && e.us < e.high_us);
    make_point(&asked, 256, 5120, 768, 0);
    estimate_call(&model, &asked.work, ESTIMATE_NONE, &e);
    assert_false(e.is_inside);
    estimate_free(&model);
}

TEST(one_point_is_enough_for_an_answer)
{
    struct estimate_point point, asked;
    struct estimate_model model;
    struct estimate e;

    make_point(&point, 1024, 4096, 4096, 0);
    make_point(&asked, 2048, 4096, 4096, 0);
    estimate_fit(&model, &point, 1, &(struct estimate_chip){.cores = 0});
    estimate_call(&model, &asked.work, ESTIMATE_NONE, &e);
    assert_true(e.us > point.us && e.us < 3 * point.us);
    assert_true(e.high_us > 1.3 * e.us);
    assert_true(e.low_us <= point.us); /* all of it may be launch */
    make_point(&asked, 1024 * 64, 4096, 4096, 0);
    estimate_call(&model, &asked.work, ESTIMATE_NONE, &e);
    assert_true(e.low_us <= point.us);
    assert_true(e.high_us >= 60 * point.us); /* or nothing */
    estimate_free(&model);
}

TEST_MAIN("opdb/predict/estimate", T(a_dense_tiled_roofline_is_predicted_and_its_intervals_hold),
          T(other_tiles_are_found), T(waves_are_steps),
          T(the_nearest_points_are_those_of_a_plain_search),
          T(between_three_rows_the_answer_is_between_them), T(one_point_is_enough_for_an_answer))
