/*
 * truth - what an analysis of a generated capture has to find, exactly.
 *
 * Everything is counted from the simulation's own records (synth/record.h) by synth/account.h, in
 * nanoseconds. Windows are told in three ways: "host" from step mark to step mark, "table" from
 * the first kernel of a step to that of the next (a table of kernels knows nothing else), and
 * "host_with_copies" where copies keep the device busy, as in GPU captures.
 */
#ifndef STRATA_SYNTH_TRUTH_H
#define STRATA_SYNTH_TRUTH_H

#include "report/record.h"
#include "synth/account.h"
#include "synth/sim.h"

/* Bits of the spans of device work. */
enum {
    WORK_KERNEL = 1, /* kernels and collectives: what a kernel table lists */
    WORK_COMPUTE = 2,
    WORK_COMM = 4,
    WORK_CORE = 8, /* AI core kernels, which can hide AICPU work */
    WORK_COPY = 16,
};

enum { VIEW_HOST, VIEW_TABLE, VIEW_COPIES, VIEWS };

/* Sets of one step, for the writers; valid until the next truth_step(). */
struct step_sets {
    struct spans busy, computing, communication, exposed, free;
    nanos first, last; /* begin of the first kernel, latest end */
};

struct truth_step {
    int64_t number;
    enum phase phase;
    int dense, moe;
    bool is_cut;
    nanos begin, mark_end;
    int64_t kernels, cores, aicpus, comms, copies;
    nanos dur, wait;
    nanos computing, communication, overlapped, exposed, free;
    struct account_window views[VIEWS];
};

struct truth_bubble {
    int64_t step;
    struct stall stall;
    nanos begin, end;
    nanos host, sync, comm, threads; /* covered by host events, of kinds, summed over threads */
    unsigned labels;
};

struct truth_aicpu {
    int64_t step;
    nanos begin, dur, hidden;
};

struct truth_total {
    int64_t count;
    nanos dur, wait;
    nanos shortest, longest;
};

/* One file of a rank. */
struct truth_file {
    const char *name;  /* below the output folder */
    uint64_t bytes;    /* before compression */
    uint64_t records;  /* events or rows; 0 where that means nothing */
    uint64_t complete; /* events before the cut; equal to records without one */
    bool is_cut;
};

struct truth {
    const struct rank *rank;
    int id;
    nanos skew;
    int64_t slow;
    int64_t level; /* of the profiler */
    VEC_OF(struct truth_step) steps;
    VEC_OF(struct truth_bubble) bubbles;
    VEC_OF(struct truth_aicpu) aicpu;
    VEC_OF(struct truth_file) files;
    struct truth_total totals[OP_COUNT];
    int64_t host_events[HOST_GC + 1];
    int64_t kernels, early; /* rows in all; before the first mark */
    nanos first, last;      /* begin and end of all device work but copies */
    nanos busy, busy_end;   /* union so far, and its end */
    int64_t copies;
    nanos busy_copies, busy_copies_end; /* union of kernels and copies, and its end */
    struct spans before, now;           /* work of the step before and of this one */
    struct spans scratch;
    struct step_sets sets;
};

void truth_init(struct truth *t, const struct rank *r, int64_t level);
void truth_fini(struct truth *t);

/* Counts the step that rank->step holds. */
void truth_step(struct truth *t);

/* The last step ends with its last kernel; its record must still be there. */
void truth_finish(struct truth *t);

/* Device work of a type or with a name, largest total first; room for OP_COUNT. */
struct truth_sum {
    const char *name, *core;
    struct truth_total total;
    bool is_judged; /* of a type, at a level that tells waits */
    bool is_anchor; /* a wait anchor */
};
size_t truth_sums(const struct truth *t, bool by_type, struct truth_sum *out);

/* A whole run. */
struct truth_run {
    const struct synth_options *options;
    struct model model;
    int64_t world;
    const char *group;
    int64_t straggler; /* -1: none */
    const struct truth *ranks;
    int64_t ranks_n;
};

extern const struct schema truth_schema; /* ground_truth.json, of a struct truth_run */

#endif
