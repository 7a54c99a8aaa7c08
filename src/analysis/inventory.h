/*
 * inventory - what a capture holds: counts, span, facts, and which evidence is missing.
 *
 * The first look at an unknown profile. Everything here is a count or a fact of the file; nothing
 * is judged. Times are nanoseconds on the capture's own clock.
 */
#ifndef STRATA_ANALYSIS_INVENTORY_H
#define STRATA_ANALYSIS_INVENTORY_H

#include "analysis/step_table.h"
#include "report/record.h"

enum { FLOW_KINDS = FLOW_OTHER + 1 };

/* Evidence that later questions will miss, and how to get it. */
struct inventory_gap {
    const char *name; /* "host_events", stable */
    const char *text; /* what is missing, what that costs, how to record it */
};

enum { INVENTORY_GAPS = 8 };

/* An attribute and the number of slices that carry it. */
struct inventory_attr {
    struct str key;
    uint64_t slices;
};

struct inventory {
    const struct capture *cap;
    nanos begin, end;               /* of all slices; both 0 when there are none */
    nanos device_begin, device_end; /* of all kernels */
    uint64_t kernels, host_events;
    uint64_t lanes[LANE_KINDS];
    uint64_t slices[SLICE_KINDS];
    nanos time[SLICE_KINDS]; /* sum of durations */
    uint64_t flows[FLOW_KINDS];
    uint64_t samples; /* of all counters */
    uint64_t rows, lost;
    uint64_t bytes; /* of all sources */
    struct step_table steps;
    VEC_OF(struct inventory_attr) attrs; /* by key */
    struct inventory_gap gaps[INVENTORY_GAPS];
    size_t gap_count;
};

/* `cap` is sealed and outlives the inventory. */
void inventory_init(struct inventory *inv, const struct capture *cap);
void inventory_fini(struct inventory *inv);

/* What strata.info/1 holds. */
struct inventory_list {
    struct field_items captures;
};

extern const struct schema inventory_schema;

/* The document's result, in `arena`. */
struct inventory_list inventory_tell(const struct inventory *list, size_t n, struct arena *arena);

#endif
