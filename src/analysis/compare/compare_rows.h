/*
 * compare_rows - two captures by operator, module, shape or whatever `strata ops` groups by, so
 * that runs of other devices or libraries compare whose kernels have other names.
 *
 * Times are device time of kernels that a row launches itself, divided by the steps of each side;
 * with the rest outside they add up to the device time of a step.
 */
#ifndef STRATA_ANALYSIS_COMPARE_COMPARE_ROWS_H
#define STRATA_ANALYSIS_COMPARE_COMPARE_ROWS_H

#include "analysis/compare/compare.h"
#include "analysis/ops/op_stats.h"

struct compare_row {
    struct str name, shapes;
    double calls[SIDES]; /* of a step; kernels where there are no host events */
    double time[SIDES];  /* nanoseconds of a step */
    double delta;        /* B less A */
};

struct compare_rows {
    enum op_by by;
    size_t steps[SIDES];
    double time[SIDES], outside[SIDES]; /* of a step: all of it, and what is in no row */
    double likeness;   /* operator calls of a step that are in both, 0 to 1; below 0: not known */
    bool is_different; /* the two do other work */
    struct compare_row *at; /* largest change first, then by name */
    size_t n;
};

const struct compare_rows *compare_rows_find(struct study *a, struct study *b, enum op_by by,
                                             struct arena *arena);

void compare_rows_describe(const struct compare_rows *c, struct report *r);

extern const struct record compare_rows_record;

#endif
