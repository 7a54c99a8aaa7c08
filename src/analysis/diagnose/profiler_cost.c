/*
 * Measured costs of recording.
 */
#include "analysis/diagnose/profiler_cost.h"

static const struct profiler_cost unknown[PROFILER_COSTS] = {
    {.origin = "not calibrated for this profiler"},
    {.origin = NULL},
    {.origin = NULL},
};

/* PyTorch's profiler with CPU and CUDA activities: a fit over 36 loops and programs, bare and
 * recorded (docs/whatif.md). The bounds are what single programs showed. */
static const struct profiler_cost kineto[PROFILER_COSTS] = {
    {.op = 1900,
     .call = 1900,
     .graph_node = 1100,
     .alloc = 19000,
     .step = 260000,
     .origin = "PyTorch 2.11, CUDA 13, host of an H200"},
    [PROFILER_COST_LOW] = {.op = 1500, .call = 1000, .graph_node = 900},
    [PROFILER_COST_HIGH] =
        {.op = 2900, .call = 3000, .graph_node = 1300, .alloc = 30000, .step = 500000},
};

const struct profiler_cost *profiler_cost_of(const struct capture *cap)
{
    return str_equal(capture_text(cap, cap->facts.kind), S("kineto")) ? kineto : unknown;
}

/* What is left of a time; the model is a mean, so some of it always stays. */
static nanos less(nanos time, nanos cost)
{
    nanos least = time / 5;

    return time - cost > least ? time - cost : least;
}

nanos profiler_cost_stretch(const struct profiler_cost *p, const struct host_call *c,
                            const struct host_call *before, bool begins_step)
{
    nanos cost = c->ops * p->op + c->calls * p->call + (begins_step ? p->step : 0);

    if (before != NULL && host_call_allocates((enum call_kind)before->kind))
        cost += p->alloc;
    return less(c->stretch, cost);
}

nanos profiler_cost_call(const struct profiler_cost *p, const struct host_call *c, nanos body)
{
    return less(body, c->kind == CALL_GRAPH ? p->call + p->graph_node * c->tasks : p->call);
}
