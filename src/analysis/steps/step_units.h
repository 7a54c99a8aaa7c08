/*
 * step_units - work that repeats, where no steps are marked.
 *
 * Looked for in this order, the first that explains the recording is taken: calls of the optimizer
 * and of the loader of inputs (the rarer of the two: with gradient accumulation a step loads
 * several times), ranges of the program under one name, launches of graphs, and what kernels
 * repeat between copies from the host or without any matrix product. Kernels that merely repeat
 * are no unit: they may be the layers of one pass.
 */
#ifndef STRATA_ANALYSIS_STEPS_STEP_UNITS_H
#define STRATA_ANALYSIS_STEPS_STEP_UNITS_H

#include "analysis/steps/steps.h"
#include "base/text/num.h"

struct study;

struct step_units {
    nanos *at; /* where each begins; it ends with the next */
    size_t n;  /* 0: nothing was found */
    enum step_found by;
    const nanos *times; /* of each kernel of study_kernels(): its launch, or where it begins */
};

/* Use study_step_units(), which remembers them. */
const struct step_units *step_units_find(struct study *st);

/* Whether a kernel, by its place in study_kernels(), multiplies matrices, convolves or attends. */
bool step_units_is_product(struct study *st, size_t kernel);

#endif
