/*
 * timeline - what a GPU did over time: busy and idle, overlap, launches, gaps, graphs, ranges.
 *
 * A view of the study of one sealed capture, whoever recorded it: device work, launch calls, gaps
 * and their causes are those of analysis/diagnose/accounting.h. Each device has a window, from its
 * first start to its last end unless the caller names one, to which gaps are cut, and every busy
 * time is the length of a union: work that runs side by side counts once. Sums of durations stand
 * beside them and never instead.
 *
 * The formulas are those of docs/analyses/gpu-timeline.md. Times are the capture's own.
 */
#ifndef STRATA_GPU_TIMELINE_TIMELINE_H
#define STRATA_GPU_TIMELINE_TIMELINE_H

#include "analysis/diagnose/accounting.h"
#include "analysis/study.h"
#include "base/run/pool.h"

enum { TIMELINE_NONE = UINT32_MAX };

enum timeline_class {
    TIMELINE_COMPUTE, /* kernels */
    TIMELINE_COMM,    /* kernels that communicate */
    TIMELINE_MEMCPY,
    TIMELINE_MEMSET,
    TIMELINE_GRAPH, /* a whole graph as one row */
    TIMELINE_CLASSES
};

enum {
    TIMELINE_FIRST = 1, /* the first kernel of its launch call */
    TIMELINE_NODE = 2,  /* launched by a graph */
};

static inline enum timeline_class timeline_class_of(const struct device_task *t)
{
    if (t->is_row)
        return TIMELINE_GRAPH;
    if (t->class != TASK_COPY)
        return t->class == TASK_COMM ? TIMELINE_COMM : TIMELINE_COMPUTE;
    return t->copy == COPY_MEMSET ? TIMELINE_MEMSET : TIMELINE_MEMCPY;
}

static inline bool timeline_is_kernel(const struct device_task *t)
{
    return timeline_class_of(t) <= TIMELINE_COMM;
}

struct timeline_quantiles {
    uint64_t n;
    bool has_any; /* else p95 and max mean nothing */
    nanos sum, p95, max;
    double median; /* NAN without values */
};

struct timeline_stream {
    lane_id lane;
    uint32_t device;   /* number among all devices */
    nanos first, last; /* of its work; first > last: none */
    uint64_t kernels;
    nanos busy;                     /* of its kernels */
    nanos sum, longest;             /* of their durations */
    struct timeline_quantiles gaps; /* between its kernels */
    struct interval_set set;        /* merged, of its kernels */
};

/* Causes of a gap: those of the study, and for the time before and behind all steps none. */
enum { GAP_OUTSIDE = IDLE_CAUSES, GAP_CAUSES };

enum { GAP_BANDS = 5 }; /* below 1, 10, 100, 1000 us, and longer */

/* A piece of a gap with one cause. */
struct timeline_gap {
    nanos begin, end;
    uint32_t number;     /* of the gap; pieces of one follow each other */
    uint32_t prev, next; /* slices of the work before and after it, or TIMELINE_NONE */
    uint32_t filled_by;  /* the slice that explains it, or TIMELINE_NONE */
    uint32_t cause;      /* enum idle_cause, or GAP_OUTSIDE */
};

struct timeline_gaps {
    VEC_OF(struct timeline_gap) at;
    struct timeline_quantiles all;               /* of whole gaps */
    uint64_t count[GAP_CAUSES], band[GAP_BANDS]; /* gaps with such a piece */
    nanos total[GAP_CAUSES];
};

struct timeline_launches {
    struct timeline_quantiles latency; /* from the call's start to the kernel's */
    struct timeline_quantiles cost;    /* of the call */
    struct timeline_quantiles queue;   /* the kernel could have run and did not */
    uint64_t overlapped;               /* kernels that started before their call returned */
    uint64_t unlinked;                 /* kernels without a launch call */
    uint64_t host_bound;               /* kernels whose stream was empty when they were launched */
    nanos host_bound_gap;
    uint64_t in_launch; /* kernels whose stream ran dry while their launch call was under way */
    nanos in_launch_gap;
};

/* One launch of a graph: as nodes, as one row, or both. */
struct timeline_graph {
    uint32_t call;       /* TIMELINE_NONE: not recorded */
    int64_t correlation; /* -1: not known */
    uint32_t first;      /* slice of its first node, or of its row */
    int64_t id;          /* of the graph; -1: not known */
    nanos begin, end;
    uint64_t nodes;
    nanos node_busy, gap_end; /* union of the nodes, and where it ends so far */
    bool has_row;             /* recorded as one row */
};

