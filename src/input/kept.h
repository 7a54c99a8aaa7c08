/*
 * kept - captures of one path that stay in memory for several jobs, of several threads.
 *
 * With input_options.kept a job that loads this path gets what an earlier one has read with the
 * same options, and the same diagnostics. Captures are sealed, so jobs share them without locks;
 * what they get is theirs to free as always, which does nothing.
 */
#ifndef STRATA_INPUT_KEPT_H
#define STRATA_INPUT_KEPT_H

#include "input/input.h"

/* Nothing is read yet. NULL when there is no memory. It belongs to no job (base/run/job.h). */
struct input_kept *input_kept_new(const char *path);
void input_kept_free(struct input_kept *kept); /* when no job uses it any more */

/* The one for `path` in a list that ends with NULL; NULL when there is none, also for no list. */
struct input_kept *input_kept_find(struct input_kept *const *list, const char *path);
const char *input_kept_path(const struct input_kept *kept);

/* As input_load_all() and input_load(). */
enum status input_kept_all(struct input_kept *kept, const struct input_options *options,
                           struct diag *d, struct fleet **out);
enum status input_kept_one(struct input_kept *kept, const struct input_options *options,
                           struct diag *d, struct capture **out);

#endif
