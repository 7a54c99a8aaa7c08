/*
 * waits - the gap before each kernel, as the table says or as it follows from the rows.
 *
 * A wait is the gap to the end of the previous row of the device, over all streams and classes.
 * It is no queueing time: it says where the time line has a hole, and a hole beside an open
 * collective means little.
 */
#ifndef STRATA_ANALYSIS_IDLE_WAITS_H
#define STRATA_ANALYSIS_IDLE_WAITS_H

#include <stdbool.h>

#include "base/text/num.h"

struct study;

struct waits {
    const nanos *at; /* for each kernel of study_kernels(); -1: not known */
    bool is_derived; /* no table has a wait column: computed from the rows */
    nanos *polluted; /* the part of each wait that lies beside communication */
};

/* Finds the waits of a study's capture; use study_waits(), which remembers them. */
const struct waits *waits_find(struct study *st);

#endif
