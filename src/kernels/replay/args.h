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

#endif
