/*
 * gpu_names - what CUPTI's numbers and names are called, for both importers of its records.
 */
#ifndef STRATA_INPUT_TRACE_GPU_NAMES_H
#define STRATA_INPUT_TRACE_GPU_NAMES_H

#include <stdint.h>

#include "base/str.h"

/* CUpti_ActivityMemoryKind, CUpti_ActivityMemcpyKind and CUpti_ActivitySynchronizationType; the
 * first of each list for what is not known. */
const char *gpu_names_memory(int64_t kind);
const char *gpu_names_copy(int64_t kind);
const char *gpu_names_sync(int64_t type);

/* "cudaLaunchKernel_v7000" is cudaLaunchKernel. */
struct str gpu_names_call(struct str name);

#endif
