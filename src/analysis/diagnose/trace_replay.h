/*
 * trace_replay - a model of the run that can be changed and run again.
 *
 * Nodes are host calls with the stretch before them, waits of the host, and device tasks, in an
 * order in which every node follows those it depends on. A task starts when its launch is through
 * (one latency for the whole trace), its stream is free (one gap) and the work it waits for on
 * another stream has ended; a wait returns when its task has ended. One pass gives the times of
 * all nodes. docs/whatif.md says how well an unchanged replay reproduces the recording.
 */
#ifndef STRATA_ANALYSIS_DIAGNOSE_TRACE_REPLAY_H
#define STRATA_ANALYSIS_DIAGNOSE_TRACE_REPLAY_H

#include "analysis/diagnose/accounting.h"

enum replay_kind {
    REPLAY_HOST, /* the stretch before a call, and the call as far as it does not wait */
    REPLAY_WAIT, /* the rest of a call that waits for a task */
    REPLAY_TASK,
};

enum { REPLAY_NONE = UINT32_MAX };

/* A node, 40 bytes; its two times in a run take 16 more. */
struct replay_node {
    nanos dur;      /* of the work itself; of a wait what follows after it */
    uint32_t prev;  /* node before it on its timeline or stream */
    uint32_t cause; /* of a task its launch, of a wait its task, of a call what put it in a queue */
    uint32_t other; /* task of another stream that it waits for */
    uint32_t ref;   /* number of the call or task */
    int32_t lag;    /* from its cause's end to its start; of an unlinked task from prev's */
    int32_t gap;    /* from prev's end to its start, of a task */
    uint8_t kind;   /* enum replay_kind */
    bool is_graph;  /* of a task: its gap is the graph's own */
};

struct trace_replay {
    const struct accounting *a;
    struct replay_node *nodes;
    size_t n, edges;
    uint32_t *node_of_task;
    nanos latency, gap; /* the two constants of the trace */
    nanos signal;       /* from the end of a task to the start of one on another stream */
    nanos handover;     /* from putting work into a queue to taking it out; 0 without queues */
    double identity_error;
};

/* Times of one run, by node, and the pred that decided each: 0 none, 1 prev, 2 cause, 3 other. */
struct replay_times {
    nanos *begin, *end;
    uint8_t *via;
};

/* What a run changes: durations by node, and edges that are dropped. */
enum {
    REPLAY_DROP_CAUSE = 1, /* does not wait for its task */
    REPLAY_DROP_OTHER = 2, /* nor for the other stream */
    REPLAY_GONE = 4,       /* takes no time at all, and no gap */
};

struct replay_change {
    nanos *lead;     /* of a host node the stretch before the call; else what is put before it */
    nanos *dur;      /* the rest of its duration */
    uint8_t *drop;   /* mask */
    uint32_t *prev;  /* the node before it, where that is another one; NULL: as recorded */
    uint32_t *room;  /* for `prev`, once it was needed */
    nanos gap;       /* between tasks of a stream, where it is less than the recorded one */
    bool is_even;    /* slow steps count as the median one, */
    struct str even; /* or the step with this number alone */
};

/* Built from an accounting, which outlives it; lives in the arena. */
struct trace_replay *trace_replay_build(const struct accounting *a, struct arena *arena);

/* The unchanged durations, for editing. */
struct replay_change trace_replay_plain(const struct trace_replay *r);
void replay_change_free(struct replay_change *c);

/* Makes a change the unchanged one again, in the memory it has. */
void replay_change_reset(const struct trace_replay *r, struct replay_change *c);

/* Gives the change an array of predecessors of its own, as recorded. */
void replay_change_own_prev(const struct trace_replay *r, struct replay_change *c);

/* Runs it; `times` has room for r->n nodes each. */
void trace_replay_run(const struct trace_replay *r, const struct replay_change *c,
                      struct replay_times *times);
struct replay_times replay_times_new(size_t n);
void replay_times_free(struct replay_times *t);

/* Ends of the steps' device work in a run: one for each step of the accounting. */
void trace_replay_ends(const struct trace_replay *r, const struct replay_times *t, nanos *ends);

/* The nodes that decided when the last one ended, first to last; gives how many, at most `room`. */
size_t trace_replay_path(const struct trace_replay *r, const struct replay_times *t, uint32_t *out,
                         size_t room);

/* The slice of a node: of its call or task. */
uint32_t trace_replay_slice(const struct trace_replay *r, size_t node);

#endif
