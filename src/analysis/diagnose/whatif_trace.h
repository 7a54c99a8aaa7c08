/*
 * whatif_trace - the changed run as a capture, to be drawn beside the recorded one.
 */
#ifndef STRATA_ANALYSIS_DIAGNOSE_WHATIF_TRACE_H
#define STRATA_ANALYSIS_DIAGNOSE_WHATIF_TRACE_H

#include "analysis/diagnose/whatif.h"

/* Tasks and events of the launching threads at their predicted times; tasks that a change removes
 * are left out, other lanes are as recorded. Sealed; for capture_free(). */
struct capture *whatif_trace(struct whatif *w, const struct whatif_change *changes, size_t n);

#endif
