/*
 * cluster - a training job of many ranks with troubles of known place: pipeline, tensor, expert and
 * data parallel, clocks that are off and drift.
 *
 * Ranks run programs of kernels, collectives, transfers and host work; a collective ends for all
 * members a transfer after the last has come. Written as PyTorch traces, one a rank, and
 * ground_truth.json. docs/synth.md
 */
#ifndef STRATA_SYNTH_CLUSTER_H
#define STRATA_SYNTH_CLUSTER_H

#include "base/tables/vec.h"
#include "synth/rng.h"
#include "synth/synth.h"

enum cluster_op_kind {
    CLUSTER_KERNEL,
    CLUSTER_CALL,  /* a collective or transfer that compute waits for */
    CLUSTER_ASYNC, /* one that it does not wait for, */
    CLUSTER_JOIN,  /* until here */
    CLUSTER_STALL, /* the host is busy with something else */
    CLUSTER_SAVE,  /* it writes a checkpoint */
    CLUSTER_BEGIN, /* of a step */
    CLUSTER_SYNC,  /* the host waits for the device; end of a step */
};

struct cluster_op {
    enum cluster_op_kind kind;
    const char *name;
    nanos dur;      /* of a kernel or of host work; of a call its transfer */
    uint32_t group; /* of a call */
    int64_t bytes;
};

struct cluster_event {
    const struct cluster_op *op;
    nanos begin, dur, launch;
};

/* Members of a communicator; calls of those with the same `id` are of one. */
struct cluster_team {
    int id;
    int *ranks, n;
    bool is_pair;
    int64_t slow; /* transfers, per mille */
    int arrived;  /* at the call that is going on */
    nanos *at;    /* when, by member */
};

struct cluster_rank_sim {
    int id, tensor, stage, data;
    struct rng rng;
    int64_t slow, experts; /* durations of kernels and of experts, per mille */
    nanos offset;
    int64_t drift; /* parts per billion */
    VEC_OF(struct cluster_op) program;
    VEC_OF(struct cluster_event) events;
    size_t at;
    nanos host, device, pending; /* clocks; end of the call in the background, -1: going on */
    bool is_waiting;
    bool *stalls;      /* by step */
    nanos stall, save; /* how long; more than others save */
};

/* A trouble, and where it is. */
struct cluster_place {
    struct synth_trouble what;
    int rank, from, to; /* -1: a link; a rank */
};

struct cluster_sim {
    const struct synth_options *o;
    struct arena *arena;
    struct rng rng;
    int n, tp, pp, ep, dp;
    struct cluster_rank_sim *ranks;
    VEC_OF(struct cluster_team) teams;
    int ids;                               /* communicators so far */
    struct cluster_place places[TROUBLES]; /* as many as options have troubles */
    unsigned repaired;                     /* bits of places that do no harm */
    int64_t save_every;
};

/* "compute,link:150,host:4:2": kinds, each with percent or milliseconds and steps if they are not
 * to be drawn; "none" and "all" are words too. False: it is none, or too long. */
bool cluster_troubles_parse(const char *list, struct synth_options *o);

/* Layout, places of the troubles and programs, by the seed. */
void cluster_plan(struct cluster_sim *s);

/* Runs all programs. */
void cluster_simulate(struct cluster_sim *s);

/* What the run takes less without a place, by itself or when all others are repaired, whichever is
 * more. */
nanos cluster_saving(const struct cluster_sim *s, size_t place);
void cluster_sim_free(struct cluster_sim *s);

enum status cluster_write(struct cluster_sim *s, struct diag *d, struct synth_result *out);

/* All of that, for options with `is_cluster`. */
enum status cluster_run(const struct synth_options *o, struct arena *arena, struct diag *d,
                        struct synth_result *out);

/* Whether the ranks can be divided so. */
bool cluster_fits(const struct synth_options *o);

#endif
