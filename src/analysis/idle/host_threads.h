/*
 * host_threads - the threads of a capture that launch device work.
 */
#ifndef STRATA_ANALYSIS_IDLE_HOST_THREADS_H
#define STRATA_ANALYSIS_IDLE_HOST_THREADS_H

#include "base/tables/hash.h"
#include "base/tables/interval.h"
#include "capture/capture.h"

struct host_thread {
    size_t lane, launches;
    bool has_steps;
};

static inline bool host_threads_is_host(enum slice_kind kind)
{
    return kind >= SLICE_HOST_OP && kind <= SLICE_STEP;
}

/* Numbers of lanes. */
struct host_lanes {
    uint32_t *at;
    size_t n;
};

/* The lanes of threads, by thread, then in order; for mem_free(). */
struct host_lanes host_lanes_find(const struct capture *cap);

/* Those of `lanes` that show the thread of a lane, itself included; none when it has no number. */
struct host_lanes host_lanes_of(const struct capture *cap, const struct host_lanes *lanes,
                                size_t lane);

/* Threads with a slice that launches (`call_of` of it is not UINT32_MAX), the main one first: it
 * has the marks of steps, or launches most. `out` has room for every lane. */
size_t host_threads_find(const struct capture *cap, const uint32_t *call_of,
                         struct host_thread *out);

/* What is put into a queue, by the slice that takes it out; it counts as a call of its thread:
 * `call_of` of it becomes 0. */
void host_threads_queues(const struct capture *cap, struct hash *queue, uint32_t *call_of);

/* When a thread is in an operator or a call; merged, for mem_free(). */
struct interval_set host_threads_busy(const struct capture *cap, const struct lane *lane);

/* Both together; they are used up. */
struct interval_set host_threads_join(struct interval_set a, struct interval_set b);

#endif
