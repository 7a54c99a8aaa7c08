/*
 * op_works - the work of operators and kernels of a capture, equal ones looked at once.
 */
#ifndef STRATA_ANALYSIS_OPS_OP_WORKS_H
#define STRATA_ANALYSIS_OPS_OP_WORKS_H

#include "capture/capture.h"
#include "ops/op_work.h"

enum { OP_WORKS_NONE = UINT32_MAX };

struct op_works {
    const struct capture *cap;
    strid values;     /* name of the attribute of inputs that are no tensors */
    struct hash seen; /* by name, shapes, types and values: place in `at` */
    VEC_OF(struct op_work) at;
};

struct op_works op_works_of(const struct capture *cap);
void op_works_free(struct op_works *w);

/* Place in `at` of an operator, or of a kernel by its own type and shapes; OP_WORKS_NONE when no
 * shapes are recorded. */
uint32_t op_works_find(struct op_works *w, size_t slice, bool is_kernel);

#endif
