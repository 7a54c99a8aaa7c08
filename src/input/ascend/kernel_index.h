/*
 * kernel_index - finds the kernel of a table that an event of a timeline shows again.
 *
 * A kernel table and a timeline of one run tell the same kernels twice, with times that differ by
 * a nanosecond or two. The table knows more about each, so its slices stay and the timeline's
 * arrows are bound to them.
 */
#ifndef STRATA_INPUT_ASCEND_KERNEL_INDEX_H
#define STRATA_INPUT_ASCEND_KERNEL_INDEX_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/tables/intern.h"
#include "base/text/num.h"

struct capture;
struct kernel_index;

/* The kernels in `cap` so far. Their numbers must not change while the index is in use. */
struct kernel_index *kernel_index_build(const struct capture *cap, struct arena *arena);

/* The kernel of that name that begins at `begin`, give or take 2 ns: the nearest, and of those
 * the first. */
bool kernel_index_find(const struct kernel_index *index, strid name, nanos begin, uint32_t *slice);

#endif
