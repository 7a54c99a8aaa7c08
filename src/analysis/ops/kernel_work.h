/*
 * kernel_work - what each kernel computes and moves, and how long that takes at the roof.
 *
 * The work is that of the innermost operator around the launch whose work is known, or what the
 * kernel's own shapes tell. An operator's longest kernel carries all of its FLOP and bytes, so that
 * sums over kernels are sums over operators; the time at the roof is shared among its kernels as
 * their time is.
 */
#ifndef STRATA_ANALYSIS_OPS_KERNEL_WORK_H
#define STRATA_ANALYSIS_OPS_KERNEL_WORK_H

#include "analysis/study.h"
#include "device/device.h"

enum work_state {
    WORK_KNOWN,
    WORK_NO_OPERATOR, /* no operator launched it, or that is not recorded */
    WORK_NO_SHAPES,
    WORK_NO_RULE, /* of no operator around it the work follows from its shapes */
    WORK_NO_FIT, /* far more than the device can do in the time: the shapes are of something else */
    WORK_OTHER,  /* copies and communication */
};

enum { WORK_STATES = WORK_OTHER + 1 };

const char *work_state_name(enum work_state state);

struct kernel_work {
    double flops, bytes;
    double matrix; /* of `flops`: of products, convolutions and attention */
    double peak;   /* nanoseconds for these at the full peak of their type; 0: not known */
    double roof;   /* nanoseconds at the realistic roof, no more than it took; 0: not known */
    uint8_t state; /* enum work_state */
};

struct kernel_works {
    const struct device *device;  /* NULL: not known */
    bool is_assumed;              /* the capture does not name it */
    const struct kernel_work *at; /* by place in study_kernels() */
    nanos by[WORK_STATES];        /* device time of kernels in each state */
};

/* `device` NULL: the one that the capture names, if it is known. */
const struct kernel_works *kernel_works_find(struct study *st, const struct device *device);

#endif
