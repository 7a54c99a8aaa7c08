/*
 * trace_ascend - rows of the timelines of Ascend devices: torch_npu, msprof and MindSpore.
 *
 * What a row is follows from the name of its process; MindSpore gives labels instead of names, and
 * before version 2 only fixed process numbers. Its events say nothing of themselves but their name.
 */
#ifndef STRATA_INPUT_TRACE_TRACE_ASCEND_H
#define STRATA_INPUT_TRACE_TRACE_ASCEND_H

#include "base/diag.h"
#include "input/trace/trace_lanes.h"

/* Before classes are asked for: finds rows of MindSpore, and processes that list their collectives
 * whole. Slices from `first` on still have the numbers of rows for lanes and hints for kinds.
 * `has_groups`: collectives are listed whole, if at all: in a table, or by strata. */
void trace_ascend_detect(struct trace_lanes *t, const struct capture *cap, size_t first,
                         bool has_groups);

/* What stands on a row; CLASS_HOST when nothing is known of it. */
enum trace_class trace_ascend_class(const struct trace_lanes *t, const struct capture *cap,
                                    const struct trace_lane *lane,
                                    const struct trace_process *process);

/* Hints of events that only their row explains; slices as above. */
void trace_ascend_hints(const struct trace_lanes *t, struct capture *cap, size_t first);

/* Iterations of the device become marks. `first`: slices that are settled. */
void trace_ascend_marks(struct capture *cap, size_t first);

/* Compares computing and communication with what the file says itself ("Overlap Analysis"). */
void trace_ascend_compare(const struct capture *cap, size_t first, const char *path,
                          struct diag *d);

#endif
