/*
 * sim - the invented machine: hosts that launch, streams that run, collectives that couple ranks.
 *
 * All ranks advance operator by operator. A host thread launches into a queue, a second thread
 * hands the work to the device, streams run it in order, and a collective ends for everybody a
 * transit time after the last rank has arrived. Each rank's clock is off by its own skew.
 */
#ifndef STRATA_SYNTH_SIM_H
#define STRATA_SYNTH_SIM_H

#include "synth/record.h"
#include "synth/rng.h"
#include "synth/synth.h"

enum { FRAMES = 4 };

struct rank {
    int id;
    struct rng rng;
    nanos skew;   /* of this rank's clock */
    int64_t slow; /* durations times this over 1000 */
    int64_t pid;  /* of the host process */
    nanos host;   /* clock of the launching thread */
    nanos queue;  /* clock of the dequeuing thread */
    nanos end[STREAM_COUNT];
    nanos pending;    /* end of asynchronous work that is still to be joined */
    nanos row_end;    /* of the last row of the kernel table; 0: none yet */
    struct task comm; /* the collective in work */
    int64_t connection, correlation, task_id, frame, sequence;
    int64_t comm_n[OP_COUNT]; /* collectives so far by kind */
    struct step step;
    size_t open[FRAMES]; /* python frames being in, as indexes of step.host */
    int open_n;
    int layer;          /* of the operator launched last */
    const char *module; /* likewise */
    nanos *begun;       /* begin of each operator of the program, for gradients */
};

struct sim {
    const struct synth_options *options;
    struct arena *arena; /* of the run */
    struct arena names;  /* of one step */
    struct rng rng;      /* what concerns all ranks */
    struct program programs[PHASE_COUNT];
    struct rank *ranks;
    int ranks_n;
    int64_t world;
    int64_t step;      /* next number */
    int64_t stalls;    /* injected so far */
    const char *group; /* hash of the communication group, as text */
    struct model model;
};

/* The moment all captures begin, before skew. */
#define SYNTH_EPOCH INT64_C(1767225600000000000)

void sim_init(struct sim *s, const struct synth_options *o, struct arena *arena);
void sim_fini(struct sim *s);

/* Work before the first mark, for a capture that began in the middle of a step. */
void sim_warm_up(struct sim *s);

/* Runs one step on all ranks; each rank's record is then in rank->step. `is_cut` breaks it off. */
void sim_step(struct sim *s, bool is_cut);

int64_t rank_tid(const struct rank *r, enum thread thread);

#endif
