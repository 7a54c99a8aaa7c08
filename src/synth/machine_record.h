/*
 * machine_record - for the files of the machine: calls and their costs.
 */
#ifndef STRATA_SYNTH_MACHINE_RECORD_H
#define STRATA_SYNTH_MACHINE_RECORD_H

#include "synth/machine.h"

/* A host time with jitter; of a call with what recording it adds. */
nanos machine_cost(struct machine *m, nanos mean);
nanos machine_call_cost(struct machine *m, nanos mean);

/* Notes a call on a timeline and gives its number. */
uint32_t machine_add_call(struct machine_timeline *t, nanos begin, nanos end, enum host_work work);

/* The event of a call of the runtime that begins now. */
struct host_event *machine_record_call(struct machine *m, const char *gpu, const char *npu);

/* End of a stream's work; STREAM_COUNT: of all. */
nanos machine_done(const struct machine *m, enum synth_stream stream);

#endif
