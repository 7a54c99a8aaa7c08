/*
 * evidence - what the host and the waiting device did while no kernel ran.
 *
 * For every listed bubble three sets of events are laid over it: host work of any kind, the part
 * of it that is synchronisation or copying, and the part that is communication (device waits
 * included). Each gives the share of the bubble that the union of its events covers. Shares are
 * facts; what they may mean is in the labels, which begin with "possible" and never exclude one
 * another. Formulas: docs/analyses/anomaly.md.
 */
#ifndef STRATA_ANALYSIS_IDLE_EVIDENCE_H
#define STRATA_ANALYSIS_IDLE_EVIDENCE_H

#include "base/tables/intern.h"
#include "base/text/num.h"

struct study;

/* Suspected causes of a bubble, as a mask, in the order they are printed. */
enum label {
    LABEL_SYNC_OR_H2D = 1,
    LABEL_COMM_WAIT = 2,
    LABEL_UNTRACED_HOST = 4,
    LABEL_LAUNCH_LAG = 8,
    LABEL_PYTHON_SERIAL = 16,
    LABEL_INSUFFICIENT = 32,
};

enum { LABEL_COUNT = 6, EVIDENCE_OPS = 5 };

struct evidence_op {
    strid name;
    nanos overlap;
};

/* Shares are NAN where the capture has no host events at all. */
struct evidence {
    double host, sync, comm;
    double parallelism;                   /* threads at work per time at work; NAN when none was */
    struct evidence_op ops[EVIDENCE_OPS]; /* host events with the largest overlap */
    size_t n_ops;
    unsigned labels; /* mask of enum label */
};

/* One entry for each bubble of study_bubbles(), in its order. O(host events + bubbles * nesting
 * depth), besides sorting. */
const struct evidence *evidence_find(struct study *st);

/* The labels that shares give rise to; NAN counts as 0, an unknown parallelism as no evidence. */
unsigned evidence_labels(double host, double sync, double comm, double parallelism);

/* "possible_sync_or_h2d", ... */
const char *label_name(enum label label);

#endif
