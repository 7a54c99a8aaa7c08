/*
 * facts - what a profile says about itself and about the run, besides its timeline.
 *
 * All of it is optional: numbers that are not known are UNKNOWN, texts are 0.
 */
#ifndef STRATA_CAPTURE_FACTS_H
#define STRATA_CAPTURE_FACTS_H

#include <stdbool.h>

#include "base/tables/intern.h"
#include "base/text/num.h"

enum { UNKNOWN = -1 };

/* Who made the device. */
enum vendor { VENDOR_UNKNOWN, VENDOR_ASCEND, VENDOR_NVIDIA, VENDOR_AMD };

struct facts {
    enum vendor vendor;
    bool is_incore;    /* the inside of one core, not a run */
    bool is_rank_free; /* nothing tells the rank: it is a number that was free */
    int64_t rank, world_size;
    int64_t device;
    int64_t device_memory;             /* bytes */
    int64_t device_cores;              /* multiprocessors or compute units */
    int64_t device_clock;              /* Hz */
    int64_t device_bandwidth;          /* bytes a second */
    int64_t level;                     /* of an Ascend profile: 0, 1, 2 */
    int64_t record_shapes, with_stack; /* 0 no, 1 yes */
    strid kind;                        /* "ascend_pytorch", "kineto", "nsys", ... */
    strid producer;                    /* profiler and version, as far as told */
    strid device_name;
    strid device_cc; /* compute capability: "8.6" */
    strid host;
};

/* Memory that an operator held, by operator_memory.csv. */
struct allocation {
    strid name;
    nanos begin, end; /* `end` < begin: not given back while it was recorded */
    double bytes;
};

/* A mark that a step begins: the range of one step on the host, or of one step id. */
enum mark_source {
    MARK_PROFILER_STEP, /* ProfilerStep#N */
    MARK_ITERATION,     /* Iteration#N, Step N */
    MARK_STEP_TRACE,    /* iterations of graph modes */
};

struct mark {
    enum mark_source source;
    strid name;
    int64_t number;
    nanos begin, end;
};

/* One collective as communication.json and its database twin tell it; times in nanoseconds. */
struct comm_op {
    strid name, group, step;
    int64_t rank; /* in sums over many ranks; UNKNOWN: that of the capture */
    bool is_p2p;
    nanos begin, elapse, transit, wait, sync, idle;
    double megabytes, transit_ms; /* over all transports; bandwidth is their quotient */
};

/* How much went from one rank to another in one kind of collective, by communication_matrix.json
 * and its database twin. */
struct comm_link {
    strid name, group, step; /* "allreduce-top1", or a collective's name */
    strid op, transport;
    int64_t from, to; /* ranks */
    double megabytes, transit_ms;
};

/* A communication group, by profiler_metadata.json or the settings of a PyTorch trace. */
struct comm_group {
    strid id, name; /* the name tells its purpose: tp, dp, pp, ... */
    strid ranks;    /* "0,1,2,3" */
};

/* One row of step_trace_time: what the profiler itself says of a step; nanoseconds. */
struct step_trace {
    strid step;
    int64_t rank; /* as above */
    int64_t device;
    nanos computing, comm_exposed, overlapped, communication, free_time, stage, bubble;
    nanos preparing; /* -1: the column is missing */
};

#endif