struct timeline_graphs {
    VEC_OF(struct timeline_graph) at; /* by time */
    uint64_t launches, with_nodes, rows;
    uint64_t calls_without_work; /* launch calls of which nothing was recorded */
    nanos row_busy;              /* union of all rows */
    struct timeline_quantiles span, node_gap;
};

/* A range on a host thread and the work launched inside it. */
struct timeline_range {
    uint32_t slice;
    uint32_t depth;   /* 0: outermost */
    uint64_t kernels; /* of ranges inside it too */
    nanos begin, end; /* of that work; begin > end: none */
};

/* All kernels of one name. */
struct timeline_name {
    strid name;
    uint32_t slice; /* the first */
    uint64_t n;
    nanos sum, least, most;
};

struct timeline_device {
    int32_t device;
    const struct accounting *account;
    const struct device_task *tasks; /* by begin, cut to the window */
    size_t n;
    uint8_t *flags; /* by task */
    struct interval window;
    uint64_t count[TIMELINE_CLASSES];
    nanos busy, kernel_busy, kernel_sum, busy_of[TIMELINE_CLASSES];
    nanos comm_overlap;                /* of communication with computing */
    nanos memcpy_hidden;               /* of copies with kernels */
    nanos memcpy_compute, memcpy_comm; /* of copies with either sort of kernels */
    uint64_t most_at_once;
    struct timeline_gaps gaps;
    struct timeline_launches launches;
    struct timeline_graphs graphs;
    VEC_OF(struct timeline_name) names; /* by time spent, most first */
    nanos overhead;                     /* of the profiler, in the window */
    uint32_t *sort_of;    /* by task: number of the run's kernel (timeline_out.h); or NULL */
    struct str *stage_of; /* by number of the run's kernel: the stage it belongs to; or NULL */
};

/* Two streams, by number, and how long kernels ran on both. */
struct timeline_pair {
    uint32_t a, b;
    nanos overlap;
};

enum { TIMELINE_PAIRED = 64 }; /* streams of a device that are compared with each other */

struct timeline_choice {
    struct interval window; /* empty: all */
    struct pool *pool;      /* NULL: one thread */
};

struct timeline {
    const struct capture *cap;
    struct study study;
    struct timeline_device *devices;
    size_t n_devices;
    struct timeline_stream *streams;
    size_t n_streams;
    uint32_t *stream_of; /* by lane: number of the stream, or TIMELINE_NONE */
    uint32_t *range_of;  /* by slice of a call: its innermost range; NULL: there are no ranges */
    VEC_OF(struct timeline_range) ranges;
    VEC_OF(struct timeline_pair) pairs;
    uint8_t *names;         /* what names say, by strid; see timeline_in.h */
    struct interval *spans; /* memory of the streams' sets */
    struct arena arena;
};

/* The time of the first range of that name on a host thread; false: there is none with a length. */
bool timeline_find_window(const struct capture *cap, struct str range, struct interval *out);

/* `cap` must outlive the timeline; timeline_free() it. */
struct timeline *timeline_new(const struct capture *cap, const struct timeline_choice *choice);
void timeline_free(struct timeline *t);

/* Counts launches of graphs that left no work on any device. timeline_new() does it for one
 * capture; this is for the captures that one file was split into, one for each device: each has all
 * the calls. */
void timeline_count_empty_graphs(struct timeline *const *list, size_t n);

/* The share of what could be hidden that was: (sum - busy) / (sum - longest). 1: all ran side by
 * side; 0: one after the other; NAN for a single member. */
double timeline_efficiency(const nanos *durations, size_t n, nanos busy);

/* "sync", "launch", ..., "outside_steps"; and what a band is called. */
const char *timeline_cause_name(uint32_t cause);
const char *timeline_band_name(size_t band);

/* The number of a task's stream, and the slice of its launch call or TIMELINE_NONE. */
static inline uint32_t timeline_stream_of(const struct timeline *t, const struct device_task *task)
{
    return t->stream_of[t->cap->slices.lane[task->slice]];
}

static inline uint32_t timeline_call(const struct timeline_device *d,
                                     const struct device_task *task)
{
    return task->call != TASK_NO_CALL ? d->account->host.calls[task->call].slice : TIMELINE_NONE;
}

/* Where launch times of a kernel stand: its call, and when its stream was free. */
struct timeline_launch {
    bool is_known;
    nanos begin, end; /* of the call */
    nanos latency, queue;
};

struct timeline_launch timeline_launch_of(const struct timeline *t, const struct timeline_device *d,
                                          const struct device_task *task, nanos free_at);

#endif
