/*
 * compare_shapes - predicted against measured time of every kernel at every shape.
 *
 * Both sides are summed under (kernel, shape key), the key being that of literal_shapes(). A
 * composite operator is spread over its kernels: by its sub_kernel_durations where they can be
 * read, else in equal parts. The sub-kernels inherit the shapes of the operator.
 */
#ifndef STRATA_OPDB_COMPARE_COMPARE_SHAPES_H
#define STRATA_OPDB_COMPARE_COMPARE_SHAPES_H

#include "opdb/compare/compare_trace.h"
#include "report/record.h"

struct plot_point {
    struct str kernel, shapes; /* `shapes` is empty where points are whole kernels */
    double measured_us, modelled_us;
    double error_pct; /* not a number without a measured time; set by plot_make() */
};

enum { PLOT_WORST = 20, PLOT_BINS = 12 };

struct plot_bin {
    double from, to; /* percent; infinite at the ends */
    uint64_t count;
};

/* A scatter of the points that have both times, a histogram of their errors, and the points that
 * are furthest off in microseconds, those with one side missing included. */
struct plot {
    struct plot_point *points, *scatter; /* the worst first */
    size_t n_worst, n_scatter;
    struct plot_bin bins[PLOT_BINS];
};

/* `points` are sorted in place and must outlive the plot; the rest lives in the arena. */
void plot_make(struct plot *plot, struct arena *arena, struct plot_point *points, size_t n);

/* Members "scatter", "error_histogram" and "worst". */
extern const struct record plot_record;

struct shape_row {
    struct str kernel, shapes;
    double predicted_us, measured_us;
    uint64_t predicted_n, measured_n; /* 0: that side has no data */
    struct str source;                /* of the last prediction */
    double delta_pct; /* infinite when nothing was measured, 0 when nothing at all */
};

struct shape_rows {
    struct arena arena;
    struct intern keys; /* of the row's kernel and shapes; the row of id k is the k-th */
    VEC_OF(struct shape_row) at;
    struct plot plot;
    const char *written; /* the file of their table; NULL: none */
};

void shape_rows_init(struct shape_rows *rows);
void shape_rows_free(struct shape_rows *rows);

/* The trace and the table must outlive the rows. */
void shape_rows_predict(struct shape_rows *rows, const struct predicted *p);

/* Adds a measured pass to one side: to both, from two captures, for an A/B comparison. A time that
 * is no number ends it, with its place; without a diag such rows are left out. */
enum shape_side { SHAPE_PREDICTED, SHAPE_MEASURED };
enum status shape_rows_measure(struct shape_rows *rows, const struct measured *m,
                               enum shape_side side, struct diag *d);

/* By the larger of the two times, falling; kernel and shapes decide between equals. Sets the
 * deltas. */
void shape_rows_sort(struct shape_rows *rows);

/* The rows as a CSV table, which is then freed before them. */
void shape_rows_table(const struct shape_rows *rows, struct op_table *t);

/* Fills `plot`. */
void shape_rows_plot(struct shape_rows *rows);

/* strata.db-compare-shapes/1, over sorted rows with their plot. */
extern const struct schema shape_rows_schema;

#endif
