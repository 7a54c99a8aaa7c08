/*
 * operator_work - what an operator computes and moves, for the roofs of what-ifs.
 *
 * It is the work that reports show (ops/recorded_work.h); where that is not known, it is estimated
 * from name and inputs, since a what-if is an estimate. Computed once for equal operators: a trace
 * has few kinds of them and many of each kind.
 */
#ifndef STRATA_ANALYSIS_OPS_OPERATOR_WORK_H
#define STRATA_ANALYSIS_OPS_OPERATOR_WORK_H

#include "base/tables/hash.h"
#include "base/tables/vec.h"
#include "capture/capture.h"
#include "ops/recorded_work.h"

struct operator_work {
    struct recorded_work is;
    uint64_t key; /* of its name, shapes, types and values */
};

struct operator_works {
    const struct capture *cap;
    strid values; /* name of the attribute of inputs that are no tensors; 0: not looked up */
    struct hash known;
    VEC_OF(struct operator_work) at;
};

/* An operator: the slice that names it, and its kernel, which has the shapes where the operator has
 * none. Either may be UINT32_MAX. */
struct operator_ref {
    uint32_t op, kernel;
};

/* Valid until the next call; of an operator without shapes all is zero but the key. */
const struct operator_work *operator_work_of(struct operator_works *works, struct operator_ref ref);

/* The shapes of an operator's inputs. */
struct tensor_shapes operator_work_shapes(const struct capture *cap, struct operator_ref ref);

void operator_works_free(struct operator_works *works);

#endif
