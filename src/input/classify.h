/*
 * classify - what kind of device work a kernel row is, from its core, name and type.
 *
 * Shared by all importers of Ascend data, so that "communication" means one thing.
 */
#ifndef STRATA_INPUT_CLASSIFY_H
#define STRATA_INPUT_CLASSIFY_H

#include "base/str.h"
#include "capture/kinds.h"

/* The upper-case spelling of an execution unit: AiCore, AIC and KERNEL_AICORE are AI_CORE. Text
 * that is not known stays as it is. */
struct str classify_core(struct str core);

/* `core` is a result of classify_core(). */
enum slice_kind classify_kernel(struct str core, struct str name, struct str type);

/* The same for a kernel of a GPU, which has a name only: SLICE_COMM or SLICE_COMPUTE. */
enum slice_kind classify_gpu(struct str name);

#endif
