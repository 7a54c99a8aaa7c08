/*
 * graph - what a scene submits: tasks with their kernels, tensors, values, blocks and dependencies.
 *
 *     struct graph_job job = {.module = "test_x.py", .case_name = "Case1", .arch = "a2a3"};
 *     struct task_graph g;
 *     if (graph_record(&job, &g, d) == ST_OK) ..       graph_free() it in any case
 *     for each run, for each of its tasks: g.tasks.at[i] ..
 *
 * The Python part of the scene makes the arguments (data/scene/record.py, with a torch that knows
 * shapes, types and whole numbers), the orchestration is compiled for this machine against our own
 * header (data/pto-host/pto_orchestration_api.h) and run once for each submission to a chip. Both
 * run in a sandbox. Nothing is executed on tensors: what a task would compute is zero, so an
 * orchestration that reads results of kernels decides by zeros; graph_task.reads_results tells.
 *
 * Numbers of tasks, buffers and incores are places in the lists here. Everything lives in `arena`.
 */
#ifndef STRATA_KERNELS_GRAPH_GRAPH_H
#define STRATA_KERNELS_GRAPH_GRAPH_H

#include "kernels/replay/slots.h"

enum { GRAPH_DIMS = 5, GRAPH_CORES = 3, GRAPH_NONE = -1 };

/* ---- kernels ---- */

struct graph_incore {
    int64_t func_id;
    struct str name, core_type; /* "aic", "aiv" */
    const char *source;         /* absolute */
    struct str *include_dirs;   /* that it needs besides */
    size_t n_include_dirs;
};

/* An orchestration with the kernels that it may submit. */
struct graph_callable {
    struct str name, function;
    const char *source; /* absolute; NULL: none was given */
    struct graph_incore *incores;
    size_t n_incores;
};

/* ---- memory ---- */

enum graph_memory {
    GRAPH_ARGUMENT, /* a tensor of the scene */
    GRAPH_WINDOW,   /* what other ranks write to */
    GRAPH_CONTEXT,  /* where the windows are: a scalar of a kernel points to it */
    GRAPH_MADE,     /* by a task, when it was submitted */
};

struct graph_buffer {
    struct str name;
    enum graph_memory kind;
    uint64_t bytes;
    const struct slot_type *dtype; /* of its elements, as it was made */
    int64_t maker;                 /* the task; GRAPH_NONE */
    struct str data;               /* its first bytes; empty: those of `fill` */
    double fill;                   /* every element, 0 unless it is known */
    bool is_known;                 /* its values are those of the scene, not zeros in their place */
    int64_t rank;                  /* of a context */
    const int64_t *windows;        /* of a context: the buffer of each rank */
    size_t n_windows;
};

enum graph_role { GRAPH_INPUT, GRAPH_OUTPUT, GRAPH_INOUT, GRAPH_WRITTEN, GRAPH_NO_DEP };

/* A tensor as a task gets it: elements of a buffer. */
struct graph_tensor {
    int64_t buffer;
    uint64_t offset; /* bytes from the start of the buffer to that of the memory it names */
    uint64_t bytes;  /* of that memory */
    uint64_t start;  /* elements from there to its first one */
    enum graph_role role;
    const struct slot_type *dtype;
    size_t rank;
    int64_t shape[GRAPH_DIMS], strides[GRAPH_DIMS];
    int64_t creator; /* the task that made the memory, as the orchestration knows; GRAPH_NONE */
    bool is_manual;  /* orders nothing but the creation */
};

struct graph_scalar {
    uint64_t bits;
    int64_t context; /* the buffer it points to; GRAPH_NONE: a value */
};

/* ---- tasks ---- */

enum graph_kind {
    GRAPH_TASK,
    GRAPH_DUMMY, /* orders others and runs nothing */
    GRAPH_ALLOC, /* makes tensors and runs nothing */
};

/* Why a task comes after another; bits, since there may be several reasons. */
enum graph_reason {
    GRAPH_NAMED = 1,   /* the orchestration says so */
    GRAPH_CREATED = 2, /* the other made the memory */
    GRAPH_WROTE = 4,   /* the other wrote bytes that this one uses */
};

struct graph_dep {
    int64_t task;
    unsigned reasons;
};

/* A part of one of the lists of the graph. */
struct graph_part {
    size_t first, n;
};

struct graph_task {
    enum graph_kind kind;
    int64_t run;
    int64_t kernels[GRAPH_CORES]; /* incores of the run's callable: cube, vector 0, vector 1 */
    int64_t blocks;
    struct graph_part tensors, scalars; /* its slots: the tensors, then the scalars */
    struct graph_part after;            /* tasks that must end first, by number, each once */
    bool is_early;                      /* it may be dispatched before they have */
    bool is_sync_start;                 /* its blocks begin together */
    bool is_manual_scope;               /* only what is named orders it */
    bool reads_results; /* the orchestration read what a kernel would have written before it */
    int32_t condition;  /* 0: always dispatched; else compared: ==, !=, >, <, >=, <= */
    int64_t condition_buffer, condition_target;
    uint64_t condition_offset; /* bytes */
    struct str file;           /* where it is submitted */
    uint32_t line;
};

/* One submission to a chip: its tasks are those of one orchestration, in order. */
struct graph_called {
    int64_t callable, worker;
    struct graph_part tasks;
};

struct task_graph {
    struct arena arena;
    struct str runtime, case_name, scene; /* the class; empty: of a scene file */
    int64_t level;
    struct str *platforms; /* that the case is for; none: any */
    size_t n_platforms;
    struct graph_callable *callables;
    size_t n_callables;
    struct graph_buffer *buffers;
    size_t n_buffers, n_given; /* the scene's are first, then those that tasks made */
    VEC_OF(struct graph_called) runs;
    VEC_OF(struct graph_task) tasks;
    VEC_OF(struct graph_tensor) tensors;
    VEC_OF(struct graph_scalar) scalars;
    VEC_OF(struct graph_dep) deps;
    double python_ms, compile_ms, run_ms;
};

struct graph_job {
    const char *module; /* the scene: Python, or a scene file in JSON with the tensors */
    struct str case_name;
    struct str arch;  /* "a2a3" or "a5" */
    int64_t limit_ms; /* for each part; 0: a minute, which a compiler has always */
    bool is_trusted;
};

/* ST_TOOL without python3 or a compiler, ST_UNSUPPORTED where the scene has nothing to record; the
 * graph is then empty. */
enum status graph_record(const struct graph_job *job, struct task_graph *g, struct diag *d);
void graph_free(struct task_graph *g);

/* Finds `after` of every task, by the rules of the runtime: after those that are named, after the
 * maker of each tensor it uses, and after those that wrote bytes it uses since. Nothing but names
 * counts in a manual scope. */
void graph_order(struct task_graph *g);

/* ---- one kernel ---- */

/* Tasks of a kernel, by its source and number in the scene (-1: any): in order. */
size_t graph_tasks_of(const struct task_graph *g, const char *source, int64_t func_id,
                      struct arena *arena, int64_t **out);

/* Of those the one to look at: the middle one of the shapes that occur most. */
int64_t graph_usual(const struct task_graph *g, const int64_t *tasks, size_t n);

/* The kernel's slots in a task, with the memory and its values. */
void graph_slots(const struct task_graph *g, int64_t task, struct arena *arena, struct slots *out);

const char *graph_memory_name(enum graph_memory memory);
const char *graph_role_name(enum graph_role role);
const char *graph_kind_name(enum graph_kind kind);

/* The whole graph as a document, strata.scene-graph/1. */
extern const struct schema graph_schema;

#endif
