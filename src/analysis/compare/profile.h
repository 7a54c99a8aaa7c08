/*
 * profile - what a comparison needs of one run: its units of work, how long each takes, and what
 * the time went to. Made of a study, or read from a baseline, which holds profiles as JSON.
 *
 * Units are the steps that are marked, in windows of the device (analysis/diagnose/accounting), the
 * first left out when there are more. Where none are marked a kernel that comes back after equally
 * many others cuts them (an anchor). Each instant of a unit is claimed once: by compute before a
 * collective before a copy, of one class by what began first; the rest is idle, by its cause. So
 * parts add up to the unit to the nanosecond.
 */
#ifndef STRATA_ANALYSIS_COMPARE_PROFILE_H
#define STRATA_ANALYSIS_COMPARE_PROFILE_H

#include "base/tables/tree.h"
#include "ops/kernel_family.h"
#include "report/record.h"

struct capture;
struct study;

/* Metrics of a unit, in the order they are printed. */
enum unit_metric {
    UNIT_LENGTH,
    UNIT_BUSY,
    UNIT_IDLE,
    UNIT_PRELAUNCH, /* idle before the first task */
    UNIT_INTERNAL,
    UNIT_TAIL,
    UNIT_COMM,    /* of collectives, hidden time too */
    UNIT_KERNELS, /* a number, no time */
    UNIT_METRICS
};

enum part_class { PART_COMPUTE, PART_COMM, PART_COPY, PART_IDLE };

enum { PART_CLASSES = PART_IDLE + 1 };

/* What claims time of units; sums over them. */
struct profile_part {
    struct str operator, kernel; /* of idle time: its cause, as kernel */
    int64_t class;
    nanos claimed;
    nanos busy; /* durations, with time that others claim */
    int64_t calls;
};

/* Units that do the same work. */
struct profile_kind {
    struct str name;              /* "g0"; of an anchor: the kernel */
    struct str label;             /* "step", "decode step", "unit" */
    nanos *metrics[UNIT_METRICS]; /* by unit, in the order of time */
    size_t n;
    struct profile_part *parts; /* by operator and kernel */
    size_t n_parts;
    double work;      /* floating point operations of products, convolutions and attention in a
                         unit; NAN: of some of them it is not known */
    double variation; /* of an anchor: of the number of kernels from call to call */
    int64_t distance; /* likewise: the median of it */
};

enum unit_source { UNITS_MARKED, UNITS_REPEATED, UNITS_NONE };

struct profile_family {
    int64_t calls;
    nanos time;
};

struct profile_keys {
    int64_t *at; /* ascending, each once */
    size_t n;
};

struct profile {
    struct str name, device, software, options;
    int64_t rank, world;
    int64_t kernels, steps;
    nanos span;
    enum unit_source source;
    struct profile_kind all;    /* every unit; of repeated units none */
    struct profile_kind *kinds; /* of marked units by time, largest first; else anchors */
    size_t n_kinds;
    struct profile_keys operators; /* with the shapes of their inputs, where recorded */
    struct profile_keys tensors;   /* shapes of inputs that are no scalars */
    struct profile_family families[KERNEL_FAMILIES];
};

/* Without marks, or for `is_unmarked`, by anchors. The result lives in `arena`. */
const struct profile *profile_make(struct study *st, bool is_unmarked, struct arena *arena);

/* Fills the operators and tensors of a profile. */
void profile_find_keys(const struct capture *cap, struct arena *arena, struct profile *out);

/* Units whose work differs by more do not do the same: other batches, other lengths. */
#define PROFILE_SAME_WORK 0.98

/* Of each task of the accounting; NAN for a product of which it is not known. `place` is that of a
 * slice in study_kernels(), or OP_TREE_NONE. */
const double *profile_work_of_tasks(struct study *st, const uint32_t *place, struct arena *arena);

/* The smaller over the larger; NAN: one of them is not known, or neither has any. */
double profile_work_shared(double a, double b);

const char *unit_metric_name(enum unit_metric metric);
const char *part_class_name(enum part_class class);
const char *unit_source_name(enum unit_source source);

/* Profiles of a baseline: strata.baseline/2. */
struct profile_list {
    const struct profile **at;
    size_t n;
};

extern const struct schema profile_schema; /* of a struct profile_list */

/* What is wrong with a file, for a message; NULL: nothing. */
const char *profile_read(struct arena *arena, const struct tree *file, struct profile_list *out);

#endif
