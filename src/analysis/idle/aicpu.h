/*
 * aicpu - kernels that ran on the device's control processor, and how far real work hid them.
 */
#ifndef STRATA_ANALYSIS_IDLE_AICPU_H
#define STRATA_ANALYSIS_IDLE_AICPU_H

#include "base/text/num.h"

struct study;

enum aicpu_class { AICPU_MASKED, AICPU_PARTIAL, AICPU_EXPOSED };

struct aicpu_op {
    struct str key;
    size_t calls;
    nanos duration, masked;
    double masked_ratio;
    enum aicpu_class class;
};

/* The AICPU time of one step, counted by the step in which a kernel begins. */
struct aicpu_step {
    size_t calls;
    nanos duration, masked;
    nanos filled_idle; /* time in the window in which nothing but AICPU ran */
    bool is_risk;      /* AICPU_EXPOSED_RISK */
};

struct aicpu {
    struct aicpu_op *ops; /* by exposed time descending, then by key */
    size_t n;
    struct aicpu_step *steps; /* one per step */
};

const struct aicpu *aicpu_find(struct study *st);

/* 0.9 and more is masked, below 0.2 exposed. On integers, so that the limits fall exactly. */
enum aicpu_class aicpu_classify(nanos masked, nanos duration);

/* "AICPU_EXPOSED_NOT_ALLOWED", ... */
const char *aicpu_class_name(enum aicpu_class class);

#endif
