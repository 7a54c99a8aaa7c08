/*
 * boundary - idle time that may only be an edge of the recording.
 *
 * A gap that touches the begin or the end of a capture says more about when the profiler was
 * switched on than about the run: it is reported, and never blamed on the host.
 */
#ifndef STRATA_ANALYSIS_STEPS_BOUNDARY_H
#define STRATA_ANALYSIS_STEPS_BOUNDARY_H

#include <stdbool.h>

#include "base/text/num.h"

struct study;

struct boundary {
    nanos epsilon;          /* "touches" means this near: 1 ms, or 0.5 % of a short span */
    const bool *is_bubble;  /* for each bubble of study_bubbles() */
    const bool *is_partial; /* for each step: PARTIAL_CAPTURE_BOUNDARY */
};

/* Use study_boundary(), which remembers it. */
const struct boundary *boundary_find(struct study *st);

#endif
