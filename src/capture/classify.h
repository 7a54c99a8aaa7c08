/*
 * classify - what device work is: communication, compute, a copy or a wait.
 *
 * The one place that knows, for importers, analyses and databases alike.
 */
#ifndef STRATA_CAPTURE_CLASSIFY_H
#define STRATA_CAPTURE_CLASSIFY_H

#include "capture/capture.h"

/* The upper-case spelling of an execution unit: AiCore, AIC and KERNEL_AICORE are AI_CORE. Text
 * that is not known stays as it is. */
struct str classify_core(struct str core);

/* A kernel: compute, communication, the device half of a collective, or work of the AICPU. `core`
 * is a result of classify_core(); kernels of GPUs have a name only. */
enum slice_kind classify_kernel(enum vendor vendor, struct str core, struct str name,
                                struct str type);

/* A task of an Ascend device by its type: SLICE_COMPUTE for every kernel (see above), SLICE_COMM
 * for what a collective does, SLICE_COPY, SLICE_WAIT, or SLICE_CONTROL. */
enum slice_kind classify_task(struct str type);

/* Names of whole collectives of an Ascend device: "hcom_allReduce__586_0_1", "HcclAllReduce". */
bool classify_is_collective(struct str name);

/* Names of the kernels that carry out a collective on the device, beside its own row. */
bool classify_is_device_half(struct str name);

/* Work of the matrix and vector cores; on a GPU every kernel that is no communication. */
bool classify_is_core_work(const struct capture *cap, size_t slice);

#endif
