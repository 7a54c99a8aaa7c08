/*
 * whatif - what a repair would be worth: the replay of the run with one thing changed.
 *
 * Each change edits the durations and edges of a replay. Results come twice: for the run as it was
 * recorded, and for an estimate of it without the profiler (profiler_cost.h). docs/whatif.md lists
 * the changes, their constants and how well they predict.
 */
#ifndef STRATA_ANALYSIS_DIAGNOSE_WHATIF_H
#define STRATA_ANALYSIS_DIAGNOSE_WHATIF_H

#include "analysis/diagnose/profiler_cost.h"
#include "analysis/diagnose/trace_replay.h"
#include "analysis/ops/operator_work.h"
#include "base/run/pool.h"
#include "device/device.h"

struct study;

enum whatif_id {
    WHATIF_NO_LAUNCH_COST,
    WHATIF_NO_SYNC,
    WHATIF_NO_ALLOC,
    WHATIF_NO_COMPILE,
    WHATIF_INPUT_READY,
    WHATIF_PINNED_COPIES,
    WHATIF_OVERLAP_COPIES,
    WHATIF_OVERLAP_COMM,
    WHATIF_NO_STREAM_WAIT,
    WHATIF_NO_COPIES,
    WHATIF_GEMM_AT_ROOF,
    WHATIF_FUSE_ELEMENTWISE,
    WHATIF_FUSE_OPTIMIZER,
    WHATIF_DROP_LAYOUT,
    WHATIF_FUSE_ATTENTION,
    WHATIF_EVEN_STEP,
    WHATIF_FAMILY_AT_ROOF,
    WHATIF_NO_FP64,
    WHATIF_NO_AICPU,
    WHATIF_NO_NONZERO,
    WHATIF_NO_START_UP,
    WHATIF_NO_COMM,
    WHATIF_NO_TRANSFERS,
};

enum {
    WHATIFS = WHATIF_NO_TRANSFERS + 1,
    WHATIF_GREEDY = 5,
    WHATIF_THREADS = 4, /* each has the times and changes of all nodes: 34 bytes a node */
};

struct whatif_change {
    enum whatif_id id;
    /* Name of an operator or call; of input_ready also a class of host work ("input"), of
     * family_at_roof a family, of even_step a step; empty: everywhere. */
    struct str site;
};

/* A model of one capture, ready to be changed. */
struct whatif {
    const struct capture *cap;
    const struct accounting *a;
    const struct trace_replay *replay;
    const struct profiler_cost *cost;
    const struct device *device; /* NULL: not in the table */
    bool is_device_assumed;      /* the capture does not name it */
    struct replay_times times;   /* and the change of the run that was made last */
    struct replay_change change;
    nanos *ends;
    uint32_t first;       /* node of the first task of the steps */
    uint32_t before;      /* last node before the first step, on the thread that launches it */
    nanos before_end;     /* in the unchanged replay; what moves it is not a saving of the step */
    nanos profiled, bare; /* step time of the unchanged replay */
    bool is_bare;         /* the run that is being changed is the one without the profiler */
    struct operator_works works;
    struct pool *pool; /* for several runs at a time; NULL: one after the other */
};

/* Step time of a changed run, recorded and estimated without the profiler; nanoseconds. */
struct whatif_result {
    const char *change; /* "no_sync" */
    struct str site;
    nanos profiled, bare;
    nanos bare_low, bare_high;      /* the estimate with the profiler's cost at its bounds */
    double saving, profiled_saving; /* shares: of the estimate without the profiler, as recorded */
    const char *bound;              /* why it is an upper bound; NULL: it is a prediction */
    bool is_calibrated;             /* the profiler's cost is known; else `bare` means nothing */
    /* As the diagnosis has the cause that it repairs (whatif_answer.h). */
    const char *cause; /* NULL: none that is listed */
    int reading;       /* enum saving_bound */
    int confidence;    /* enum confidence */
};

/* Reads "no_sync:aten::item"; false when no change has that name. */
bool whatif_parse(struct str text, struct whatif_change *out);

/* Every change, those that have classes or families of sites once for each; gives how many. */
enum { WHATIF_CANDIDATES = WHATIFS + 8 };
size_t whatif_candidates(struct whatif_change out[WHATIF_CANDIDATES]);

/* `st` and the accounting outlive it. */
void whatif_init(struct whatif *w, struct study *st, const struct accounting *a);
void whatif_fini(struct whatif *w);

/* Several changes at once; the result is named after the last. Bounds are left out. */
struct whatif_result whatif_run(struct whatif *w, const struct whatif_change *changes, size_t n);

/* The same with bounds. */
struct whatif_result whatif_run_bounded(struct whatif *w, const struct whatif_change *changes,
                                        size_t n);

/* Each of the candidates by itself. */
void whatif_run_each(struct whatif *w, const struct whatif_change *candidates, size_t n,
                     struct whatif_result *out);

/* The first of the changes, the first two, and so on. */
void whatif_run_growing(struct whatif *w, const struct whatif_change *changes, size_t n,
                        struct whatif_result *out);

/* Gives a result of whatif_run() its bounds. */
void whatif_bound(struct whatif *w, const struct whatif_change *changes, size_t n,
                  struct whatif_result *result);

/* The best of `candidates`, whose results by themselves are `single`, then the best on top of it,
 * and so on while it saves at least `least`; gives how many. Savings of each are on top of those
 * before it, so that they add up. */
size_t whatif_greedy(struct whatif *w, const struct whatif_change *candidates,
                     const struct whatif_result *single, size_t n, double least,
                     struct whatif_result out[WHATIF_GREEDY]);

/* Begin of the first step in the run made last. */
nanos whatif_begin(const struct whatif *w);

/* Makes the run with these changes, as recorded, the last one. */
void whatif_times(struct whatif *w, const struct whatif_change *changes, size_t n);

/*
 * whatif_trace - the changed run as a capture, to be drawn beside the recorded one.
 */

/* Tasks and events of the launching threads at their predicted times; tasks that a change removes
 * are left out, other lanes are as recorded. Sealed; for capture_free(). */
struct capture *whatif_trace(struct whatif *w, const struct whatif_change *changes, size_t n);

#endif
