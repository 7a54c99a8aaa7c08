/*
 * gpu_session - the machine's side of a profiling run: guardian, device, lock, clocks.
 *
 *     code = gpu_session_begin(&s, &want, arena, d);
 *     ... correctness command ...
 *     code = gpu_session_lock_clocks(&s, d);
 *     ... runs, watched through s.watch ...
 *     gpu_session_end(&s, d);                  on every way out
 */
#ifndef STRATA_GPU_COLLECT_GPU_SESSION_H
#define STRATA_GPU_COLLECT_GPU_SESSION_H

#include "driver/clocks.h"
#include "driver/gpu_device.h"
#include "driver/gpu_lock.h"
#include "driver/workload.h"

/* How a profiling run ended: the exit codes of `strata gpu profile`. */
enum gpu_outcome {
    GPU_DONE = 0,
    GPU_PARTIAL = 1, /* a report was written, but something is missing */
    GPU_USAGE = 2,
    GPU_FILE = 3,
    GPU_TOOL = 4,     /* no GPU or driver, a tool is missing, counters are refused */
    GPU_HELD = 6,     /* another run or another profiler has the GPU */
    GPU_LATE = 7,     /* time limit */
    GPU_WORKLOAD = 8, /* the program failed, or its result is wrong */
    GPU_INTERRUPTED = 130,
};

enum gpu_outcome gpu_outcome_of(enum status status);

struct gpu_session_want {
    const char *device;  /* NULL: the first */
    const char *command; /* for the lock file */
    struct clock_want clock;
    double wait_s;
    bool is_shared; /* other programs may use the GPU meanwhile */
    int64_t limit_ms, silence_ms;
    const struct progress *progress;
};

struct gpu_session {
    struct gpu_session_want want;
    struct nvml nvml;
    const char *nvml_why; /* why there is no NVML; NULL when there is */
    struct guardian guardian;
    struct gpu_card info;
    struct gpu_lock lock;
    struct clock_lock clocks;
    unsigned locked_mhz; /* what was locked, also after the end; 0: nothing */
    struct clock_samples samples;
    struct workload_watch watch;
};

enum gpu_outcome gpu_session_begin(struct gpu_session *s, const struct gpu_session_want *want,
                                   struct arena *arena, struct diag *d);
enum gpu_outcome gpu_session_lock_clocks(struct gpu_session *s, struct arena *arena,
                                         struct diag *d);

/* Gives clocks and lock back; harmless at any time after begin. Readings stay until free. */
void gpu_session_end(struct gpu_session *s, struct diag *d);
void gpu_session_free(struct gpu_session *s);

#endif
