/*
 * stream_gaps - when a stream had nothing to do while another one worked, and why.
 *
 * Streams that wait for each other leave no idle device: accounting does not show them. A gap here
 * is the time between two tasks of a stream in which some other stream runs.
 */
#ifndef STRATA_ANALYSIS_IDLE_STREAM_GAPS_H
#define STRATA_ANALYSIS_IDLE_STREAM_GAPS_H

#include "analysis/diagnose/accounting.h"

struct stream_gap {
    struct interval at;
    nanos busy;         /* how much of it another stream worked */
    uint32_t task;      /* the task that ends it: its number */
    uint32_t waits_for; /* of device_dependency: the task of another stream, a slice */
    uint32_t lane;      /* of the stream */
    uint8_t cause;      /* device_latency, device_dependency, launch (launched late), unknown */
};

struct stream_gaps {
    struct stream_gap *at; /* by begin of the task that ends them */
    size_t n;
};

/* Lives in the arena. */
struct stream_gaps stream_gaps_find(const struct capture *cap, const struct accounting *a,
                                    struct arena *arena);

#endif
