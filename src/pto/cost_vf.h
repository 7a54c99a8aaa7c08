/*
 * cost_vf - the closed form of an A5 vector function: nested hardware loops over registers.
 *
 * A function of N iterations takes 44 + P + what the later iterations add: P is the way of one
 * element from load to store, and an iteration follows the one before when a load port, the store
 * port and one of the two execution units are free. A row of a nested loop starts at least 7 cycles
 * after the row before.
 */
#ifndef STRATA_PTO_COST_VF_H
#define STRATA_PTO_COST_VF_H

#include "pto/cost_data.h"

struct pto_terms pto_vf_terms(const struct pto_costs *c, const struct pto_work *w);

#endif
