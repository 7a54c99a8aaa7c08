/*
 * curve - the time of a call as its tokens vary, everything else being fixed: what a plan asks
 * thousands of times, so the database is asked once for each size.
 *
 * Knots are the rows that differ in tokens alone, else answers of the database at sizes a step
 * apart. Between knots the logarithm is linear; beyond them the time grows with the roof of the
 * call. Attention varies in two: sequences, and keys or queries of each.
 *
 * Time never falls when a call grows. Measured rows do not keep to that, so a knot becomes the mean
 * of the largest one before it and the smallest one behind it.
 */
#ifndef STRATA_OPDB_PLAN_CURVE_H
#define STRATA_OPDB_PLAN_CURVE_H

#include "base/tables/hash.h"
#include "opdb/predict/call_time.h"

struct curve_point {
    double us;
    double sigma; /* standard deviation of ln(us) */
    enum query_source source;
    bool is_known; /* false: the database has no answer */
};

struct curves {
    struct call_times times;
    struct hash places;
    VEC_OF(struct curve *) at;
    struct arena arena;
    enum status status; /* of reading tables */
};

void curves_init(struct curves *c, struct query_db *db, struct diag *d);
void curves_free(struct curves *c);

/* One call, without its number of layers. */
struct curve_point curve_time(struct curves *cs, const struct model_call *c);

/* For tests: knots of a function of one and of two sizes, as the envelope makes them. */
void curve_rise(double *values, size_t columns, size_t rows);

#endif
