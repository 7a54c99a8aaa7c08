/*
 * arch_comm - what each stream is for, and how much communication hides behind compute.
 */
#ifndef STRATA_ANALYSIS_ARCH_ARCH_COMM_H
#define STRATA_ANALYSIS_ARCH_ARCH_COMM_H

#include "analysis/arch/arch_markers.h"
#include "base/tables/interval.h"

struct arch_stream {
    uint32_t lane;
    struct str name;
    const char *purpose;
    size_t kernels;
    nanos busy;
    bool is_comm;
    double main_overlap; /* share of its busy time under the main stream's; -1 for the main one */
};

struct arch_comm {
    struct arch_stream *streams; /* main first, then by busy time */
    size_t n_streams;
    nanos comm_union, comm_sum, compute_union, hidden;
    double hidden_fraction, hidden_by_sum; /* 0 when there is no communication */
    nanos exposed;
    nanos kernel_sum, wall;
    double sum_over_wall;
    size_t main_streams; /* streams that hold markers */
    const char *verdict; /* "well hidden", ..., "no communication" */
    /* communication.json, when there is one */
    bool has_told;
    size_t told_ops;
    nanos told_elapse;
    double told_megabytes, told_gbps;
};

const struct arch_comm *arch_comm_find(struct study *st, const struct arch_ops *ops,
                                       const struct arch_markers *markers);

/* "well hidden", "partly hidden" or "exposed". */
const char *arch_hidden_name(double fraction);

#endif
