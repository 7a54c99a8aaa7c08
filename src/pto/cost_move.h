/*
 * cost_move - transfers between memories, and matrix products.
 *
 * A transfer is latency + issue + bytes over rate of its path. GM paths slow down when several
 * cores stream (the totals of L2 are shared), when L2 misses, and when rows are short.
 */
#ifndef STRATA_PTO_COST_MOVE_H
#define STRATA_PTO_COST_MOVE_H

#include "pto/cost_data.h"

/* False when no path joins the two spaces. */
bool pto_move_cost(const struct pto_costs *c, const struct pto_work *w, struct pto_cost *out);

struct pto_cost pto_cube_cost(const struct pto_costs *c, const struct pto_work *w);

#endif
