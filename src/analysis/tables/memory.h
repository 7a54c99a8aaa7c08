/*
 * memory - device memory over time: the curve of allocated and reserved bytes, what lived at its
 * peak, how it moves from step to step.
 *
 * Events of an allocator (Kineto's "[memory]", rows of operator_memory.csv) tell who took memory;
 * totals beside them, or counters (memory_record.csv), are the curve. Bytes are exact integers in
 * doubles. Rules: docs/analyses/memory.md.
 */
#ifndef STRATA_ANALYSIS_TABLES_MEMORY_H
#define STRATA_ANALYSIS_TABLES_MEMORY_H

#include "analysis/study.h"

/* A change of an allocator, or a sample of its totals. */
struct memory_event {
    nanos at;
    double bytes;               /* taken; below 0: given back; 0: a sample */
    double allocated, reserved; /* totals behind it; below 0: not known */
    uint64_t address;           /* or number of the allocation */
    uint32_t order;             /* among those of one time */
    struct str op, module;      /* who takes it; empty: not known */
    struct str pool;            /* "device 0", "PTA" */
    bool is_failure;            /* out of memory */
};

struct memory_use {
    struct str name;
    double bytes;
    size_t n;
    double share; /* of what lives at the peak */
};

struct memory_uses {
    struct memory_use *at; /* by bytes, then name */
    size_t n;
};

struct memory_step {
    struct str id;
    double begin, end, peak; /* allocated bytes */
    double growth;
    double taken; /* bytes of all allocations in it */
    size_t allocations;
    size_t driver_calls; /* cudaMalloc, cudaFree and the like */
    nanos driver_time;
};

struct memory_pool {
    struct str name;
    struct memory_event *events; /* by time */
    size_t n_events, allocations, failures;
    double first, last; /* allocated bytes, where only reserved ones are known those */
    double peak;
    nanos peak_at;
    double reserved_at_peak, peak_reserved; /* below 0: not known */
    double unused; /* most of reserved bytes that were not allocated; below 0: not known */
    double before; /* of the peak: what lived before the recording */
    struct memory_uses ops, modules; /* of the peak */
    struct memory_step *steps;
    size_t n_steps;
    double growth; /* median of a step, the first left out, if it grows in all of them; else 0 */
};

struct memory_curves {
    struct memory_pool *at; /* by name */
    size_t n;
    const struct memory_event *events; /* of all pools, one after the other */
    size_t n_events;
    nanos begin;     /* of the recording */
    double capacity; /* bytes of the device; 0: not known */
    size_t top;      /* rows that are shown; 0: as many as fit a screen */
};

struct report;
struct schema;

struct memory_curves *memory_find(struct study *st);

extern const struct schema memory_schema;
extern const struct record memory_record; /* of a struct memory_curves */

void memory_describe(const struct memory_curves *m, struct report *r);

#endif
