/*
 * profiler_cost - what recording adds to the host's time, and what repairs cost a host.
 *
 * Constants are measured apart from any capture that is judged: the same loops with and without a
 * profiler (examples/diagnose/profiler-cost.py; examples/diagnose/profiler-cost.json has the rows
 * and docs/whatif.md the fit). They depend on the machine, so estimates carry a range.
 */
#ifndef STRATA_ANALYSIS_DIAGNOSE_PROFILER_COST_H
#define STRATA_ANALYSIS_DIAGNOSE_PROFILER_COST_H

#include "analysis/idle/host_timeline.h"

/* Places of the bounds behind the cost itself. */
enum { PROFILER_COST_LOW = 1, PROFILER_COST_HIGH, PROFILER_COSTS };

struct profiler_cost {
    nanos op;           /* a recorded operator */
    nanos call;         /* a recorded call of the runtime */
    nanos graph_node;   /* a node of a launched graph */
    nanos alloc;        /* an allocation: bookkeeping in the operator around it */
    nanos step;         /* a step of the profiler */
    const char *origin; /* where they were measured */
};

/* The costs of a capture's profiler and their bounds; all zero when it is not known. */
const struct profiler_cost *profiler_cost_of(const struct capture *cap);

static inline bool profiler_cost_is_known(const struct profiler_cost *p)
{
    return p->op > 0;
}

/* A stretch and a call's own time less what recording added; never less than a fifth. */
nanos profiler_cost_stretch(const struct profiler_cost *p, const struct host_call *c,
                            const struct host_call *before, bool begins_step);
nanos profiler_cost_call(const struct profiler_cost *p, const struct host_call *c, nanos body);

#endif
