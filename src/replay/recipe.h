/*
 * recipe - arguments that strata knows by itself, and those a scene file lists.
 */
#ifndef STRATA_REPLAY_RECIPE_H
#define STRATA_REPLAY_RECIPE_H

#include "replay/slots.h"

/* Is there a built-in recipe for the scene's module? */
bool recipe_is_known(const struct scene *scene);

/* The built-in arguments of a paged-attention kernel; every slot it reads must be covered. */
enum status recipe_build(struct arena *arena, const struct scene *scene,
                         const struct kernel *kernel, struct slots *out, struct diag *d);

/* Has the scene file arguments of its own? */
bool scene_has_args(const struct scene *scene);

/* The tensors of a scene file with the roles of the orchestration's signature, then its scalars;
 * slots by position. */
enum status scene_args(struct arena *arena, const struct scene *scene, struct slots *out,
                       struct diag *d);

#endif
