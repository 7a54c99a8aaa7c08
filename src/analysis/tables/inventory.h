/*
 * inventory - what a capture holds: counts, span, facts, and which evidence is missing.
 *
 * The first look at an unknown profile. Everything here is a count or a fact of the file; nothing
 * is judged. Times are nanoseconds on the capture's own clock.
 */
#ifndef STRATA_ANALYSIS_TABLES_INVENTORY_H
#define STRATA_ANALYSIS_TABLES_INVENTORY_H

#include "capture/capture.h"
#include "report/record.h"

enum { FLOW_KINDS = FLOW_OTHER + 1 };

/* Evidence that later questions will miss, and how to get it. */
struct inventory_gap {
    const char *name; /* "host_events", stable */
    const char *text; /* what is missing, what that costs, how to record it */
};

/* An attribute and the number of slices that carry it. */
struct inventory_attr {
    struct str key;
    uint64_t slices;
};

/* The facts of a capture, names as texts; UNKNOWN and "" where not told. */
struct inventory_facts {
    struct str kind, producer, host, device_name;
    int64_t rank, world_size, device, level, record_shapes, with_stack;
};

struct inventory_span {
    bool is_there;
    nanos begin, end, dur; /* all 0 without slices */
};

/* Slices of a kind, and of a range of kinds. */
struct inventory_kind {
    const char *name;
    uint64_t count;
    nanos dur; /* sum of durations */
};

struct inventory_group {
    uint64_t count;
    const struct inventory_kind *kinds;
    size_t n;
};

struct inventory_step {
    struct str name;
    int64_t number; /* UNKNOWN when the name has none */
    nanos begin, end;
};

/* It points into itself: not to be copied. */
struct inventory {
    const struct capture *cap;
    const char *name;
    enum origin origin;
    struct inventory_facts facts;
    const struct source *sources;
    size_t n_sources;
    struct clock clock;
    struct inventory_span span;   /* of all slices */
    struct inventory_span device; /* of all kernels */
    struct inventory_kind kinds[SLICE_KINDS];
    struct inventory_group kernels, waits, host, others;
    uint64_t lanes[LANE_KINDS];
    uint64_t flows[FLOW_KINDS];
    uint64_t slice_count, flow_count, counter_count;
    uint64_t samples;                  /* of all counters */
    uint64_t collectives, step_traces; /* that the profiler itself summed up */
    uint64_t lost;                     /* rows of all sources */
    VEC_OF(struct inventory_step) steps;
    const char *step_source;
    VEC_OF(struct inventory_attr) attrs; /* by key */
    VEC_OF(struct inventory_gap) gaps;
};

/* `cap` is sealed and outlives the inventory. */
void inventory_init(struct inventory *inv, const struct capture *cap);
void inventory_fini(struct inventory *inv);

extern const struct schema inventory_schema; /* strata.info/1, of a struct inventory_list */

struct inventory_list {
    const struct inventory *at;
    size_t n;
};

#endif
