/*
 * compare_metrics - how much of a model's prediction rests on measurements: M1 to M5.
 *
 * n = operator invocations in the predicted trace; a hit is one whose source is a measurement, as
 * it is, interpolated or extrapolated. PARTIAL and a missing source are misses.
 *
 *   M1  hits / n
 *   M2  share of distinct operators that never miss; the members of a fused group count as one
 *   M3  M2 without operators that cost nothing
 *   M4  distinct (operator, shapes) that never miss / all of them, without those that cost nothing
 *   M5  analytic time of the hits / analytic time of all; needs the analytic process in the trace
 *
 * With one mm of three not found and a free view: M1 3/4, M2 1/2, M3 0/1.
 */
#ifndef STRATA_PERFDB_COMPARE_METRICS_H
#define STRATA_PERFDB_COMPARE_METRICS_H

#include "base/json_write.h"
#include "perfdb/compare_trace.h"

struct metrics {
    uint64_t invocations, hits;
    double m1, m2, m3, m4, m5; /* not a number where there is nothing to share */
};

struct metrics metrics_compute(const struct predicted *p);

/* Members "invocations", "hits", "m1" to "m5" of the object being written. */
void metrics_json(struct json_writer *j, const struct metrics *m);

#endif
