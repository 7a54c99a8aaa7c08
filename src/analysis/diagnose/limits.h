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
};

#endif
