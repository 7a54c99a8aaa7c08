/*
 * verify - whether a module that was read keeps the rules of the dialect: types, spaces and their
 * capacities, shapes of matrices, FIFOs, flags, dominance.
 *
 * What depends on values that only a run knows (an address computed in a loop, a trip count) is
 * left to the run. Problems are added to the module.
 */
#ifndef STRATA_KERNELS_PTO_TEXT_VERIFY_H
#define STRATA_KERNELS_PTO_TEXT_VERIFY_H

#include "kernels/pto/text/ir.h"

/* ST_FORMAT when the module has errors, those of reading included. */
enum status pto_verify(struct pto_module *m);

#endif
