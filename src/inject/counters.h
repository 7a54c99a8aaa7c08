/*
 * counters - counters mode: hardware counters of chosen launches through CUPTI's Range Profiler.
 *
 * Every chosen launch is a range of its own: the profiler is started when the driver enters the
 * launch and stopped when it leaves, CUPTI replays the kernel when the metrics need more than one
 * pass, and the values are written before the program goes on. Launches are taken one after the
 * other, whichever thread makes them. Where counters cannot be had, a note says why and the program
 * runs on without.
 */
#ifndef STRATA_INJECT_COUNTERS_H
#define STRATA_INJECT_COUNTERS_H

#include "inject/session.h"

bool counters_start(struct session *s);
void counters_stop(struct session *s);

#endif
