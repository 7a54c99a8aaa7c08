/*
 * counters - counters mode: hardware counters of chosen launches through CUPTI's Range Profiler.
 *
 * Every chosen launch is a range of its own: the profiler is started when the driver enters the
 * launch and stopped when it leaves, and the values are written before the program goes on. Metrics
 * that need more than one pass are spread over launches of the same kernel, or CUPTI runs the
 * kernel again (see metric_set.h). Launches are taken one after the other, whichever thread makes
 * them. Where counters cannot be had, a note says why and the program runs on without.
 */
#ifndef STRATA_INJECT_COUNTERS_H
#define STRATA_INJECT_COUNTERS_H

#include "inject/session.h"

bool counters_start(struct session *s);
void counters_stop(struct session *s);

#endif
