/*
 * limits - every threshold of the diagnosis, in one place; docs/analyses/accounting.md says where
 * each comes from. Times in nanoseconds.
 */
#ifndef STRATA_ANALYSIS_DIAGNOSE_LIMITS_H
#define STRATA_ANALYSIS_DIAGNOSE_LIMITS_H

enum {
    /* Host stretches. */
    LIMIT_LONG_SLICE = 200000,     /* a stretch with an activity this long may be host work */
    LIMIT_LONG_STRETCH = 1000000,  /* a stretch this long is, whatever it holds */
    LIMIT_STRETCH_TIMES = 8,       /* host work lasts so many median stretches, */
    LIMIT_STRETCH_CAP = 2000000,   /* but no longer than this is asked for */
    LIMIT_COMPILE = 5000000,       /* time in ranges of compilers that makes it compilation */
    LIMIT_COMPILE_LONG = 20000000, /* a stretch this long beside a compile call is compilation, */
    LIMIT_NEW_KERNEL = 10,         /* or one with a new kernel in the next launches */
    LIMIT_WRITE_CALLS = 3,         /* calls between host work and the copy of what it made */
    LIMIT_INPUT_BYTES = 65536,     /* host work before a copy of so many bytes made input, */
    LIMIT_INPUT_UNSEEN = 1000000,  /* if nothing of it is recorded before one of so many */
    LIMIT_GROUPS = 64,             /* timelines that threads join; the rest have one each */
    LIMIT_TURNS = 10,              /* threads that overlap in less than a tenth take turns */

    /* Waits for Python's interpreter lock: another thread gets it after a switch interval. */
    LIMIT_SWITCH = 5000000,   /* sys.getswitchinterval() by default */
    LIMIT_SWITCH_LATE = 5,    /* percent of it that each is late at most, */
    LIMIT_SWITCH_MOST = 4,    /* of so many at most, */
    LIMIT_SWITCH_PIECES = 5,  /* with so many pieces or more, */
    LIMIT_SWITCH_SHARE = 60,  /* and this percent of them: by chance one in six is, */
    LIMIT_SWITCH_LONGER = 20, /* this of them of several, and this of one */

    /* Start-up. */
    LIMIT_START_TIMES = 50,     /* a first call lasts so many usual ones of its name, */
    LIMIT_START_USUAL = 20000,  /* which are no longer: others are first calls too, */
    LIMIT_START_CALLS = 4,      /* unless three quarters of so many are, */
    LIMIT_START_LEAST = 200000, /* and this long */
    LIMIT_START_LAUNCH = 5000,  /* what a launch takes where fewer of them are recorded */
    LIMIT_START_LATE = 2,       /* part of a first call that its kernel may begin behind its end */
    LIMIT_START_LOOKUPS = 50,   /* entry points that a library looks up when it is loaded */

    /* Latency of a queue: three times the median gap between queued tasks, in these bounds. */
    LIMIT_QUEUE_TIMES = 3,
    LIMIT_QUEUE_LEAST = 2000,
    LIMIT_QUEUE_MOST = 20000,

    /* A task that begins this long after its call returned waits for something else. */
    LIMIT_LAUNCH_LATE = 1000000,

    /* A task waits for another stream whose work ended this shortly before it began. */
    LIMIT_AWAITED = 15000,
    LIMIT_LOOK_BACK = 64, /* tasks looked at for it */

