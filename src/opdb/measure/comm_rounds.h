/*
 * comm_rounds - which launches fill the tables of collectives: rounds of collectives, group sizes
 * and ports, for one node or several.
 */
#ifndef STRATA_OPDB_MEASURE_COMM_ROUNDS_H
#define STRATA_OPDB_MEASURE_COMM_ROUNDS_H

#include <stdint.h>

#include "base/arena.h"
#include "base/tables/vec.h"

enum { COMM_ROUND_DEVICES = 32, COMM_ROUND_SIZES = 32 };

struct comm_launch {
    const char *ops;                     /* with commas between */
    int64_t processes;                   /* of all nodes */
    int64_t devices[COMM_ROUND_DEVICES]; /* sizes of groups */
    size_t n_devices;
    int64_t port;
};

struct comm_rounds {
    struct comm_launch at[16];
    size_t n;
    int64_t sizes[COMM_ROUND_SIZES]; /* of messages */
    size_t n_sizes;
    bool is_multi; /* several nodes: groups span pods, tier 0 */
};

/* NNODES, NPROC, MASTER_PORT and QUICK of the environment; 0: not set. */
struct comm_nodes {
    int64_t nodes, processes, port;
    bool is_quick;
};

/* False when no group size fits that many processes. */
bool comm_rounds_plan(const struct comm_nodes *nodes, struct comm_rounds *out);

#endif
