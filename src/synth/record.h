/*
 * record - what one rank did in one step, before it is told in any file format.
 *
 * The simulation fills these and every writer reads them, so that all formats tell the same run.
 * Times are Unix nanoseconds on the rank's own clock. Names are literals or live in an arena.
 */
#ifndef STRATA_SYNTH_RECORD_H
#define STRATA_SYNTH_RECORD_H

#include "synth/model.h"

enum synth_thread { THREAD_MAIN, THREAD_QUEUE, THREAD_BACKWARD, THREAD_HELPER, THREAD_COUNT };

enum host_kind {
    HOST_OP,      /* framework operator */
    HOST_STEP,    /* ProfilerStep#N */
    HOST_PYTHON,  /* python function; id, parent: frame numbers */
    HOST_ENQUEUE, /* id: correlation */
    HOST_DEQUEUE,
    HOST_ACL, /* CANN calls by level; id: connection */
    HOST_NODE,
    HOST_HCCL,
    HOST_RUNTIME,
    HOST_GC,
    HOST_RANGE, /* user annotation */
    HOST_CUDA,  /* call of a GPU's runtime; id: correlation, parent: id of the operator */
};

struct host_event {
    nanos begin, dur;
    enum host_kind kind;
    enum synth_thread thread;
    const char *name;          /* of CANN calls: without the level */
    const struct synth_op *op; /* shapes, module and stack; NULL: none */
    const char *item;          /* item_id of a CANN call; NULL: "0" */
    int64_t id;                /* correlation, connection, frame, or a HOST_OP's own; 0: none */
    int64_t parent;            /* frame of the caller; sequence number of a HOST_OP, -1: none */
    int64_t launch;            /* connection of the task a HOST_OP launched; 0: none */
};

enum synth_stream {
    STREAM_COMPUTE,
    STREAM_COMM,
    STREAM_AICPU,
    STREAM_COPY, /* from here on only in planted runs */
    STREAM_SIDE,
    STREAM_COUNT,
    STREAM_USUAL = STREAM_COPY,
};

enum task_kind {
    TASK_KERNEL,
    TASK_COMM, /* a whole collective */
    TASK_COPY, /* MEMCPY_ASYNC */
    TASK_WAIT, /* EVENT_WAIT */
};

enum copy_way { COPY_HOST_TO_DEVICE, COPY_DEVICE_TO_HOST, COPY_ON_DEVICE, COPY_SET };

struct synth_task {
    nanos begin, dur;
    nanos wait; /* to the row before it in the kernel table; kernels and collectives */
    enum task_kind kind;
    enum synth_stream stream;
    const struct synth_op *op; /* kernels and collectives */
    const char *name;
    int64_t task_id, connection;
    nanos launched;                  /* begin of the framework operator; 0: none */
    nanos launch_dur;                /* its length */
    enum synth_thread launch_thread; /* its thread */
    nanos api;                       /* begin of the CANN call that holds the connection */
    enum synth_thread api_thread;
    nanos transit, waited; /* of a collective */
    int64_t bytes;         /* of a copy or a collective */
    enum copy_way way;
    bool is_pageable;
    bool has_call;    /* its GPU runtime call is recorded as HOST_CUDA, or nothing is */
    int64_t external; /* id of its operator, with has_call */
};

/* A forward operator and its gradient. */
struct grad_link {
    nanos from, to;
    int64_t id;
};

enum stall_kind {
    STALL_SYNC,
    STALL_H2D,
    STALL_COMM,
    STALL_UNTRACED,
    STALL_LAUNCH,
    STALL_GC,
    STALL_KINDS,
};

const char *stall_name(enum stall_kind kind);
const char *stall_label(enum stall_kind kind); /* what an analysis is expected to say */

enum stall_place { PLACE_INTERNAL, PLACE_PRELAUNCH, PLACE_TAIL };

struct stall {
    enum stall_kind kind;
    enum stall_place place;
    int layer;
    nanos at; /* a moment of the idle time, of an internal one */
};

struct synth_step {
    int64_t number;
    bool is_marked; /* has a ProfilerStep; false for work before the first one */
    bool is_cut;    /* the capture ended inside it */
    const struct synth_program *program;
    nanos begin, mark_end;
    nanos next_begin; /* host time at which the next step begins */
    VEC_OF(struct host_event) host;
    VEC_OF(struct synth_task) tasks; /* by begin once the step is over */
    VEC_OF(struct grad_link) grads;
    VEC_OF(struct stall) stalls;
};

/* The pieces a collective is made of, as the lanes of planes show them. */
enum { COMM_PLANES = 4, COMM_PARTS = COMM_PLANES + 1 };

struct comm_part {
    const char *name;
    nanos begin, dur;
    int plane;
    int64_t bytes; /* 0: a wait */
    int64_t peer;
};

/* A wait for the peers on plane 0, then a piece of the payload on each plane. */
void comm_parts(const struct synth_task *t, int64_t rank, int64_t world,
                struct comm_part out[COMM_PARTS]);

/* The Python files of a call stack, innermost first; used with and without line ends. */
enum { STACK_DEPTH = 7 };
void record_stack(const struct synth_op *op, struct str out[STACK_DEPTH], struct arena *arena);

#endif