    /* A copy blocks its call when it ends by the call's end and this, or so much of its own
     * length: the host has filled the last buffer by then. */
    LIMIT_COPY_RETURN = 20000,
    LIMIT_COPY_STAGED = 4,

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
    LIMIT_PINNED_GBPS = 13, /* of pinned copies over a bus that nobody knows: the slowest in use */
    LIMIT_STRETCH_OF_READ = 4, /* host work of a quarter of the read before it belongs to that */
    LIMIT_COPY_START = 2000,   /* before the first byte of a copy moves */
    LIMIT_ASYNC_COPY = 10000,  /* of the call of a copy that does not block */
    LIMIT_BATCH = 10,          /* copies to the device in a step that could be one, */
    LIMIT_BATCH_BYTES = 65536, /* up to this each */
    LIMIT_TENSOR_ROOF = 65,    /* percent of peak that products in TF32 reach, measured: 52 to 77 */
    LIMIT_GEMM_ROOF = 72,      /* the same in 16 bits, measured: 62 to 78 */
    LIMIT_CONV_TF32_ROOF = 40, /* of convolutions in TF32, measured: 21 to 64, */
    LIMIT_CONV_ROOF = 55,      /* and in 16 bits: 38 to 75 */
    LIMIT_MEMORY_ROOF = 85,    /* percent of bandwidth */
    LIMIT_LEAST_KERNEL = 3000, /* no kernel is shorter */
    LIMIT_UNSHAPED_PRODUCT = 4, /* tensor cores are so many times faster at most, without shapes */
    LIMIT_SIMT_ROOF = 85,       /* percent of the plain fp32 peak that products reach */
    LIMIT_TF32_WORTH = 150,     /* percent of that peak from which on TF32 is worth a change */
    LIMIT_INEFFICIENT = 150,    /* percent of its time at the roof that a product may take, */
    LIMIT_INEFFICIENT_LEAST = 20000, /* if it lasts this long */
    LIMIT_CONSUMERS = 8,             /* calls after a convolution that may show its output */
    LIMIT_SORT_ROOF = 7,             /* top-k of a tensor: percent of bandwidth, measured, */
    LIMIT_SORT_START = 85000,        /* and what a tensor of no size takes */
    LIMIT_INDEX_ROOF = 20,           /* the same of masks in place of indexes */
    LIMIT_INDEX_START = 12000,
    LIMIT_FP32_VECTORIZED = 50,  /* percent of a kernel's time once doubles are floats, measured: */
    LIMIT_FP32_ELEMENTWISE = 70, /* elementwise kernels with and without wide loads, */
    LIMIT_FP32_REDUCE = 60,      /* sums, */
    LIMIT_FP32_NORM = 33,        /* softmax and norms, */
    LIMIT_FP32_LAYOUT = 85,      /* copies that change a layout */
    LIMIT_CHAIN = 3,             /* kernels of a chain that are worth fusing */
    LIMIT_ATTENTION_PARTS = 4,   /* products and softmaxes from one product to the next */
    LIMIT_SCORES = 64,           /* sizes of scores that are looked for */
    LIMIT_ATTENTION_ROOF = 40,   /* percent of peak of fused attention in 16 bits, measured, */
    LIMIT_ATTENTION_WIDE = 60,   /* and with heads of 128 */
    LIMIT_ATTENTION_HEAD = 128,
    LIMIT_ATTENTION_SIMT = 50, /* of the plain fp32 peak in 32, measured: 44 to 68 */
    LIMIT_ATTENTION_LEAST = 5000,
    LIMIT_OPTIMIZER_KERNELS = 30,
    LIMIT_OPTIMIZER_RARE = 4,    /* an operator of every parameter is so much rarer than another */
    LIMIT_ADAM_ROOF = 45,        /* percent of bandwidth of a fused optimizer, measured */
    LIMIT_ADAM_BYTES = 28,       /* an element: reads and writes of value, gradient, moments */
    LIMIT_ADAM_HOST = 230000,    /* host time of a fused step, measured, */
    LIMIT_ADAM_PARAMETER = 4900, /* and for each parameter */
    LIMIT_SGD_BYTES = 20,
    LIMIT_SGD_ROOF = 60,
    LIMIT_SGD_HOST = 60000, /* measured with momentum */
    LIMIT_SGD_PARAMETER = 2600,

    /* Steps. */
    LIMIT_SLOW_STEPS = 4, /* fewer steps have no usual time */
    LIMIT_KIND_RATIO =
        2, /* steps of equal kernels that compute so many times as long have more work */
    LIMIT_LIKE_STEPS = 3,  /* so many of equal work have a usual time of their own */
    LIMIT_SLOW_STEP = 130, /* percent of the median that a slow step takes at least, */
    LIMIT_SLOW_SPREAD = 5, /* and so many median deviations more than it */
};

#endif
