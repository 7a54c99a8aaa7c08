/*
 * gpu_recorded - what the injection library has left in a folder, gathered over all processes.
 *
 * One file a process; launches, counters and timed runs come out in the order of the files, then
 * of time. A damaged or unfinished file gives what can be read of it.
 */
#ifndef STRATA_FLOW_GPU_RECORDED_H
#define STRATA_FLOW_GPU_RECORDED_H

#include "capture/trace_file.h"
#include "gpu/kernel.h"
#include "input/gpu_trace.h"

/* A launch seen by activity tracing, or the first one of a timed run. */
struct gpu_launch {
    const uint64_t *launch;   /* enum trace_kernel_field */
    struct str name, mangled; /* plain function name, and the whole */
    struct str range;         /* of a timed run */
    int64_t start, duration_ns;
    uint64_t number; /* of a timed run in its process */
};

/* A measured launch; or, where launches of a kernel take turns with the metrics, several that have
 * all of them together. */
struct gpu_counted {
    struct gpu_kernel kernel; /* its name is the plain one */
    struct str mangled;
    uint32_t passes;
    bool is_whole; /* has a value for every metric of its run */
};

struct gpu_recorded {
    size_t files;
    VEC_OF(const char *) paths;
    VEC_OF(struct gpu_launch) launches;
    VEC_OF(struct gpu_launch) runs;
    VEC_OF(struct gpu_counted) counted;
    struct str last_counted; /* the kernel whose counters came last, over all files */
    int64_t last_counted_at;
    VEC_OF(struct trace_note) notes;
    VEC_OF(struct trace_seen) seen;
    uint64_t records, dropped, lost, unfinished; /* unfinished: files without an end */
    const char *chip, *cupti, *driver;           /* "" when not told */
};

/* Texts live in `arena`. A folder without a file is an empty result. */
enum status gpu_recorded_read(const char *folder, struct arena *arena, struct gpu_recorded *out,
                              struct diag *d);
void gpu_recorded_free(struct gpu_recorded *r);

/* The first note with that code; NULL when there is none. */
const struct trace_note *gpu_recorded_note(const struct gpu_recorded *r, const char *code);

/* The resources of a launch, as the rules want them; a metric that the record does not tell stays
 * as it is. */
void gpu_launch_resources(struct gpu_kernel *k, const uint64_t *launch);

/* Whether registers, static shared and local memory are known: activity records tell them, launch
 * callbacks (counters, timed runs) leave them 0. Every kernel has registers. */
bool gpu_launch_is_told(const uint64_t *launch);

#endif
