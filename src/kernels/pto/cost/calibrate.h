/*
 * calibrate - fits the constants of the cost model to measurements.
 *
 * The law of a vector operation is slope * units + fixed + bias, with units and fixed given by the
 * tile; a transfer is latency + bytes / rate. For every operation (and path) that the measurements
 * hold, slopes and bias are fitted by least squares of the relative error, with weights that take
 * the force out of outliers. Slopes are never negative. Where the points do not settle a constant
 * it stays near the one it had: a single point moves the law as little as will do.
 *
 *     pto_calibrate(costs, &measures, &result);
 *     pto_calibration_write(&result, sink);       a file for pto_costs_load()
 */
#ifndef STRATA_KERNELS_PTO_COST_CALIBRATE_H
#define STRATA_KERNELS_PTO_COST_CALIBRATE_H

#include "base/files/sink.h"
#include "kernels/pto/cost/measure.h"

struct schema;

enum { PTO_REFIT_KEYS = 5 }; /* four slopes and a bias; or rate and latency */

/* Relative errors of the model, in percent. */
struct pto_residual {
    double mean, worst;
};

struct pto_refit_key {
    char name[64]; /* as in a cost file: "a2a3.tadd.f32" */
    double before, after;
};

/* One operation, or one path. */
struct pto_refit {
    char name[48]; /* "a2a3.tadd", "a2a3.gm.mat" */
    size_t points;
    struct pto_refit_key keys[PTO_REFIT_KEYS];
    size_t n_keys;
    struct pto_residual before, after;
};

/* Zero-initialised is empty. */
struct pto_calibration {
    VEC_OF(struct pto_refit) refits; /* architecture, then operations, then paths */
    size_t points, unused;           /* measurements that belong to no law: products, scalars */
    struct pto_residual before, after;
};

/* `costs` is the start and stays as it is. */
void pto_calibrate(const struct pto_costs *costs, const struct pto_measures *measures,
                   struct pto_calibration *out);
void pto_calibration_free(struct pto_calibration *cal);

/* The fitted constants as a cost file; false when the sink failed. */
bool pto_calibration_write(const struct pto_calibration *cal, struct sink sink);

extern const struct schema pto_calibration_schema;

#endif
