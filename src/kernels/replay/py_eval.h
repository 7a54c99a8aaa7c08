/*
 * py_eval - what literals give under the few operations with which modules write paths and lists
 * down. A path is a text.
 *
 * Each returns false for what would have to be run; `out` is then as it was.
 */
#ifndef STRATA_KERNELS_REPLAY_PY_EVAL_H
#define STRATA_KERNELS_REPLAY_PY_EVAL_H

#include "base/tables/tree.h"

/* a + b, a - b, a * b and a / b, which joins paths; 'd' is a // b. */
bool py_eval_binary(struct arena *arena, char op, const struct tree *a, const struct tree *b,
                    struct tree *out);

/* os.path.join(..), Path(..), str(..) and their like; `args` is a list. */
bool py_eval_call(struct arena *arena, struct str function, const struct tree *args,
                  struct tree *out);

/* of.name, or of.name(args) unless `args` is NULL. */
bool py_eval_attribute(struct arena *arena, const struct tree *of, struct str name,
                       const struct tree *args, struct tree *out);

/* of[index] */
bool py_eval_item(const struct tree *of, const struct tree *index, struct tree *out);

/* Appends copies of the children of `from`. */
void py_eval_spread(struct arena *arena, const struct tree *from, struct tree *out);

#endif
