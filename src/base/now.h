/*
 * now - the time that passes, for deadlines, progress and durations. It never decides a result.
 */
#ifndef STRATA_BASE_NOW_H
#define STRATA_BASE_NOW_H

#include "base/num.h"

/* Nanoseconds since some moment in the past; never goes back. */
nanos now_ns(void);

#endif
