/*
 * cost_vector - the A2/A3 law of vector operations: repeats of 256 bytes, masks and count mode.
 *
 * A tile of R valid rows and C valid columns is worked on in repeats of e elements. Whole tiles
 * stream; tiles narrower than their storage take one masked repeat (or more) for each row. Row and
 * column reductions pay for each row. docs/cost-model.md has the formulas and their errors.
 */
#ifndef STRATA_PTO_COST_VECTOR_H
#define STRATA_PTO_COST_VECTOR_H

#include "pto/cost_data.h"

/* Elements in the 256 bytes of one vector repeat. */
double pto_repeat_elements(enum pto_dtype t);

/* units and fixed part of the law of `w->op` for this tile. */
struct pto_terms pto_vector_terms(const struct pto_costs *c, const struct pto_work *w);

#endif
