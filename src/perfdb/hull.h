/*
 * hull - linear interpolation between scattered points, on the simplices of their Delaunay
 * triangulation.
 *
 * No triangulation is built. Of all simplices around a target, the Delaunay one minimises the
 * weighted sum of squared distances of its corners; that is a small linear program, one row per
 * dimension and one more, solved for each target anew.
 */
#ifndef STRATA_PERFDB_HULL_H
#define STRATA_PERFDB_HULL_H

#include <stdbool.h>
#include <stddef.h>

enum { HULL_DIMS = 3 };

/* The value at `target` between `n` points of `dims` (1 to 3) coordinates each, row after row.
 * False when the target is outside their hull, or the points lie in fewer dimensions. */
bool hull_interpolate(size_t dims, const double *points, const double *values, size_t n,
                      const double *target, double *out);

#endif
