/*
 * workload - one run of the profiled program, watched from outside.
 *
 * The program gets the environment that gpu/inject/inject.h describes; while it runs, the clocks of
 * the GPU are read every 100 ms, the guardian knows which process group to end if we die, a time
 * limit holds, and a watchdog ends a run whose recording has stood still (a kernel that waits for
 * another one cannot be replayed and hangs).
 */
#ifndef STRATA_DRIVER_WORKLOAD_H
#define STRATA_DRIVER_WORKLOAD_H

#include "base/run/proc.h"
#include "base/run/progress.h"
#include "driver/clocks.h"

enum workload_inject {
    INJECT_NONE,
    INJECT_TRACE,
    INJECT_COUNTERS,
    INJECT_EVENT,
    INJECT_SAMPLES,
};

/* What is the same for all runs of a job. */
struct workload_watch {
    const struct nvml *nvml; /* may be closed */
    struct nvml_gpu *gpu;
    struct clock_samples *samples;
    struct guardian *guardian;
    const struct progress *progress;
    int64_t limit_ms;   /* of one run; 0: none */
    int64_t silence_ms; /* of the watchdog; 0: none */
};

struct workload {
    const char *const *argv;
    const char *log;   /* what the program prints; NULL: nowhere */
    const char *label; /* for the progress line */
    enum workload_inject inject;
    const char *injected;  /* libstrata-inject.so; absolute */
    const char *trace_dir; /* where its files go; made here */
    const char *preset;    /* of a trace: "min", "std", "full" */
    bool is_mono;          /* times of the monotonic clock */
    bool has_modules;      /* GPU code is saved too */
    uint64_t flush_bytes;  /* written before each run of event mode; 0: none */
    const char *kernels;   /* regular expression; NULL: all */
    const char *ranges;    /* NVTX ranges, one a line; NULL: none */
    const char *metrics;   /* with commas */
    uint64_t skip, count, per_kernel;
    unsigned sampling; /* a sample every 2^sampling cycles */
    int passes;
    bool is_replayed; /* kernels are run again for every pass; else their launches take turns */
    int device;       /* only this CUDA device; -1: all */
};

enum workload_end {
    WORKLOAD_DONE,    /* exit status 0 */
    WORKLOAD_FAILED,  /* another status, or a signal */
    WORKLOAD_MISSING, /* could not be started */
    WORKLOAD_LATE,    /* the time limit */
    WORKLOAD_HUNG,    /* the watchdog */
    WORKLOAD_CANCELLED,
};

struct workload_result {
    enum workload_end end;
    int code, signal; /* as far as it ended by itself */
    nanos took;
    struct str out, err;
    uint64_t recorded; /* bytes in trace_dir */
};

/* ST_OK however the program ended; the story of a bad end is in `d` as an error. ST_IO when a file
 * cannot be written. */
enum status workload_run(const struct workload *run, const struct workload_watch *watch,
                         struct arena *arena, struct workload_result *result, struct diag *d);

/* Where libstrata-inject.so is: STRATA_INJECT_PATH, beside the program, or where it is installed;
 * NULL when it is nowhere. */
const char *workload_library(struct arena *arena);

/* The environment of a run, ending with NULL; for --dry-run too. */
const char *const *workload_environment(const struct workload *run, struct arena *arena);

#endif
