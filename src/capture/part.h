/*
 * part - a cut as a capture of its own, which outlives the whole one.
 */
#ifndef STRATA_CAPTURE_PART_H
#define STRATA_CAPTURE_PART_H

#include "capture/cut.h"

/* Lanes, slices with their attributes, arrows, counters, and the marks, collectives and allocations
 * of the windows; sealed. Totals that a profiler made of the whole run stay behind. */
struct capture *capture_part(const struct cut *cut);

#endif
