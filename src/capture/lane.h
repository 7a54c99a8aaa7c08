/*
 * lane - one row of the timeline: a stream, a thread, a pipe.
 */
#ifndef STRATA_CAPTURE_LANE_H
#define STRATA_CAPTURE_LANE_H

#include <stddef.h>
#include <stdint.h>

#include "base/tables/intern.h"
#include "capture/kinds.h"

typedef uint32_t lane_id;

/* What makes two lanes the same lane. */
struct lane_key {
    enum lane_kind kind;
    int32_t device;   /* -1: none or unknown */
    strid process;    /* 0: unnamed */
    strid name;       /* as the source names it: "2", "N/A", "Thread 1207" */
    int64_t pid, tid; /* of a host thread; two threads may share a name. 0 elsewhere */
};

struct lane {
    struct lane_key key;
    int64_t rank;    /* where ranks are joined (capture/cut.h); -1: that of the capture */
    size_t first, n; /* its slices, set by capture_seal() */
};

#endif
