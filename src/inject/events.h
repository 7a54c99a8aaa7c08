/*
 * events - event mode: runs of kernels timed with CUDA events, nothing else recorded.
 *
 * A run is one pass through an NVTX range asked for, or, without ranges, one matching launch. An
 * event is recorded before the first launch of a run and after its last; which one that is, is
 * known from the run before, and only when runs differ an event follows every further launch.
 * Results are fetched later, when the device is done, in the program's own calls: our thread, which
 * writes the file every period, never calls CUDA.
 */
#ifndef STRATA_INJECT_EVENTS_H
#define STRATA_INJECT_EVENTS_H

#include "inject/session.h"

bool events_start(struct session *s);
void events_stop(struct session *s);

/* After a fork, in the child. */
void events_forked(void);

#endif
