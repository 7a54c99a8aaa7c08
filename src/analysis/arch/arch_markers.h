/*
 * arch_markers - the attention kernels in order of time: one for each layer of each pass, each
 * with its phase (prefill or decode) and the rule that told it.
 */
#ifndef STRATA_ANALYSIS_ARCH_ARCH_MARKERS_H
#define STRATA_ANALYSIS_ARCH_ARCH_MARKERS_H

#include "analysis/arch/arch_family.h"

struct study;

struct arch_marker {
    uint32_t kernel; /* in study_kernels() */
    enum arch_phase phase;
};

struct arch_markers {
    struct arch_marker *at; /* by begin; n is 0 when nothing marks layers */
    size_t n;
    enum marker_class class;
    struct str name;        /* as reported: "FusedInferAttentionScore" */
    const char *phase_rule; /* how phases were told */
    size_t prefill, decode, unknown;
    uint32_t main_lane;  /* stream of most markers; of most compute when there are none */
    size_t main_markers; /* of them on that stream */
    size_t recomputed;   /* dropped: forward kernels run again in a backward pass */
    size_t backward;     /* attention kernels of a backward pass */
    size_t merged;       /* dropped: a second attention kernel of the same layer */
    size_t joined;       /* of these: cross-attention */
};

const struct arch_markers *arch_markers_find(struct study *st, const struct arch_ops *ops);

/* Splits `n` ascending positive values in two clusters of their logarithms. True when they are
 * apart: medians by a factor of 4 or more, the gap more than three times either spread. `*first`
 * is the place of the first value of the upper cluster. */
bool arch_two_clusters(const double *sorted, size_t n, size_t *first);

#endif
