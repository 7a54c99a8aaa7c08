/*
 * cost_a5 - A5 vector functions: fitted curves, by operation, types and loop structure.
 *
 * A tile without gaps between its rows is one flat loop; any other one is a loop over rows around a
 * loop over the repeats of a row. Operations and types without a curve use the closed form of
 * pto/cost_vf.h.
 */
#ifndef STRATA_PTO_COST_A5_H
#define STRATA_PTO_COST_A5_H

#include "pto/cost_data.h"

struct pto_loops {
    bool is_flat;
    double inner, outer; /* iterations; outer is 1 for a flat loop */
};

/* Reads data/pto/a5_curves.csv; false when a row does not make sense. */
bool pto_curves_load(struct pto_costs *c, struct str text);

struct pto_loops pto_a5_loops(const struct pto_work *w);

struct pto_terms pto_a5_terms(const struct pto_costs *c, const struct pto_work *w);

#endif
