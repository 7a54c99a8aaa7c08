/*
 * host_names - what host events do to the device, by their names: calls that launch, copy, wait,
 * allocate or compile, and ranges that mean input or compilation.
 */
#ifndef STRATA_ANALYSIS_IDLE_HOST_NAMES_H
#define STRATA_ANALYSIS_IDLE_HOST_NAMES_H

#include <stdint.h>

#include "base/str.h"

enum call_kind {
    CALL_NONE, /* does not touch the device */
    CALL_LAUNCH,
    CALL_GRAPH, /* launches a whole graph */
    CALL_COPY,
    CALL_SYNC,
    CALL_ALLOC, /* allocates, or frees without a wait */
    CALL_FREE,  /* frees, and waits for the device to do so */
    CALL_COMPILE,
    CALL_EVENT,   /* records an event or makes a stream wait for one */
    CALL_ENQUEUE, /* hands work to the thread that launches */
};

enum range_kind { RANGE_PLAIN, RANGE_INPUT, RANGE_COMPILE, RANGE_OPTIMIZER };

static inline bool host_call_allocates(enum call_kind kind)
{
    return kind == CALL_ALLOC || kind == CALL_FREE;
}

/* A call of a runtime or driver: "cudaMemcpyAsync", "AscendCL@aclrtSynchronizeStream". */
enum call_kind host_call_kind(struct str name);

/* A call that looks up one of the driver's entry points: libraries do so as they are loaded. */
bool host_call_is_lookup(struct str name);

/* A range, a frame or an operator that means something for all it encloses. */
enum range_kind host_range_kind(struct str name);

/* What the lists of types and shapes of an operator's tensors hold: a mask. */
enum host_types { HOST_TYPES_F64 = 1, HOST_TYPES_F32_FIRST = 2 };

uint32_t host_types_seen(struct str types, struct str shapes);

#endif
