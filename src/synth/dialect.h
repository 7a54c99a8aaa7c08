/*
 * dialect - how the generations of the Ascend profiler's exports differ.
 */
#ifndef STRATA_SYNTH_DIALECT_H
#define STRATA_SYNTH_DIALECT_H

#include "synth/sim.h"

struct dialect {
    bool is_old;           /* 2023: no OP State, FORMAT_, other process numbers */
    bool is_new;           /* newest: Device_id column, numbers for times, small flow ids */
    const char *line_end;  /* of kernel_details.csv */
    const char *stamp_end; /* after a time in a CSV file */
    const char *comm_core; /* "Accelerator Core" of a collective */
    const char *comm_lane; /* process name of the communication lanes */
    const char *quote;     /* around a time in JSON */
    const char *stream_key;
    int64_t level;
};

struct dialect dialect_of(const struct synth_options *o);

/* Stream numbers as the profiler shows them. */
int64_t stream_number(enum stream stream);

/* Shapes, types and stack of an operator in the framework's words; the stack of NULL is that of
 * work outside of operators. */
struct str dialect_shapes(struct arena *arena, const struct op *op, const char *separator);
struct str dialect_types(struct arena *arena, const struct op *op, const char *separator);
struct str dialect_stack(struct arena *arena, const struct op *op, const char *separator);

/* "name" for the trace: steps carry their number, CANN calls their level. */
const char *level_prefix(enum host_kind kind, const struct dialect *d);

#endif
