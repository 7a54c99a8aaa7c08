/*
 * compare_plot - the data behind the pictures of a comparison: measured against modelled time.
 *
 * A scatter of the points that have both times, a histogram of their errors, and the points that
 * are furthest off in microseconds, those with one side missing included.
 */
#ifndef STRATA_PERFDB_COMPARE_PLOT_H
#define STRATA_PERFDB_COMPARE_PLOT_H

#include "base/json_write.h"

struct plot_point {
    struct str kernel, shapes; /* `shapes` is empty where points are whole kernels */
    double measured_us, modelled_us;
};

enum { PLOT_WORST = 20 };

/* Members "scatter", "error_histogram" and "worst" of the object being written. `points` come
 * back in another order. */
void plot_json(struct json_writer *j, struct plot_point *points, size_t n);

#endif
