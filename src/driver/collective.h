/*
 * collective - one collective between ranks, timed: over MPI on host buffers, or between devices.
 *
 * All ranks of the job open the same back end; a group are the job's first ranks. Every function of
 * a group is called by its members alone, and by all of them.
 */
#ifndef STRATA_DRIVER_COLLECTIVE_H
#define STRATA_DRIVER_COLLECTIVE_H

#include "driver/mpi.h"

enum coll_op {
    COLL_ALL_REDUCE,
    COLL_ALL_GATHER,
    COLL_REDUCE_SCATTER,
    COLL_ALL_TO_ALL,
    COLL_BROADCAST,
    COLL_SEND_RECV, /* there and back: half of it is the time */
    COLL_OPS,
};

/* What one call moves. `n` counts elements: of the whole for all_reduce and broadcast, of one
 * rank's input for all_gather, of one rank's output for reduce_scatter, of each peer's part for
 * all_to_all, of one direction for send_recv. */
struct coll_call {
    enum coll_op op;
    size_t n;
    enum mpi_elem elem;
};

struct device_links; /* device_links.h */

struct coll_group {
    const struct mpi *job;
    struct mpi_group *mpi;
    int size;
    const struct device_links *links; /* NULL: host buffers over MPI */
    void *device;
};

/* Elements of a message of that many bytes in a group of `ranks`, as coll_call counts them. */
size_t coll_count(enum coll_op op, size_t bytes, enum mpi_elem elem, size_t ranks);

/* Bytes of both buffers of one rank. */
size_t coll_memory(const struct coll_call *call, size_t ranks);
size_t coll_elem_size(enum mpi_elem elem);

/* The first `n` ranks of the job, by all of its ranks; `*is_member` is false at the others. With
 * `links` (may be NULL) their devices meet, too. */
enum status coll_group_open(struct coll_group *g, const struct mpi *job,
                            const struct device_links *links, void *device, int n, bool *is_member,
                            struct diag *d);
void coll_group_close(struct coll_group *g);

/* Buffers of one rank, filled with a pattern that stays finite however often it is summed. */
struct coll_buffers {
    void *from, *into;
};
enum status coll_buffers_open(struct coll_buffers *b, const struct coll_group *g,
                              const struct coll_call *call, struct diag *d);
void coll_buffers_close(struct coll_buffers *b, const struct coll_group *g);

/* Runs it once, all ranks ready before; seconds on this rank. */
enum status coll_run(const struct coll_group *g, const struct coll_call *call,
                     const struct coll_buffers *b, double *seconds, struct diag *d);

/* How often a call is made so that it takes about `limit` seconds in all: `first` is the time of
 * one call. The same at all ranks. */
struct coll_times {
    size_t warm, timed;
};
enum status coll_plan(const struct coll_group *g, double first, double limit,
                      struct coll_times *out, struct diag *d);

/* The slowest rank's time of each of `n` calls, at all ranks. */
enum status coll_slowest(const struct coll_group *g, double *seconds, size_t n, struct diag *d);

#endif
