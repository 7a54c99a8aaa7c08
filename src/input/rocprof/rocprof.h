/*
 * rocprof - what the tables and the JSON document of AMD's profilers have in common.
 */
#ifndef STRATA_INPUT_ROCPROF_ROCPROF_H
#define STRATA_INPUT_ROCPROF_ROCPROF_H

#include "input/import.h"

/* The number of a device: 4 of "Agent 4", "GPU 4" and "4". -1: none. */
int32_t rocprof_device(struct str agent);

/* A kernel's name without what the linker adds: " [clone .kd]", ".kd". */
struct str rocprof_kernel_name(struct str name);

/* The thread that made a call. */
lane_id rocprof_thread(struct capture *cap, int64_t pid, int64_t tid);

/* Launch shapes in work-items, as AMD counts a grid; numbers below 1 are unknown. Gives how many
 * attributes it wrote to `set`: grid in workgroups and block. */
size_t rocprof_shapes(struct capture *cap, const int64_t grid[3], const int64_t block[3],
                      struct attr set[2]);

/* What a domain's calls are: "MARKER_CORE_API" has ranges of the user. */
enum slice_kind rocprof_call_kind(struct str domain);

#endif
