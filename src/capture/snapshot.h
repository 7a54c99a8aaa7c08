/*
 * snapshot - what a caching allocator held and did: its segments and blocks at one moment, and its
 * events up to there.
 *
 * Sizes are bytes as they were asked for; blocks and segments are larger by rounding. Events are in
 * the order of the file. Addresses come again and again.
 */
#ifndef STRATA_CAPTURE_SNAPSHOT_H
#define STRATA_CAPTURE_SNAPSHOT_H

#include "base/tables/intern.h"
#include "base/tables/vec.h"
#include "base/text/num.h"

enum snapshot_action {
    SNAPSHOT_ALLOC,
    SNAPSHOT_FREE,           /* asked for; the memory may be in use on another stream */
    SNAPSHOT_FREE_COMPLETED, /* counted, not kept */
    SNAPSHOT_SEGMENT_ALLOC,
    SNAPSHOT_SEGMENT_FREE,
    SNAPSHOT_SEGMENT_MAP,
    SNAPSHOT_SEGMENT_UNMAP,
    SNAPSHOT_OOM,   /* `address` is what was free on the device */
    SNAPSHOT_OTHER, /* counted, not kept */
    SNAPSHOT_ACTIONS
};

struct snapshot_event {
    nanos at; /* since 1970, or the number of the event where no times are recorded */
    uint64_t address;
    int64_t bytes;
    strid stack; /* "a.py:1:f < b.py:2:g"; 0: none */
    uint8_t action;
};

enum snapshot_state { SNAPSHOT_ACTIVE, SNAPSHOT_PENDING, SNAPSHOT_INACTIVE, SNAPSHOT_STATES };

struct snapshot_block {
    uint64_t address;
    int64_t bytes, requested;
    strid stack;
    uint32_t segment;
    uint8_t state; /* enum snapshot_state */
};

struct snapshot_segment {
    uint64_t address;
    int64_t device, stream;
    int64_t bytes, allocated, active, requested;
    size_t first, n; /* of its blocks */
    bool is_expandable;
};

/* A range that the program named. */
struct snapshot_range {
    strid name;
    int64_t device;
    nanos begin, end; /* `end` < begin: it was not closed */
};

/* The events of one device. */
struct snapshot_trace {
    int64_t device;
    size_t first, n;                  /* of the events that are kept */
    uint64_t count[SNAPSHOT_ACTIONS]; /* of all */
};

struct snapshot {
    VEC_OF(struct snapshot_event) events;
    VEC_OF(struct snapshot_block) blocks;
    VEC_OF(struct snapshot_segment) segments; /* those of one device follow each other */
    VEC_OF(struct snapshot_range) ranges;
    VEC_OF(struct snapshot_trace) traces; /* by device; with events, or with segments alone */
    strid settings;                       /* of the allocator, as the environment gave them */
    bool has_times, is_cut;
};

/* What an event adds to the bytes that are allocated, and to those that are reserved. */
static inline int64_t snapshot_allocates(const struct snapshot_event *e)
{
    return e->action == SNAPSHOT_ALLOC ? e->bytes : e->action == SNAPSHOT_FREE ? -e->bytes : 0;
}

static inline int64_t snapshot_reserves(const struct snapshot_event *e)
{
    bool adds = e->action == SNAPSHOT_SEGMENT_ALLOC || e->action == SNAPSHOT_SEGMENT_MAP;
    bool takes = e->action == SNAPSHOT_SEGMENT_FREE || e->action == SNAPSHOT_SEGMENT_UNMAP;

    return adds ? e->bytes : takes ? -e->bytes : 0;
}

/* What was allocated and reserved before the first event: what is there now, less all events. */
void snapshot_before(const struct snapshot *s, const struct snapshot_trace *t, int64_t *allocated,
                     int64_t *reserved);

/* Zero-initialised is empty; NULL is left alone. */
void snapshot_free(struct snapshot *s);

const char *snapshot_state_name(enum snapshot_state state);
const char *snapshot_action_name(enum snapshot_action action);

#endif
