/*
 * lanes - instructions in order, sub-lanes for those that overlap, and the order of the rows.
 *
 * A pipe may have several instructions in flight; viewers draw one at a time per row. So each pipe
 * of a core gets as many rows as it needs: an instruction goes to the first row that is free.
 */
#ifndef STRATA_KERNELS_INCORE_LANES_H
#define STRATA_KERNELS_INCORE_LANES_H

#include "kernels/incore/events.h"

/* One row of the picture. */
struct incore_drawn {
    uint32_t group, lane;
    uint32_t first;      /* the first instruction on it, in the order of the text */
    uint32_t sort_index; /* rank and lane */
};

struct incore_lanes {
    uint32_t *order;                   /* instructions by (group, ts), equal ones as in the text */
    VEC_OF(struct incore_drawn) drawn; /* by group and lane */
    incore_value *pids;                /* in ascending order of their text */
    uint32_t *rows;                    /* numbers of `drawn` in the order they are shown */
    size_t pids_n, rows_n;             /* of groups that are kept */
};

/* Sets `lane` of all instructions and `first`, `lanes` and `drawn0` of all groups. */
void incore_lanes_build(struct incore_lanes *lanes, struct incore_trace *t);
void incore_lanes_free(struct incore_lanes *lanes);

/* What is known of a pipe by its name; the last entry is for all others. */
struct incore_pipe {
    struct str name, label, colour;
    uint32_t rank;
};

const struct incore_pipe *incore_pipe_find(struct str name);

/* Where a pipe stands among the pipes of a core. */
uint32_t incore_pipe_index(struct str name);

#endif
