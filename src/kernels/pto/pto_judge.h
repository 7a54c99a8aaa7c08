/*
 * pto_judge - what bounds a kernel that ran: it runs again without one resource after the other.
 */
#ifndef STRATA_KERNELS_PTO_PTO_JUDGE_H
#define STRATA_KERNELS_PTO_PTO_JUDGE_H

#include "kernels/pto/pto_kernel.h"

/* Fills in k->outcome.limits and names the bound. `all` tries every resource on the critical path;
 * else only those that can be the bound. */
void pto_judge(struct pto_kernel *k, const struct pto_costs *costs, const struct pto_setup *setup,
               bool all);

#endif
