/*
 * gpu_recorded - what the injection library has left in a folder, gathered over all processes.
 *
 * One file a process; launches, counters and timed runs come out in the order of the files, then
 * of time. A damaged or unfinished file gives what can be read of it.
 */
#ifndef STRATA_GPU_COLLECT_GPU_RECORDED_H
#define STRATA_GPU_COLLECT_GPU_RECORDED_H

#include "gpu/judge/variants.h"
#include "input/trace/gpu_trace.h"

struct gpu_recorded {
    size_t files;
    VEC_OF(const char *) paths;
    VEC_OF(struct gpu_launch) launches;
    VEC_OF(struct gpu_launch) runs;
    VEC_OF(struct gpu_counted) counted;
    struct str last_counted; /* the kernel whose counters came last, over all files */
    int64_t last_counted_at;
    struct str hung;    /* the first kernel that did not finish; empty: all did */
    size_t hung_behind; /* launches that waited for it */
    int64_t hung_at;    /* its correlation */
    VEC_OF(struct trace_note) notes;
    VEC_OF(struct trace_seen) seen;
    VEC_OF(struct trace_pc) samples;
    const char *const *reasons; /* of the samples */
    size_t n_reasons;
    uint64_t records, dropped, lost, unfinished; /* unfinished: files without an end */
    const char *chip, *cupti, *driver;           /* "" when not told */
};

/* Texts live in `arena`. A folder without a file is an empty result. */
enum status gpu_recorded_read(const char *folder, struct arena *arena, struct gpu_recorded *out,
                              struct diag *d);
void gpu_recorded_free(struct gpu_recorded *r);

/* The first note with that code; NULL when there is none. */
const struct trace_note *gpu_recorded_note(const struct gpu_recorded *r, const char *code);

#endif
