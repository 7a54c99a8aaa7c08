/*
 * core_summary - the counters that the simulator's core model leaves at its end: the lines of
 * core<N>_summary_log and core<N>.<sub>_su_perf_summary_log. docs/formats/core-summary.md
 *
 *     struct str rest = text;
 *     while (core_summary_next(&rest, &counter)) ...
 */
#ifndef STRATA_INPUT_INCORE_CORE_SUMMARY_H
#define STRATA_INPUT_INCORE_CORE_SUMMARY_H

#include <stdint.h>

#include "base/str.h"

struct core_counter {
    struct str name; /* "mte2_cubecore0_su_busy_cycle", "kernel_total_ticks" */
    struct str sub;  /* "cubecore0": the part of the name that says where; empty: the whole core */
    struct str pipe; /* "MTE2" when it is the busy time of a pipe, else empty */
    int64_t value;
};

/* The next counter; false when there is none. Other lines are passed over. */
bool core_summary_next(struct str *rest, struct core_counter *out);

/* Whether a file is called like such a log, and like the one with busy times. */
bool core_summary_is_log(struct str name);
bool core_summary_has_busy(struct str name);

#endif
