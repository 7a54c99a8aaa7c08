/*
 * accounting - where each nanosecond of a step's device window went, and why the device idled.
 *
 * The window of step i lasts from the end of step i-1's device work to the end of its own; what a
 * host step launched is its device work. At each instant a compute kernel claims the time before a
 * collective, a collective before a copy; what nobody claims is idle, and its cause is what the
 * launching thread did meanwhile. The classes add up to the window exactly.
 * Method and worked number: docs/analyses/accounting.md.
 */
#ifndef STRATA_ANALYSIS_DIAGNOSE_ACCOUNTING_H
#define STRATA_ANALYSIS_DIAGNOSE_ACCOUNTING_H

#include "analysis/idle/host_timeline.h"
#include "base/tables/interval.h"
#include "report/record.h"

struct study;

enum idle_cause {
    CAUSE_DEVICE_LATENCY,
    CAUSE_DEVICE_DEPENDENCY,
    CAUSE_SYNC,
    CAUSE_ALLOCATOR,
    CAUSE_COMPILE,
    CAUSE_COPY_STAGING,
    CAUSE_LAUNCH,
    CAUSE_OPERATOR,
    CAUSE_INPUT,
    CAUSE_PYTHON,
    CAUSE_UNTRACED,
    CAUSE_START_UP, /* first calls, which load code or make a context */
    CAUSE_UNKNOWN,  /* no launch is recorded */
};

enum { IDLE_CAUSES = CAUSE_UNKNOWN + 1 };

/* Every class an instant may belong to, one after the other. */
enum {
    ACCOUNT_COMPUTE = 0,
    ACCOUNT_COMM = ACCOUNT_COMPUTE + KERNEL_FAMILIES,
    ACCOUNT_COPY,
    ACCOUNT_IDLE = ACCOUNT_COPY + COPY_KINDS,
    ACCOUNT_CLASSES = ACCOUNT_IDLE + IDLE_CAUSES
};

/* Whether the queue ran empty because a call waited for it, or never filled. */
enum gap_state { GAP_QUEUED, GAP_DRAINED, GAP_HOST_SLOWER, GAP_UNLINKED };

/* A piece of idle time with one cause. Neighbouring pieces before the same task are one gap. */
struct idle_piece {
    struct interval at;
    uint32_t step;
    uint32_t gap;        /* number of the gap, from 0 */
    uint32_t task;       /* the task that ends the gap: its number */
    uint32_t launch;     /* slices, or NO_SLICE: its launching call, */
    uint32_t filled_by;  /* what filled the piece, */
    uint32_t enabled_by; /* and the call that had drained the queue */
    uint32_t waits_for;  /* of device_dependency: the last task of the other stream, a slice */
    uint8_t cause;       /* enum idle_cause */
    uint8_t state;       /* enum gap_state */
};

struct account_step {
    struct str id;
    int64_t number;
    struct interval window; /* accounted for */
    struct interval host;   /* from its mark to the next */
    nanos by[ACCOUNT_CLASSES];
    nanos compute, comm_exposed, copy_exposed, idle; /* sums of these */
    nanos drained, host_slower;                      /* the idle time by its state */
    size_t tasks;
    uint64_t work; /* of the names of its compute kernels, in any order: equal work, equal number */
    uint32_t group; /* steps of equal work */
    bool is_slow;   /* takes far longer than steps of its group, or than all if it has no like */
};

struct accounting {
    struct device_tasks tasks;
    struct host_timelines host;
    struct account_step *steps;
    size_t n;
    bool is_pseudo;          /* no steps are marked: the whole capture is one window */
    struct account_step all; /* sums over the steps */
    struct {
        struct idle_piece *at;
        size_t n, cap;
    } pieces; /* by begin */
    size_t gaps;
    nanos queue_latency;
    nanos back_to_back;  /* median gap between queued tasks */
    size_t orphans;      /* tasks that belong to no step */
    size_t groups;       /* kinds of steps by their work */
    nanos step_time;     /* median window, the first left out when there are more */
    nanos host_period;   /* median distance of the marks; 0 without marks */
    const char *missing; /* why causes are unknown; NULL when launches are recorded */
};

/*
 * The steps that count, on average: all with work but the first, which is cut short or warms up.
 * Steps of different work (prefill and decode, training and evaluation) have no average; then
 * `time` and `by` are of all of them together.
 */
struct account_mean {
    size_t first, steps; /* place of the first one; at least 1 */
    size_t units;        /* that the time is divided by: the steps, or 1 */
    bool is_mixed; /* kinds of steps that each take a good part of the time differ in length */
    nanos window;  /* of all of them */
    nanos all[ACCOUNT_CLASSES];
    nanos time, by[ACCOUNT_CLASSES]; /* of a unit */
};
struct account_mean account_mean_of(const struct accounting *a);

static inline nanos account_step_time(const struct account_step *s)
{
    return s->window.end - s->window.begin;
}

/* "compute.gemm_tensor", "comm_exposed", "copy_exposed.h2d_pageable", "idle.launch". */
const char *account_class_name(int class);

/* The same for people: "idle (launch)". */
struct message;
const struct message *account_class_label(int class);
const char *idle_cause_name(enum idle_cause cause);
const char *gap_state_name(enum gap_state state);

/* Accounts for the study's capture on its first device; use study_accounting(). */
const struct accounting *accounting_find(struct study *st);

/* The same for a device of several. Lives in the arena. */
struct accounting *accounting_of_device(struct study *st, int32_t device, struct arena *arena);

/* For each step the median of `times` over the steps of its group, if it has enough of them, else
 * over all; the first step counts in none. */
void accounting_usual(const struct accounting *a, const nanos *times, nanos *out);

/* Metrics of a struct account_step that conditions may name. */
extern const struct record account_metrics_record;

#endif
