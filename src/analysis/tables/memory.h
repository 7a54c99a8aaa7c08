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
    struct str stack;           /* "model.py:12:forward < …", of a memory snapshot */
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

/* An allocation that failed. */
struct memory_failure {
    nanos at;
    double bytes, device_free; /* asked for, and free on the device */
    double allocated, reserved;
    struct memory_uses stacks; /* what held the memory then */
};

/* What a snapshot shows besides: the allocator at its end. */
struct memory_snapshot {
    size_t segments, blocks;
    double reserved; /* is requested + rounding + inactive */
    double requested, rounding, inactive;
    double fragmented;       /* of it, in segments that are in use */
    double largest_inactive; /* block */
    double pending;          /* freed, but in use on another stream */
    size_t alive, matched;   /* allocations that live at the end, and those that are such blocks */
    size_t unknown_frees;    /* of memory taken before the recording */
    struct str settings;     /* PYTORCH_CUDA_ALLOC_CONF */
    struct memory_failure *failures;
    size_t n_failures;
    struct memory_uses now;    /* active blocks */
    struct memory_uses growth; /* taken in the steps that grow, and not given back */
};

struct snapshot_trace;

struct memory_pool {
    struct str name;
    struct memory_event *events;        /* by time; NULL: see `trace` */
    const struct snapshot *snapshot;    /* NULL: see `events` */
    const struct snapshot_trace *trace; /* of the snapshot */
    struct memory_snapshot *held;       /* NULL: no snapshot */
    size_t n_events, allocations, failures;
    double first, last; /* allocated bytes, where only reserved ones are known those */
    double peak;
    nanos peak_at;
    size_t peak_event;                      /* behind how many events it is reached */
    double reserved_at_peak, peak_reserved; /* below 0: not known */
    double unused; /* most of reserved bytes that were not allocated; below 0: not known */
    double before; /* of the peak: what lived before the recording */
    struct memory_uses ops, modules, stacks; /* of the peak */
    struct memory_step *steps;
    size_t n_steps;
    double growth; /* median of a step, the first left out, if it grows in all of them; else 0 */
};

struct memory_curves {
    struct memory_pool *at; /* by name */
    size_t n;
    const struct memory_event *events; /* of all pools, one after the other */
    size_t n_events;
    bool has_all;    /* those of snapshots are among them */
    nanos begin;     /* of the recording */
    double capacity; /* bytes of the device; 0: not known */
    size_t top;      /* rows that are shown; 0: as many as fit a screen */
};

/* The events of a pool one after the other, from a list or from a snapshot:
 *     struct memory_walk walk = memory_walk(st->cap, pool);
 *     while (memory_next(&walk, &event)) ... */
struct memory_walk {
    const struct capture *cap;
    const struct memory_pool *pool;
    size_t next;
    int64_t allocated, reserved; /* behind the last event, of a snapshot */
};

struct memory_walk memory_walk(const struct capture *cap, const struct memory_pool *pool);
bool memory_next(struct memory_walk *walk, struct memory_event *out);

/* What changed between two snapshots: active blocks by stack. */
struct memory_change {
    struct str stack;
    double before, after, delta;
    int64_t n; /* blocks more, or fewer */
};

struct memory_diff {
    struct str name[2];
    double live[2], reserved[2], peak[2];
    struct memory_change *at; /* that changed; the largest change first */
    size_t n;
    size_t top;
};

struct report;
struct schema;

struct memory_curves *memory_find(struct study *st);

/* Puts the events of snapshots into the list, too. */
void memory_list_events(struct study *st, struct memory_curves *m);

/* Pools of a snapshot, one a device; for memory.c. */
size_t memory_snapshot_pools(struct study *st, struct memory_pool *out);

/* Steps as far as memory is concerned: each lasts to the next. */
struct memory_window {
    struct str id;
    nanos begin;
};
size_t memory_snapshot_windows(struct study *st, const struct memory_pool *p,
                               struct memory_window **out);
void memory_snapshot_hold(struct study *st, struct memory_pool *p);

/* Sums by name, the largest first; shares are of `whole`. */
struct memory_grouping {
    struct intern names;
    VEC_OF(struct memory_use) at;
};
void memory_group_begin(struct memory_grouping *g);
void memory_group_add(struct memory_grouping *g, struct str name, double bytes);
struct memory_uses memory_group_end(struct study *st, struct memory_grouping *g, double whole);

/* Both captures have a snapshot. */
struct memory_diff *memory_compare(struct study *a, struct study *b);

extern const struct schema memory_diff_schema;
void memory_diff_describe(const struct memory_diff *d, struct report *r);

extern const struct schema memory_schema;
extern const struct record memory_record; /* of a struct memory_curves */

void memory_describe(const struct memory_curves *m, struct report *r);

#endif
