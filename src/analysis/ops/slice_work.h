/*
 * slice_work - the work of the operators and kernels of a capture (ops/recorded_work.h), computed
 * once for equal calls.
 */
#ifndef STRATA_ANALYSIS_OPS_SLICE_WORK_H
#define STRATA_ANALYSIS_OPS_SLICE_WORK_H

#include "capture/capture.h"
#include "ops/recorded_work.h"

enum { SLICE_WORKS_NONE = UINT32_MAX };

struct slice_works {
    const struct capture *cap;
    strid values;     /* name of the attribute of inputs that are no tensors */
    struct hash seen; /* by name, shapes, types and values: place in `at` */
    VEC_OF(struct recorded_work) at;
};

struct slice_works slice_works_of(const struct capture *cap);
void slice_works_free(struct slice_works *w);

/* Place in `at` of an operator, or of a kernel by its own type and shapes; SLICE_WORKS_NONE when no
 * shapes are recorded. */
uint32_t slice_works_find(struct slice_works *w, size_t slice, bool is_kernel);

#endif
