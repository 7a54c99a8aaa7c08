/*
 * cluster_replay - the run of all ranks again, with stretches and transfers changed.
 *
 * A call of a rank begins its stretch after the end of the call that compute waited for before, and
 * waits for the call in whose queue it is; a collective ends its transfer after the last member has
 * begun. Work after the last collective stays as it is. Unchanged, that gives the recorded
 * run but for what the clocks are off; the difference is the replay error.
 */
#ifndef STRATA_ANALYSIS_RANKS_CLUSTER_REPLAY_H
#define STRATA_ANALYSIS_RANKS_CLUSTER_REPLAY_H

#include "analysis/ranks/cluster_model.h"

/* What is taken off: by member (the order of model->members) and by node; nanoseconds. */
struct cluster_change {
    double *stretch, *transit;
};

/* A member of a collective as a replay needs it. */
struct replay_member {
    double begin;   /* of its stretch, as measured; -INFINITY: its clock is not known */
    double stretch; /* from then to its arrival */
    uint32_t after; /* node whose end begins the stretch; CLUSTER_NONE */
    uint32_t queue; /* node behind whose end it was queued; CLUSTER_NONE */
    double gap;     /* from that end to its arrival */
    double queued;  /* of the stretch: waiting in the queue */
};

struct cluster_replay {
    const struct cluster_model *m;
    struct replay_member *members; /* in the order of model->members */
    double *ends;                  /* of nodes, of the run made last */
    uint32_t *decide; /* by node: the member that came last in it, a place in model->members */
    bool *is_queued;  /* by member: of the run made last, it arrived by its queue */
    double first;     /* begin of the first stretch */
    double tail;      /* work after the last collective */
    double length;    /* from the first begin to the end of the tail, of the run made last */
    double recorded;  /* the same as measured */
    double error;     /* of the unchanged run: share of the recorded length */
};

void cluster_replay_init(struct cluster_replay *p, const struct cluster_model *m);

/* `change` may be NULL. Gives the length of the run. */
double cluster_replay_run(struct cluster_replay *p, const struct cluster_change *change);

/* Empty, for changes to be added. */
struct cluster_change cluster_change_new(const struct cluster_model *m);

#endif
