/*
 * incore_replay_job - one kernel of a larger program, launched alone with chosen arguments.
 *
 * The scene and the arguments become a workspace (kernels/replay/workspace.h), which the vendor's
 * simulator runs; the embedded one runs the same kernel as PTO text instead. Both leave
 * <workspace>/insight_export/OPPROF_<x>/simulator.
 */
#ifndef STRATA_KERNELS_INCORE_INCORE_REPLAY_JOB_H
#define STRATA_KERNELS_INCORE_INCORE_REPLAY_JOB_H

#include "kernels/graph/graph.h"
#include "kernels/replay/workspace.h"

enum replay_backend { REPLAY_AUTO, REPLAY_SIM, REPLAY_MSPROF };

struct incore_replay_job {
    const char *module, *case_name; /* NULL: not given */
    struct kernel_choice choice;
    const char *platform;
    const char *runtime; /* NULL: the scene's */
    const char *out;     /* the workspace; NULL: below strata-out/ */
    const char *cann_home, *pto_isa_root, *soc;
    const char *arg_spec, *dump_dir, *task_id, *pto;
    const char *write_arg_spec; /* only writes the arguments there; NULL: a replay */
    const char *write_graph;    /* also writes what the scene submits; NULL: no */
    bool records;               /* may run the scene's orchestration for the arguments */
    struct words set_args;      /* SLOT=VALUE */
    struct words restore_args;  /* SLOT, "all" or "none": whose values a dump gives */
    int64_t device, launch_count, timeout_s, sim_minutes, blocks;
    enum replay_backend backend;
    bool is_dry;
    bool is_trusted; /* a kernel in C++ needs no sandbox */
    /* The generator of PTOAS. */
    bool is_ptoas;
    const char *ptoas_root, *source_cpp, *kernel_base, *arch, *symbol;
};

struct incore_replay_result {
    struct arena arena;
    const char *workspace; /* NULL: nothing was written */
    const char *simulator; /* NULL: nothing was run */
    const char *backend;   /* sim or msprof; NULL: nothing was run */
    int64_t cycles;        /* of the embedded simulator; 0 otherwise */
    struct scene scene;
    struct kernel kernel;
    struct slots slots;
    struct workspace ws;
    bool has_kernel; /* of the scene; a case of PTOAS has none */
    struct words wrote;
    struct task_graph graph; /* what the scene submits; freed with this */
    bool has_graph;
    const char *args_from; /* in words */
    int64_t task;          /* of the graph; -1: the arguments are not of one */
    size_t n_tasks;        /* of this kernel */
    struct words includes; /* folders that the kernel's source needs */
};

extern const struct schema incore_replay_schema;

/* The result is filled as far as it got, also on failure. */
enum status incore_replay_run(const struct incore_replay_job *job, struct diag *d,
                              struct incore_replay_result *out);
void incore_replay_result_free(struct incore_replay_result *r);

/* Parts in files of their own. */
enum status incore_replay_scene(const struct incore_replay_job *job, struct incore_replay_result *r,
                                struct diag *d);
/* The task runs these kernels of the scene, the first of them on the cube core if it is for one. */
void incore_replay_cores(struct incore_replay_result *r, const int64_t *func_ids, size_t n);
enum status incore_replay_record(const struct incore_replay_job *job,
                                 struct incore_replay_result *r, struct diag *d);
/* Tells why the scene was not recorded, where it may do without. */
void incore_replay_not_recorded(const struct incore_replay_result *r, const struct diag *why,
                                enum severity severity, struct diag *d);
enum status incore_replay_sim(const struct incore_replay_job *job, struct incore_replay_result *r,
                              struct diag *d);
enum status incore_replay_msprof(const struct incore_replay_job *job,
                                 struct incore_replay_result *r, struct diag *d);
enum status incore_replay_ptoas(const struct incore_replay_job *job, struct incore_replay_result *r,
                                struct diag *d);

#endif
