/*
 * limits - every threshold of the diagnosis, in one place; docs/analyses/accounting.md says where
 * each comes from. Times in nanoseconds.
 */
#ifndef STRATA_ANALYSIS_DIAGNOSE_LIMITS_H
#define STRATA_ANALYSIS_DIAGNOSE_LIMITS_H

enum {
    /* Host stretches. */
    LIMIT_LONG_SLICE = 200000,    /* a stretch with an activity this long may be host work */
    LIMIT_LONG_STRETCH = 1000000, /* a stretch this long is, whatever it holds */
    LIMIT_STRETCH_TIMES = 8,      /* host work lasts so many median stretches, */
    LIMIT_STRETCH_CAP = 2000000,  /* but no longer than this is asked for */
    LIMIT_COMPILE = 5000000,      /* time in ranges of compilers that makes it compilation */
    LIMIT_TURNS = 10,             /* threads that overlap in less than a tenth take turns */

    /* Latency of a queue: three times the median gap between queued tasks, in these bounds. */
    LIMIT_QUEUE_TIMES = 3,
    LIMIT_QUEUE_LEAST = 2000,
    LIMIT_QUEUE_MOST = 20000,

    /* A task waits for another stream whose work ended this shortly before it began. */
    LIMIT_AWAITED = 15000,
    LIMIT_LOOK_BACK = 64, /* tasks looked at for it */

    /* A copy blocks its call when it ends by the call's end and this. */
    LIMIT_COPY_RETURN = 20000,

    /* Replay. */
    LIMIT_UNEXPLAINED = 12000, /* a start this late after stream and launch has another reason */
    LIMIT_SYNC_RETURN = 3000,  /* clocks of host and device differ by so much */
    LIMIT_REPLAY_IDLE = 1000,  /* a stream free this long before the launch was idle */
    LIMIT_GAP_DEFAULT = 1000,  /* between tasks of a stream, when none were queued */
    LIMIT_COPY_HEAD = 20000,   /* from a blocking copy's call to its begin, on a free stream */
    LIMIT_QUEUE_FULL = 900,    /* tasks that wait in a queue that is full */
    LIMIT_QUEUE_FULL_CALL = 50000, /* a launch call this long may have waited for room */

    /* What-ifs. Measured ones: examples/diagnose/profiler-cost.py on an H200, see docs/whatif.md.
     */
    LIMIT_WORTH = 1,            /* percent: changes that save less are not listed */
    LIMIT_LINKED = 95,          /* percent of device work whose launch should be recorded */
    LIMIT_DENSE_GAP = 1500,     /* a gap between queued tasks up to this is taken as it is, */
    LIMIT_DENSE_DEFAULT = 500,  /* else tasks of a graph lie this far apart */
    LIMIT_AFTER_ALLOC = 5000,   /* what is left of an operator behind an allocation */
    LIMIT_SMALL_READ = 50000,   /* a copy to the host up to this is a read of a value, */
    LIMIT_LARGE_READ = 100000,  /* from this on one of data */
    LIMIT_LARGE_COPY = 1000000, /* bytes of a copy that shows the rate of the link */
    LIMIT_PINNED_GBPS = 54,     /* of pinned copies, measured: 51.7 to 54.9 GB/s */
    LIMIT_COPY_START = 2000,    /* before the first byte of a copy moves */
    LIMIT_ASYNC_COPY = 10000,   /* of the call of a copy that does not block */
    LIMIT_TENSOR_ROOF = 65,     /* percent of peak that products reach, measured: 52 to 77 */
    LIMIT_MEMORY_ROOF = 85,     /* percent of bandwidth */
    LIMIT_LEAST_KERNEL = 3000,  /* no kernel is shorter */
    LIMIT_UNSHAPED_PRODUCT = 4, /* tensor cores are so many times faster, without shapes */
    LIMIT_CHAIN = 3,            /* kernels of a chain that are worth fusing */
    LIMIT_OPTIMIZER_KERNELS = 30,
    LIMIT_OPTIMIZER_BYTES = 28,   /* an element of Adam: reads and writes */
    LIMIT_OPTIMIZER_ROOF = 45,    /* percent of bandwidth of fused Adam, measured */
    LIMIT_FUSED_HOST = 230000,    /* host time of a fused step, measured, */
    LIMIT_FUSED_PARAMETER = 4900, /* and for each parameter */
};

#endif
