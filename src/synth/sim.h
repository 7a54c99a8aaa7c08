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
    nanos pending;          /* end of asynchronous work that is still to be joined */
    nanos row_end;          /* of the last row of the kernel table; 0: none yet */
    struct synth_task comm; /* the collective in work */
    int64_t connection, correlation, task_id, frame, sequence;
    int64_t comm_n[OP_COUNT]; /* collectives so far by kind */
    struct synth_step step;
    size_t open[FRAMES]; /* python frames being in, as indexes of step.host */
    int open_n;
    int layer;            /* of the operator launched last */
    const char *module;   /* likewise */
    nanos *begun;         /* begin of each operator of the program, for gradients */
    int threads, streams; /* named in the timelines */
};

struct sim {
    const struct synth_options *options;
    struct arena *arena; /* of the run */
    struct arena names;  /* of one step */
    struct rng rng;      /* what concerns all ranks */
    struct synth_program programs[PHASE_COUNT];
    struct rank *ranks;
    int ranks_n;
    int64_t world;
    int64_t step;          /* next number */
    int64_t stalls;        /* injected so far */
    const char *group;     /* hash of the communication group, as text */
    const char *gpu, *npu; /* names of the devices */
    int64_t gpu_memory;    /* bytes */
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

/* Puts the tasks of the step into the table's order; each row's wait is its distance to the one
 * before it. */
void sim_order_tasks(struct rank *r);

int64_t rank_tid(const struct rank *r, enum synth_thread thread);

/* For synth/sim.c: the hosts' part, in synth/sim_host.c. */
enum { US = 1000 };

/* Adds a host event; what else there is to say is added by the caller, before the next one. */
struct host_event *sim_host(struct rank *r, enum host_kind kind, enum synth_thread thread,
                            const char *name, nanos begin, nanos dur);

/* A CANN call of a level; `item` may be NULL. */
void sim_cann(struct rank *r, enum host_kind kind, enum synth_thread thread, const char *name,
              nanos begin, nanos dur, int64_t connection, const char *item);

/* Python frames: into one, and out of all but `down_to`. */
void sim_frame_push(struct sim *s, struct rank *r, const char *name);
void sim_frame_pop(struct rank *r, int down_to);

/* The host's part of one operator; leaves in `t` how it is linked and returns when the device may
 * begin. */
nanos sim_launch(struct sim *s, struct rank *r, const struct synth_op *op, struct synth_task *t);

#endif
