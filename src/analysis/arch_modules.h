/*
 * arch_modules - passes and layers cut where the model's own module frames say.
 */
#ifndef STRATA_ANALYSIS_ARCH_MODULES_H
#define STRATA_ANALYSIS_ARCH_MODULES_H

#include "analysis/arch_layers.h"
#include "analysis/arch_stacks.h"

/* Adds stacks for modules without frames inside (compiled ones): one layer for each attention
 * kernel of a call, where all calls agree. */
void arch_modules_add_opaque(struct study *st, const struct arch_markers *markers,
                             struct arch_stacks *stacks);

/* The stack of most device time, or NULL when frames explain too little of the device's time. */
const struct arch_stack *arch_modules_main(const struct arch_stacks *stacks);

/* Passes and layers of that stack; NULL when its kernels cannot be told apart. */
const struct arch_layers *arch_modules_layers(struct study *st, const struct arch_ops *ops,
                                              const struct arch_markers *markers,
                                              const struct arch_stacks *stacks,
                                              const struct arch_stack *main);

#endif
