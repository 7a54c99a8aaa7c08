/*
 * calibration - what measured serving runs say of predictions: how far they are off, by engine, and
 * what engines add to the times of operators.
 *
 * data/plan/calibration.csv is compiled in; --calibration names another. Each value has its source
 * and how many measurements it is from, and none is of a single row.
 */
#ifndef STRATA_OPDB_PLAN_CALIBRATION_H
#define STRATA_OPDB_PLAN_CALIBRATION_H

#include "base/diag.h"

/* Of one engine; "" stands for those that are not listed. */
struct calibration_engine {
    struct str engine;
    double host_us;    /* of a step */
    double request_us; /* of each sequence in a step */
    double prompt_us;  /* of each layer of a step that computes prompts, without a graph */
    double first_us;   /* of a request, before and behind its first token */
    double token_center, token_spread; /* factor; of ln(measured / predicted), 80 % quantile over
                                          what a prediction says of itself */
    double first_center, first_spread;
    uint64_t rows; /* measurements it is from */
};

struct calibration {
    struct str version, source; /* source: the file */
    struct calibration_engine *engines;
    size_t n;
    double common; /* standard deviation that all operators of a database share */
};

/* The compiled-in one with `path` NULL. */
enum status calibration_read(struct arena *arena, const char *path, struct calibration *out,
                             struct diag *d);

/* Of an engine; never NULL. */
const struct calibration_engine *calibration_of(const struct calibration *c, struct str engine);

#endif
