/*
 * pace - what bounds a recorded kernel, by the rule for simulated ones (report/limits.h).
 *
 * The trace is replayed: an instruction starts when the one before it on its pipe has left room and
 * the flags it waited for are set, plus what else it was late in the trace. Without one resource
 * the replay is shorter, and that is what the resource costs.
 */
#ifndef STRATA_INCORE_PACE_H
#define STRATA_INCORE_PACE_H

#include "incore/flags.h"
#include "report/limits.h"

/* In picoseconds. `arrows` may be NULL: no instruction waited for another pipe. */
void incore_pace(const struct incore_trace *t, const struct incore_lanes *lanes,
                 const struct incore_arrows *arrows, struct limit_list *out);

#endif
