/*
 * reference - every operation as a person needs it to write a kernel: how it reads, where it runs,
 * what it costs, and an example.
 *
 * Names, operands, pipes and costs come from the tables that the parser and the cost model use;
 * meaning, types, rules and example from data/pto/ops.csv. An example is a line of a frame
 * (data/pto/frames): it replaces the line "// the example stands here", or stands
 * there already.
 */
#ifndef STRATA_KERNELS_PTO_COST_REFERENCE_H
#define STRATA_KERNELS_PTO_COST_REFERENCE_H

#include "base/arena.h"
#include "kernels/pto/cost/cost.h"
#include "report/record.h"

struct pto_reference {
    struct str name, group;
    struct str operands; /* how many, or the whole syntax */
    struct str pipe;
    struct str types, meaning, rules;
    struct str cost_a2a3, cost_a5; /* cycles; empty: none of its own */
    struct str example, frame;
    bool is_simulated; /* else read and checked only */
};

struct pto_references {
    struct pto_reference *at; /* in the order of ops.def */
    size_t n;
};

struct pto_references pto_references(const struct pto_costs *costs, struct arena *arena);

extern const struct record pto_reference_record;

#endif
