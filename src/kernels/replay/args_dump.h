/*
 * args_dump - the arguments of one task from what a run of the whole scene has dumped.
 *
 *     struct args_dump_job job = {.folder = "dfx_outputs", .func_id = 4, .is_reliable = true};
 *     struct args_dump task;
 *     args_dump(arena, &job, &task, &slots, d);
 *
 * args_dump.json with args.bin, and tensor_dump.json of older runtimes: in the folder, in its
 * subfolder of that name, or in dfx_outputs. Tensors are as they were before the dispatch, those
 * that are only written as they were afterwards. Values of tensors are restored to the places where
 * the kernel finds them.
 */
#ifndef STRATA_KERNELS_REPLAY_ARGS_DUMP_H
#define STRATA_KERNELS_REPLAY_ARGS_DUMP_H

#include "kernels/replay/slots.h"

struct args_dump_job {
    const char *folder;
    const char *task_id;  /* NULL: the first task of the kernel */
    int64_t func_id;      /* of the kernel; -1: not known */
    bool is_reliable;     /* values of tensors are what they were: not so on a5 */
    const bool *restores; /* of each slot: whatever the dump is; NULL: all of a reliable one */
};

struct args_dump {
    const char *path;
    struct str task;    /* empty: the dump tells no tasks */
    int64_t kernels[3]; /* of the task, by func_id: that of the cube core, then of the vectors */
    size_t n_kernels;
    size_t n_restored, n_left; /* tensors with their values, and without */
};

/* Adds the arguments of the task to `slots`. Old dumps hold no scalars: their slots are told in a
 * warning, since they must be given. */
enum status args_dump(struct arena *arena, const struct args_dump_job *job, struct args_dump *out,
                      struct slots *slots, struct diag *d);

#endif
