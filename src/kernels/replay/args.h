/*
 * args - where the arguments of a kernel come from: a user's file, the command line, a dump, what
 * strata knows by itself, or the scene.
 */
#ifndef STRATA_KERNELS_REPLAY_ARGS_H
#define STRATA_KERNELS_REPLAY_ARGS_H

#include "kernels/replay/slots.h"

/* Adds the arguments of a file, {"args": [item, ...]} or the bare list; an object without "args" is
 * an empty list, with a warning. The same from a text, which must stay. */
enum status args_read(struct arena *arena, const char *path, struct slots *out, struct diag *d);
enum status args_parse(struct arena *arena, struct str text, const char *path, struct slots *out,
                       struct diag *d);

/* Writes a file that args_read() takes, and beside it the values of memory that are known:
 * PATH.NAME.bin. */
enum status args_save(const char *path, const struct slots *slots, struct arena *arena,
                      struct words *wrote, struct diag *d);

/* SLOT=VALUE of a command line: replaces a value, or adds one. Floats are packed. */
enum status args_set(struct arena *arena, const char *text, struct slots *out, struct diag *d);

/* Is there a built-in recipe for the scene's module? Its arguments; every slot that the kernel
 * reads must be covered. */
bool args_has_recipe(const struct scene *scene);
enum status args_recipe(struct arena *arena, const struct scene *scene, const struct kernel *kernel,
                        struct slots *out, struct diag *d);

/* Has the scene file arguments of its own? Its tensors with the roles of the orchestration's
 * signature, then its scalars; slots by position. */
bool args_in_scene(const struct scene *scene);
enum status args_scene(struct arena *arena, const struct scene *scene, struct slots *out,
                       struct diag *d);

/*
 * The arguments of one task from what a run of the whole scene has dumped:
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
