/*
 * query_points - a value between measured points.
 *
 * Points share everything but their coordinates on a few axes. Those that agree with the target on
 * all axes but the chosen ones are used; several at one place count as their median. There is no
 * extrapolation: the target lies between points, or there is no answer.
 */
#ifndef STRATA_PERFDB_QUERY_POINTS_H
#define STRATA_PERFDB_QUERY_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

enum { HULL_DIMS = 3 };

/* The value at `target` between `n` points of `dims` (1 to 3) coordinates each, row after row.
 * False when the target is outside their hull, or the points lie in fewer dimensions. */
bool hull_interpolate(size_t dims, const double *points, const double *values, size_t n,
                      const double *target, double *out);

enum { POINT_AXES = 4 };

struct query_point {
    double at[POINT_AXES];
    double latency;
};

struct query_points {
    VEC_OF(struct query_point) points;
};

/* Which axes may vary, as bits; the others must agree. */
struct query_axes {
    unsigned mask;
    size_t n_axes; /* in all */
};

/* The latency at `target`. One axis: on the line between the nearest points below and above. Two
 * and three: on the Delaunay simplex around the target. False: no answer. */
bool query_points_value(const struct query_points *p, struct query_axes axes, const double *target,
                        double *out);

#endif
