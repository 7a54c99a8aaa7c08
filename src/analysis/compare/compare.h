/*
 * compare - what changed from one capture to another, and whether that is more than noise.
 *
 * Groups of steps that do the same work are matched; the steps of a group are the samples of its
 * metrics and of its operators. A change counts when the medians are far enough apart (the minimum
 * effect) and the samples of the two captures do not mix (analysis/compare/ranksum). Where there
 * are too few steps to tell noise, size alone decides and `p` says so. Rules:
 * docs/analyses/diff.md.
 */
#ifndef STRATA_ANALYSIS_COMPARE_COMPARE_H
#define STRATA_ANALYSIS_COMPARE_COMPARE_H

#include "report/record.h"

struct report;
struct study;
struct compare_rows;

enum side { SIDE_A, SIDE_B, SIDES };

/* Metrics of a step, in the order they are printed. */
enum compare_metric {
    COMPARE_SERVICE,
    COMPARE_BUSY,
    COMPARE_UNDERFEED,
    COMPARE_PRELAUNCH,
    COMPARE_INTERNAL,
    COMPARE_TAIL,
    COMPARE_COMM,    /* union of all collectives, in the step's window */
    COMPARE_KERNELS, /* a number, no time */
    COMPARE_METRICS
};

enum change_kind {
    CHANGE_NONE,  /* the medians are equal, or nearer than the minimum effect */
    CHANGE_NOISE, /* the medians are apart, the samples mix */
    CHANGE_MORE,
    CHANGE_LESS,
};

/* Times in nanoseconds. */
struct change {
    double median[SIDES];
    double spread[SIDES]; /* 1.4826 times the median distance from the median */
    double delta;         /* B less A */
    double relative;      /* to A; NAN when that is 0 */
    double p;             /* of chance alone; NAN: too few samples to tell */
    enum change_kind kind;
};

struct compare_op {
    struct str key;        /* see analysis/ops/ops.h */
    size_t calls[SIDES];   /* in the counted steps of the group */
    nanos total[SIDES];    /* likewise */
    struct change change;  /* of the time in a step */
    double per_step_calls; /* B less A */
};

struct compare_group {
    size_t index[SIDES];   /* in each study's groups */
    size_t steps[SIDES];   /* of the group */
    size_t samples[SIDES]; /* of them counted; edges of the recording stay out */
    double similarity;     /* kernels of a step that are of the same operators, 0 to 1 */
    bool is_same_work;     /* by the rule that puts steps of one capture together */
    bool is_judged;        /* enough samples to tell noise */
    struct change metrics[COMPARE_METRICS];
    struct compare_op *ops; /* by change of time, what got slower first; then by key */
    size_t n_ops;
};

/* An operator over the whole capture; not judged, as its calls are no samples of one thing. */
struct compare_total {
    struct str key;
    size_t calls[SIDES];
    nanos total[SIDES];
    double share[SIDES]; /* of the sum over all kernels */
};

struct compare_options {
    double min_ratio; /* smaller changes count as none: in relation to A */
    nanos min_time;   /* and in time */
    int by;           /* 0, or 1 and an enum op_by: what to compare by besides */
};

struct comparison {
    const char *name[SIDES];
    size_t kernels[SIDES], steps[SIDES];
    int64_t rank;
    struct compare_options options;
    struct compare_group *groups; /* in the order of A */
    size_t n_groups;
    size_t *unmatched[SIDES]; /* indexes of groups without a partner */
    size_t n_unmatched[SIDES];
    struct compare_total *totals; /* by change of the total, most added first; then by key */
    size_t n_totals;
    double service[SIDES];         /* of the matched groups: medians times the steps of A */
    double relative;               /* change of that; NAN when nothing is matched */
    const struct compare_rows *by; /* NULL: not asked for */
};

/* From 1 % and 10 us on. */
struct compare_options compare_defaults(void);

/* What takes time of a study on its own; the two sides may do it side by side. */
void compare_prepare(struct study *st);

/* The result lives in `arena`. */
const struct comparison *compare_find(struct study *a, struct study *b,
                                      struct compare_options options, struct arena *arena);

/* "service_ms", ... as in the JSON document. */
const char *compare_metric_name(enum compare_metric metric);

/* "same", "noise", "slower", "faster", and for numbers "more", "fewer". */
const char *change_name(enum change_kind kind, bool is_time);

/* The group in which a metric grew most, by more than `limit` (0.05: 5 %) and beyond noise; in one
 * group of A or, for SIZE_MAX, in any. NULL when there is none. */
const struct compare_group *compare_gate(const struct comparison *c, size_t group,
                                         enum compare_metric metric, double limit);

struct diagnosis;
void compare_describe(const struct comparison *c, const struct diagnosis *const of[SIDES],
                      struct report *r);

/* The verdict by the device's steps, where the host's marks are none; false where they are. */
bool compare_describe_steps(const struct diagnosis *const of[SIDES], struct report *r);

/* Adds which classes of time changed most, and what limits either run. */
void compare_describe_causes(const struct diagnosis *const of[SIDES], struct report *r);

/* One object of the list "comparisons" of strata.diff/1. */
extern const struct record comparison_record;

#endif
