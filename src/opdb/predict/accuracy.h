/*
 * accuracy - how wrong the models of a database are, by rows that are left out.
 *
 * Each row of an operator is predicted once without itself and once without its block (a fifth of
 * the longest axis). The model of the row was chosen and fitted without it (estimate.h), and so was
 * its interval.
 */
#ifndef STRATA_OPDB_PREDICT_ACCURACY_H
#define STRATA_OPDB_PREDICT_ACCURACY_H

#include "opdb/predict/estimate.h"
#include "opdb/rows/place.h"
#include "report/record.h"

struct accuracy_judged {
    size_t n;
    double mape, median, p95, worst; /* relative errors */
    double covered;                  /* share of rows inside their 80 % interval */
    struct str worst_shapes;
};

struct accuracy_op {
    struct str kernel, variant; /* types of the inputs; prefill or decode of attention */
    size_t rows;                /* calls with a duration */
    struct str model;           /* that was picked */
    struct accuracy_judged one, block;
};

/* One prediction without the row itself. */
struct accuracy_point {
    struct str kernel, shapes;
    double measured_us, predicted_us, low_us, high_us;
};

struct accuracy {
    struct arena arena;
    VEC_OF(struct accuracy_op) ops;
    VEC_OF(struct accuracy_point) points;
    struct accuracy_judged one, block; /* over all operators */
    size_t unreadable;                 /* tables */
};

/* Judges the tables of a tree; the path `dir` names the device. A table that cannot be read is
 * told as a loss. */
enum status accuracy_find(struct accuracy *a, const struct place_files *tree, const char *dir,
                          struct diag *d);
void accuracy_free(struct accuracy *a);

extern const struct record accuracy_op_record;
extern const struct schema accuracy_schema; /* strata.db-accuracy/1 */

#endif
