/*
 * machine - an accelerator and its host that execute a program and record it.
 *
 * The program calls the functions below in the order of its host thread. Time passes by doing: an
 * operator costs host time, a launch puts a task behind its stream's last one, a wait returns when
 * the device is done, a full queue blocks. Every random number belongs to a site (a name and how
 * often it occurred in the step), so a program with one thing changed keeps all the others.
 */
#ifndef STRATA_SYNTH_MACHINE_H
#define STRATA_SYNTH_MACHINE_H

#include "base/tables/hash.h"
#include "device/device.h"
#include "synth/sim.h"

enum machine_kind { MACHINE_GPU, MACHINE_NPU };
enum { MACHINE_KINDS = MACHINE_NPU + 1 };

/* What the launching timeline is in, which is what idle time before its next launch counts as. */
enum host_work {
    BUSY_LAUNCH,
    BUSY_SYNC,
    BUSY_ALLOCATOR,
    BUSY_COMPILE,
    BUSY_STAGING,
    BUSY_OPERATOR,
    BUSY_INPUT,
    BUSY_PYTHON,
    BUSY_UNTRACED,
};

enum { MACHINE_NO_CALL = UINT32_MAX, MACHINE_DEPTH = 16 };

/* A call that touches the device, and the stretch of host time since the one before it. */
struct machine_call {
    nanos begin, end;
    nanos stretch; /* begin of the stretch */
    nanos longest; /* of its pieces that were given a class, and that class */
    enum host_work filler;
    enum host_work work; /* of the call itself */
    bool is_alike;       /* its idle time is all of that class, up to the task's begin */
};

/* A thread that launches: the host's threads take turns on one, an NPU's queue is another. */
struct machine_timeline {
    VEC_OF(struct machine_call) calls;
    nanos free; /* end of its last call */
    nanos longest;
    enum host_work filler;
};

struct machine_task {
    nanos begin, end;
    uint32_t call; /* of the launching timeline, or MACHINE_NO_CALL */
    int step;      /* that launched it; -1: none */
    enum task_kind kind;
    enum op_code code; /* of a kernel */
    enum copy_way way;
    enum synth_stream stream;
    nanos awaited; /* end of another stream's work that it had to wait for; 0: none */
    bool is_pageable, is_optimizer, is_graph;
    bool is_by_main; /* launched by the host itself, not through a queue */
};

struct machine_stream {
    nanos end;     /* of its last task */
    nanos ready;   /* an event it waits for, */
    nanos awaited; /* and the end of the work before that event */
};

/* Host times of this run, before jitter. */
struct machine_costs {
    nanos op, leaf, python, call, event, switching;
    nanos recorded_op, recorded_call, recorded_node; /* what the profiler adds */
    nanos latency, gap, event_latency, sync_return;
    nanos queue; /* of an NPU: a launch of the queue's thread */
};

struct machine {
    enum machine_kind kind;
    const struct device *device;
    struct rank *rank; /* gets the records */
    struct arena *names;
    uint64_t seed;
    struct rng rng;
    struct hash counts; /* of sites in this step */
    struct machine_costs costs;
    int step;
    bool is_bare; /* not profiled */
    bool has_stacks;
    nanos host;  /* clock of the host's threads, which take turns */
    nanos queue; /* clock of the queue's thread */
    enum synth_thread thread;
    struct machine_stream streams[STREAM_COUNT];
    struct machine_timeline main, queued;
    VEC_OF(struct machine_task) tasks; /* in order of launch */
    size_t open[MACHINE_DEPTH];        /* operators and ranges being in, as indexes of step.host */
    int open_n;
    int busy;           /* operators and frames among them */
    nanos quiet;        /* since then nothing is recorded of the host, when busy is 0 */
    bool is_input;      /* inside a range of the data loader */
    int64_t external;   /* id of the last operator */
    int64_t clock;      /* durations of kernels, per mille */
    bool is_optimizer;  /* inside an optimizer's range */
    int64_t graph_call; /* connection of the graph that is being launched; 0: none */
    nanos graph_ready;
};

void machine_init(struct machine *m, enum machine_kind kind, uint64_t seed, struct rank *rank,
                  struct arena *names);
void machine_fini(struct machine *m);

/* ---- numbers ---- */

/* A random number of the current site. */
int64_t machine_draw(struct machine *m, int64_t low, int64_t high);
void machine_site(struct machine *m, const char *name);

/* Time for operations or bytes at a share (per mille) of a peak. */
nanos machine_flops(const struct machine *m, enum peak peak, int64_t flops, int64_t share);
nanos machine_bytes(const struct machine *m, int64_t bytes, int64_t share);

/* ---- host ---- */

/* A framework operator; shapes are "8,16;16", types "DT_BF16;DT_BF16". */
void machine_op(struct machine *m, const char *name, const char *shapes, const char *types);
void machine_end(struct machine *m);                     /* of the operator or range */
void machine_leaf(struct machine *m, const char *name);  /* one that does nothing */
void machine_range(struct machine *m, const char *name); /* user annotation */
void machine_frame(struct machine *m, const char *name); /* python function */
void machine_python(struct machine *m);                  /* code between two operators */
void machine_switch(struct machine *m, enum synth_thread thread);

/* The host is busy with something of this class; nothing is recorded. */
void machine_work(struct machine *m, enum host_work work, nanos dur);

/* A call that allocates, frees, compiles. `waits`: for all of the device first. */
void machine_call(struct machine *m, const char *name, enum host_work work, nanos dur, bool waits);

/* ---- device ---- */

struct machine_kernel {
    enum op_code code;
    nanos dur;
    const char *in, *out;
    enum synth_stream stream;
    int64_t bytes; /* of a collective */
};

void machine_launch(struct machine *m, const struct machine_kernel *kernel);
void machine_memset(struct machine *m);

/* A kernel of before the recording: its launch is not known. */
void machine_earlier(struct machine *m, const struct machine_kernel *kernel);

struct machine_copy {
    enum copy_way way;
    int64_t bytes;
    nanos dur;
    bool is_pageable;
    bool blocks; /* its call returns when it is done */
    enum synth_stream stream;
};

void machine_copy(struct machine *m, const struct machine_copy *copy);

/* Until a stream is done; STREAM_COUNT: the device. */
void machine_sync(struct machine *m, enum synth_stream stream);

/* `waiter` goes on when what `other` has got so far is done. */
void machine_wait(struct machine *m, enum synth_stream waiter, enum synth_stream other);

/* Kernels in between are nodes of one graph. */
void machine_graph_begin(struct machine *m, int64_t nodes);
void machine_graph_end(struct machine *m);

/* ---- steps ---- */

void machine_step_begin(struct machine *m, int number);
void machine_step_end(struct machine *m);

/* ---- for the files of the machine: calls and their costs ---- */

/* A host time with jitter; of a call with what recording it adds. */
nanos machine_cost(struct machine *m, nanos mean);
nanos machine_call_cost(struct machine *m, nanos mean);

/* Notes a call on a timeline and gives its number. */
uint32_t machine_add_call(struct machine_timeline *t, nanos begin, nanos end, enum host_work work);

/* The event of a call of the runtime that begins now. */
struct host_event *machine_record_call(struct machine *m, const char *gpu, const char *npu);

#endif
