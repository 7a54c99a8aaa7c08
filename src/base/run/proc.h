/*
 * proc - runs an external program and keeps what it said.
 *
 * Programs are given as argument vectors and started directly, never through a shell. Each runs
 * in its own process group with nothing on its standard input and none of our files open, so that
 * a time limit or an interruption ends it together with everything it started: first SIGTERM,
 * then, after a grace period, SIGKILL. Programs it leaves behind on purpose (servers with their
 * output elsewhere) survive a normal end.
 */
#ifndef STRATA_BASE_RUN_PROC_H
#define STRATA_BASE_RUN_PROC_H

#include <stdint.h>

#include "base/diag.h"
#include "base/run/sandbox.h"
#include "base/text/num.h"

/* Zero-initialised members are the defaults. */
struct proc_spec {
    const char *const *argv; /* ends with NULL; argv[0] is looked up along our PATH */
    const char *const *env;  /* "NAME=value" added to our environment, ends with NULL; or NULL */
    const char *folder;      /* where it runs; NULL: where we are */
    const char *log;         /* file for both streams as they come, written at the end; or NULL */
    int64_t limit_ms;        /* 0: no limit */
    int64_t grace_ms;        /* between SIGTERM and SIGKILL; 0: PROC_GRACE_MS */
    size_t keep_max;         /* bytes kept of each stream; 0: LIMIT_PROC_LOG */
    /* What it may see and use, if this system can say so (sandbox_way()); NULL: what we may. */
    const struct sandbox_program *box;
    /* Called some fifty times a second while it runs; false ends it (PROC_STOPPED). Or NULL. */
    bool (*tick)(void *ctx, int pid, nanos elapsed);
    void *tick_ctx;
};

enum { PROC_GRACE_MS = 3000 };

enum proc_end {
    PROC_NOT_STARTED, /* code is an errno */
    PROC_EXITED,      /* code is the exit status */
    PROC_SIGNALLED,   /* code is the signal */
    PROC_TIMED_OUT,   /* code is the limit in ms, cut to an int */
    PROC_CANCELLED,
    PROC_STOPPED, /* by the caller's tick, who also tells why */
};

struct proc_result {
    enum proc_end end;
    int code;
    struct str out, err; /* in the arena, each followed by a NUL byte */
    nanos took;
};

/*
 * Runs a program to its end. ST_OK means it exited with 0; everything else is ST_TOOL, or
 * ST_CANCELLED once cancelled() is true, with the reason in `d` (a caller for whom another exit
 * status is fine looks at `result` and gives a diag of its own; so does one whose tick ended the
 * program, for which nothing is said here). `result` is always filled. The
 * log, capped like a stream, is kept however the program ended, unless it was cancelled.
 */
enum status proc_run(const struct proc_spec *spec, struct arena *arena, struct proc_result *result,
                     struct diag *d);

#endif
