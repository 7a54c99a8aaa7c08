/*
 * groups - steps that do the same work, and what they have in common.
 *
 * Steps belong together when they run nearly the same number of nearly the same operators on the
 * same kinds of cores. Statistics over a group tell a habit from an accident.
 */
#ifndef STRATA_ANALYSIS_STEPS_GROUPS_H
#define STRATA_ANALYSIS_STEPS_GROUPS_H

#include "report/record.h"

struct study;

/* Average and order statistics; times in nanoseconds. */
struct spread {
    double avg, median, p90, p95;
};

/* Metrics of a step that a group keeps statistics of. */
enum group_metric {
    GROUP_SERVICE,
    GROUP_BUSY,
    GROUP_UNDERFEED_RATIO,
    GROUP_PRELAUNCH,
    GROUP_TAIL,
    GROUP_INTERNAL,
    GROUP_LARGEST,
    GROUP_METRICS
};

enum idle_pattern {
    IDLE_PRELAUNCH,
    IDLE_TAIL,
    IDLE_INTERNAL,
    IDLE_INTER_STEP,
    IDLE_MIXED,
    IDLE_NONE,
};

struct group {
    const size_t *steps; /* indexes, in step order */
    size_t n;
    size_t
        counted; /* of them in the statistics: partial steps stay out when two others are there */
    nanos service_sum;
    double underfeed_of_sums; /* idle time of the counted steps over their time */
    struct spread metrics[GROUP_METRICS];
    bool has_bubbles;        /* recurring_bubble_pattern: 60 % of the steps have one */
    bool is_stable;          /* and they stand at the same place: RECURRING_BUBBLE_PATTERN */
    bool has_shape_variants; /* VARIABLE_SHAPE_SAME_TEMPLATE */
    enum idle_pattern pattern, pattern_raw;
};

struct groups {
    struct group *at; /* g0, g1, ... by total service time descending */
    size_t n;
    size_t *of_step; /* the group of each step */
    size_t dominant; /* index, or SIZE_MAX when there is none */
};

/* Metrics as documents and conditions call them, of a struct group. */
extern const struct record group_averages_record, group_spreads_record;

/* Whether steps of so many kernels do the same work when `common` of them are of the same
 * operators: their numbers differ by at most 5 % (or 2), and 95 % are common. */
bool group_same_work(size_t common, size_t kernels_a, size_t kernels_b);

/* The steps that count for a group's statistics, written to `out` (room for g->n): partial ones
 * are left out when two others are there. Gives how many. */
size_t group_counted_steps(struct study *st, const struct group *g, size_t *out);

const struct groups *groups_find(struct study *st);

/* `values` is sorted in place; linear interpolation between order statistics. */
struct spread spread_of(double *values, size_t n);

/* The three averages in nanoseconds to the name of the habit. */
enum idle_pattern idle_pattern_of(double service, double prelaunch, double tail, double internal);
enum idle_pattern idle_pattern_raw(double prelaunch, double tail, double internal);
const char *idle_pattern_name(enum idle_pattern pattern);

#endif
