/*
 * cost_words - the cost law of an operation in words, with the numbers in use.
 */
#ifndef STRATA_PTO_COST_WORDS_H
#define STRATA_PTO_COST_WORDS_H

#include "base/arena.h"
#include "pto/cost.h"

/* "binary: 2.11 x units + 24"; empty for operations that take no time of their own. */
struct str pto_cost_words(const struct pto_costs *c, enum pto_arch arch, enum pto_opcode op,
                          struct arena *arena);

#endif
