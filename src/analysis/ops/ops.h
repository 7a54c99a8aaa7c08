/*
 * ops - kernels put together by what they do, and ranked.
 *
 * Two rankings, because one misleads: by duration plus wait (what the timeline loses around an
 * operator) and by duration alone (what the operator itself costs). An operator that hardly runs
 * and mostly waits is a wait anchor: the gap lies before it, it is no hotspot.
 */
#ifndef STRATA_ANALYSIS_OPS_OPS_H
#define STRATA_ANALYSIS_OPS_OPS_H

#include "base/tables/intern.h"
#include "base/text/num.h"

struct study;

struct op {
    struct str key; /* operator type, or the name without its trailing number */
    strid core;     /* of the first call */
    size_t calls;
    nanos duration;      /* of all calls */
    size_t waited_calls; /* calls with a known wait; the averages below are over these */
    nanos waited_duration, wait, polluted_wait;
    double duration_us_avg, wait_us_avg, total_cost_us_avg, wait_ratio;
    size_t cost_rank, duration_rank; /* from 1 */
    bool is_anchor;                  /* a false hotspot */
    bool is_polluted;                /* some of its wait lies beside communication */
    size_t example;                  /* slice number of its first call */
};

struct ops {
    struct op *by_cost; /* total_cost_us_avg descending, then by key */
    size_t n;
    const struct op **by_duration; /* total duration descending, then by key */
    nanos kernel_sum;              /* of all kernels */
};

/* The operators of the kernels number `from` to `to` of study_kernels(). */
const struct ops *ops_find(struct study *st, size_t from, size_t to);

/* "MatMul_12" and "MatMul12" are "MatMul"; a name of digits alone stays. */
struct str op_without_number(struct str name);

/* What kernels are called when they are put together: a small number for each. */
struct op_names {
    struct str *text;    /* by number; 0 is the empty name */
    uint32_t *of_kernel; /* for each kernel of study_kernels() */
    uint32_t *place;     /* by number, for counting: 0 outside of ops_find() */
    size_t n;
};

const struct op_names *ops_names(struct study *st);

#endif
