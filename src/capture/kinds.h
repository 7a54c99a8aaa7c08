/*
 * kinds - the few words every floor above uses about a capture.
 */
#ifndef STRATA_CAPTURE_KINDS_H
#define STRATA_CAPTURE_KINDS_H

#include <stdbool.h>

#include "base/str.h"

/* Where numbers come from; travels with every capture into every output. */
enum origin { ORIGIN_MEASURED, ORIGIN_SIMULATED, ORIGIN_ESTIMATED, ORIGIN_INFERRED };

/* What a capture contains, as a mask; computed by capture_seal(). */
enum has {
    HAS_KERNELS = 1,
    HAS_HOST = 2,
    HAS_COMM = 4,
    HAS_SHAPES = 8,
    HAS_STACKS = 16,
    HAS_COUNTERS = 32,
    HAS_INSTR = 64,
    HAS_STEPS = 128,
};

/* What a slice is. The first group is work of the device; later ones are evidence about it. */
enum slice_kind {
    SLICE_COMPUTE,
    SLICE_COMM,      /* a whole collective */
    SLICE_COMM_PART, /* the device half of a collective: an AICPU or vector kernel */
    SLICE_AICPU,
    SLICE_COPY,
    SLICE_WAIT, /* device wait tasks: never busy */
    SLICE_CONTROL,
    SLICE_HOST_OP, /* framework operators */
    SLICE_PYTHON,
    SLICE_ANNOTATION,
    SLICE_RUNTIME, /* runtime and driver calls */
    SLICE_QUEUE,
    SLICE_GC,
    SLICE_OS,   /* calls of the operating system on threads that launch */
    SLICE_STEP, /* step marks as they stand on a host thread */
    SLICE_INSTR,
    SLICE_MEMORY, /* memory taken or given back on a thread; lasts no time */
    SLICE_OTHER,
};

enum lane_kind {
    LANE_STREAM, /* a device queue */
    LANE_COMM,   /* collectives that belong to no single stream */
    LANE_THREAD, /* a host thread */
    LANE_PIPE,   /* an execution unit inside one core */
    LANE_OTHER,
};

enum { SLICE_KINDS = SLICE_OTHER + 1, LANE_KINDS = LANE_OTHER + 1 };

/* One word each, as the tables of `strata query` spell them: "comm_part", "stream". */
const char *slice_kind_name(enum slice_kind kind);
const char *lane_kind_name(enum lane_kind kind);
const char *origin_name(enum origin origin);

/* Kernels: slices that are rows of a kernel table. */
static inline bool slice_is_kernel(enum slice_kind kind)
{
    return kind <= SLICE_COPY;
}

/* A collective, or its half on the device. */
static inline bool slice_is_comm(enum slice_kind kind)
{
    return kind == SLICE_COMM || kind == SLICE_COMM_PART;
}

#endif
