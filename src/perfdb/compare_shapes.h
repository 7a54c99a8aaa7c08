/*
 * compare_shapes - predicted against measured time of every kernel at every shape.
 *
 * Both sides are summed under (kernel, shape key), the key being that of shape_key(). A composite
 * operator is spread over its kernels: by its sub_kernel_durations where they can be read, else in
 * equal parts. The sub-kernels inherit the shapes of the operator.
 */
#ifndef STRATA_PERFDB_COMPARE_SHAPES_H
#define STRATA_PERFDB_COMPARE_SHAPES_H

#include "base/json_write.h"
#include "perfdb/compare_trace.h"

struct plot_point {
    struct str kernel, shapes; /* `shapes` is empty where points are whole kernels */
    double measured_us, modelled_us;
};

enum { PLOT_WORST = 20 };

/* Members "scatter", "error_histogram" and "worst" of the object being written. `points` come
 * back in another order. */
void plot_json(struct json_writer *j, struct plot_point *points, size_t n);

struct shape_row {
    struct str kernel, shapes;
    double predicted_us, measured_us;
    uint64_t predicted_n, measured_n; /* 0: that side has no data */
    struct str source;                /* of the last prediction */
};

struct shape_rows {
    struct arena arena;
    struct intern keys; /* of the row's kernel and shapes; the row of id k is the k-th */
    VEC_OF(struct shape_row) at;
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

/* By the larger of the two times, falling; kernel and shapes decide between equals. */
void shape_rows_sort(struct shape_rows *rows);

/* (predicted - measured) / measured in percent; without a measured time infinite when something
 * was predicted, else 0. */
double shape_row_delta(const struct shape_row *row);

/* The rows as a CSV table, which is then freed before them. */
void shape_rows_table(struct shape_rows *rows, struct db_table *t);

/* The data behind the pictures (compare_plot.h), as members of the object being written. */
void shape_rows_plot(const struct shape_rows *rows, struct json_writer *j);

#endif
