/*
 * testing_cost - work for tests of the cost model.
 */
#ifndef STRATA_PTO_TESTING_COST_H
#define STRATA_PTO_TESTING_COST_H

#include <math.h>

#include "kernels/pto/cost/cost.h"

/* occupied + latency in whole cycles, half away from zero, as the public tables count. */
static inline int64_t pto_cost_cycles(struct pto_cost cost)
{
    double sum = cost.occupied + cost.latency;

    return sum < 9e18 ? (int64_t)floor(sum + 0.5) : INT64_MAX;
}

/* A vector operation on a whole tile. */
static inline struct pto_work tile(enum pto_opcode op, enum pto_dtype t, int32_t rows, int32_t cols)
{
    return (struct pto_work){.op = op,
                             .pipe = PTO_PIPE_V,
                             .src_dtype = t,
                             .dst_dtype = t,
                             .rows = rows,
                             .cols = cols,
                             .v_row = rows,
                             .v_col = cols};
}

#endif
