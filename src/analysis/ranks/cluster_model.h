/*
 * cluster_model - the summaries of all ranks put together: which calls are one collective, and what
 * time it was everywhere.
 *
 * A collective ends for all its members at the same moment, so its ends tie the clocks; when its
 * members began tells who was late. Times are nanoseconds after the first kernel of the reference
 * rank, on that rank's clock.
 */
#ifndef STRATA_ANALYSIS_RANKS_CLUSTER_MODEL_H
#define STRATA_ANALYSIS_RANKS_CLUSTER_MODEL_H

#include "analysis/ranks/rank_summary.h"
#include "base/tables/ranked.h"

enum { CLUSTER_NONE = UINT32_MAX };

struct cluster_clock {
    nanos coarse;     /* of its clock against the reference: whole nanoseconds, */
    double fine;      /* the rest, */
    double drift;     /* and what it gains a nanosecond */
    double residual;  /* median distance of its ends from the common ones */
    size_t ends;      /* that it was fitted on */
    bool is_known;    /* a chain of collectives leads to the reference */
    bool is_by_pairs; /* of transfers between two ranks, not of collectives */
};

enum cluster_role { ROLE_UNKNOWN, ROLE_TP, ROLE_PP, ROLE_EP, ROLE_DP, ROLE_WORLD };
enum { CLUSTER_ROLES = ROLE_WORLD + 1 };

/* A communicator of the run, or a pair of ranks that send to each other. */
struct cluster_group {
    struct str id, purpose;
    const int64_t *ranks; /* places of `ranks` in the model are not these: numbers of ranks */
    size_t n;
    bool is_pair; /* a transfer from ranks[0] to ranks[1] */
    enum cluster_role role;
    size_t calls, matched;
    double bytes, transit; /* sums over matched calls */
    double slow;           /* its transfers against those of its like; 0: has no like */
};

struct cluster_node {
    uint32_t group;
    uint8_t kind;
    bool is_lone;  /* other members are not there or do not fit */
    bool is_whole; /* all members are there */
    int32_t step;  /* place in `steps`; -1: none */
    uint32_t first, n;
    int64_t bytes;
    double end, last; /* common end; when the last member came */
    uint32_t late;    /* the member that came last: a place in `ranks` */
};

struct cluster_member {
    uint32_t rank, call;
};

struct cluster_model {
    struct arena *arena;
    const struct rank_summary *ranks; /* by rank, each once */
    size_t n;
    struct cluster_clock *clocks;
    size_t reference; /* place of the rank whose clock is that of the model */
    nanos base;       /* begin of its first call or step */
    int64_t *steps;   /* numbers, ascending */
    size_t n_steps;
    bool has_numbers; /* steps are matched by number; else by place */
    struct cluster_group *groups;
    size_t n_groups;
    struct cluster_node *nodes; /* by end */
    size_t n_nodes;
    struct cluster_member *members;
    uint32_t **node_of; /* by rank and call */
    size_t unmatched;   /* calls whose partners were not found */
};

/* `ranks` outlive the model, which lives in the arena. */
struct cluster_model *cluster_model_make(struct arena *arena, const struct rank_summary *ranks,
                                         size_t n);

/* The median of a list, which is sorted for it; NAN when it is empty. */
static inline double cluster_median(double *list, size_t n)
{
    ranked_sort(list, n);
    return ranked_middle(list, n);
}

/* A rank's time on the model's clock. */
double cluster_time(const struct cluster_model *m, size_t rank, nanos t);

/* Place of a rank's step in `steps`; -1: none. */
int32_t cluster_step_of(const struct cluster_model *m, size_t rank, int32_t step);

/* Whether a rank shares collectives with others: it is of their run, and its clock is known. */
static inline bool cluster_is_aligned(const struct cluster_model *m, size_t rank)
{
    return m->clocks[rank].is_known && m->clocks[rank].ends > 0;
}

/* Place of a rank by its number; CLUSTER_NONE. */
uint32_t cluster_place(const struct cluster_model *m, int64_t rank);

/* For cluster_model.c: fits all clocks to the ends of the nodes. */
void cluster_clocks_fit(struct cluster_model *m);

#endif
