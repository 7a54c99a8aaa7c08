#include "opdb/predict/query.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/testing.h"

static uint64_t seed = 11;

static double hull_next(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 40) / (double)(1 << 24);
}

/* A linear function is met exactly, wherever the target is inside. */
TEST(linear_functions_are_reproduced)
{
    for (size_t dims = 2; dims <= 3; dims++) {
        double points[60 * 3], values[60], out;
        for (size_t j = 0; j < 60; j++) {
            values[j] = 5;
            for (size_t i = 0; i < dims; i++) {
                points[j * dims + i] = 1000 * hull_next();
                values[j] += (double)(i + 1) * points[j * dims + i];
            }
        }
        double target[] = {500, 480, 510};
        assert_true(query_hull(dims, points, values, 60, target, &out));
        double want = 5 + 500 + 2 * 480 + (dims == 3 ? 3 * 510 : 0);
        assert_true(fabs(out - want) < 1e-6 * want);
    }
}

/* No point may lie inside the circle around the triangle that was used: the value tells which one
 * it was. The points of a kite; the short diagonal parts it. */
TEST(the_triangle_is_the_delaunay_one)
{
    const double points[] = {0, 0, 10, 1, 10, -1, 20, 0};
    const double values[] = {0, 1, 1, 0};
    double out;

    assert_true(query_hull(2, points, values, 4, (const double[]){9, 0}, &out));
    assert_true(fabs(out - 0.9) < 1e-9); /* on the triangle (0,0) (10,1) (10,-1) */
    assert_true(query_hull(2, points, values, 4, (const double[]){10, 0}, &out));
    assert_true(fabs(out - 1) < 1e-9);
}

TEST(corners_and_edges_belong_to_the_hull)
{
    const double points[] = {0, 0, 4, 0, 0, 4, 4, 4};
    const double values[] = {1, 2, 3, 4};
    double out;

    assert_true(query_hull(2, points, values, 4, (const double[]){4, 0}, &out));
    assert_true(fabs(out - 2) < 1e-9);
    assert_true(query_hull(2, points, values, 4, (const double[]){2, 0}, &out));
    assert_true(fabs(out - 1.5) < 1e-9);
    assert_true(query_hull(2, points, values, 4, (const double[]){2, 2}, &out));
    assert_true(fabs(out - 2.5) < 1e-9); /* both diagonals give this */
}

TEST(outside_and_flat_clouds_have_no_value)
{
    const double points[] = {0, 0, 1, 1, 2, 2, 3, 3};
    const double values[] = {1, 2, 3, 4};
    const double square[] = {0, 0, 4, 0, 0, 4, 4, 4};
    double out;

    assert_false(query_hull(2, points, values, 4, (const double[]){1.5, 1.5}, &out));
    assert_false(query_hull(2, square, values, 4, (const double[]){5, 1}, &out));
    assert_false(query_hull(2, square, values, 2, (const double[]){1, 1}, &out));
    assert_false(query_hull(4, square, values, 4, (const double[]){1, 1, 1, 1}, &out));
}

TEST_MAIN("opdb/predict/hull", T(linear_functions_are_reproduced),
          T(the_triangle_is_the_delaunay_one), T(corners_and_edges_belong_to_the_hull),
          T(outside_and_flat_clouds_have_no_value))
