/*
 * idle - why the device had nothing to do: what the thread that launched the next task did
 * meanwhile, and which call had emptied the queue.
 */
#ifndef STRATA_ANALYSIS_IDLE_IDLE_H
#define STRATA_ANALYSIS_IDLE_IDLE_H

#include "analysis/diagnose/accounting.h"

/* The call that drained a timeline's queue last, until the queue fills again. */
struct idle_drain {
    uint32_t call; /* or NO_CALL */
    nanos budget;  /* the time it blocked, less what was charged to it */
};

struct idle_finder {
    const struct capture *cap;
    struct accounting *a;
    struct idle_drain *drains; /* by timeline */
    size_t task;               /* the first that begins at or after the last gap's end */
    size_t step;
    VEC_OF(struct idle_piece) backward; /* of one gap */
};

/* Sets the latencies of the accounting. */
void idle_init(struct idle_finder *f, const struct capture *cap, struct accounting *a,
               struct arena *arena);
void idle_fini(struct idle_finder *f);

/* Adds an interval in which the device idled to pieces and steps; they come in order. */
void idle_add(struct idle_finder *f, struct interval gap);

/* The latest task of another stream that ended after `begin` and right before task `next`, or
 * shortly before `begin`; a slice, or NO_SLICE. */
uint32_t idle_awaited(const struct accounting *a, nanos begin, size_t next);

/* A small copy to the host, which the thread waits for. */
bool idle_is_read(const struct accounting *a, const struct host_call *call);

/* A copy call that lasts until its copy has ended, more or less: most of the copy lies in it. */
bool idle_is_blocking_copy(const struct accounting *a, const struct host_call *call);

#endif
