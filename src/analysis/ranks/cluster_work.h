/*
 * cluster_work - what each rank does by itself, against ranks that do the same.
 *
 * Ranks that run the same kernels equally often are of one kind: a stage of a pipeline is one. Time
 * in kernels and idle time are compared with the median of the kind, step by step. A rank that is
 * slow at all its kernels is told from one that has more to do in some of them.
 */
#ifndef STRATA_ANALYSIS_RANKS_CLUSTER_WORK_H
#define STRATA_ANALYSIS_RANKS_CLUSTER_WORK_H

#include "analysis/ranks/cluster_model.h"

enum work_class { WORK_COMPUTE, WORK_IDLE, WORK_STORAGE, WORK_STEP };
enum { WORK_CLASSES = WORK_STEP + 1, WORK_PEERS = 3 /* ranks that make a median */ };

struct cluster_kind_of_work {
    size_t n;      /* ranks of it */
    uint32_t like; /* one of them */
};

/* What the stretch before a call has more than that of other ranks, nanoseconds. */
struct work_of_call {
    float more[WORK_STEP];
};

struct cluster_work {
    const struct cluster_model *m;
    struct cluster_kind_of_work *kinds;
    size_t n_kinds;
    uint32_t *kind_of;             /* by rank */
    double *own[WORK_CLASSES];     /* by rank and step, nanoseconds; idle without storage; NAN */
    double *median[WORK_CLASSES];  /* by kind of work and step */
    double *scatter[WORK_CLASSES]; /* the same: median distance from it */
    double *speed; /* by rank: time of its kernels over that of others, median; NAN */
    double
        *speed_error;   /* by rank: of `speed`, by how much its kernels differ; INFINITY: unknown */
    double *slow_share; /* by rank: of its kernels, those that are slower */
    size_t *peers;      /* by rank: whose kernels it was compared with, at most */
    double *longest;    /* by rank: the kernel that exceeds those of others most, */
    const struct summary_family **excess; /* ns a step in `longest`; NULL: none */
    struct work_of_call **of_call;        /* by rank and call */
    double step_time;                     /* median over ranks and steps */
};

static inline double work_at(const struct cluster_work *w, enum work_class class, size_t rank,
                             size_t step)
{
    return w->own[class][rank * w->m->n_steps + step];
}

/* What a rank has more than the median of its kind in a step; 0 without a median. */
double work_excess(const struct cluster_work *w, enum work_class class, size_t rank, size_t step);

/* For cluster_work.c: fills `of_call`. */
void cluster_calls_compare(struct cluster_work *w);

/* Lives in the model's arena. */
struct cluster_work *cluster_work_find(const struct cluster_model *m);

#endif
