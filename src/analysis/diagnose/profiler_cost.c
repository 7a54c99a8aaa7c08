/*
 * Measured costs of recording.
 */
#include "analysis/diagnose/profiler_cost.h"

static const struct profiler_cost unknown = {.origin = "not calibrated for this profiler"};

/* PyTorch's profiler with CPU and CUDA activities. */
static const struct profiler_cost kineto = {
    .op = 2000,
    .call = 3000,
    .graph_node = 1100,
    .alloc = 19000,
    .free = 0,
    .origin = "PyTorch 2.11, CUDA 13, H200 host",
};

const struct profiler_cost *profiler_cost_of(const struct capture *cap)
{
    return str_equal(capture_text(cap, cap->facts.kind), S("kineto")) ? &kineto : &unknown;
}

/* What is left of a time; the model is a mean, so some of it always stays. */
static nanos less(nanos time, nanos cost)
{
    nanos least = time / 5;

    return time - cost > least ? time - cost : least;
}

nanos profiler_cost_stretch(const struct profiler_cost *p, const struct host_call *c,
                            const struct host_call *before)
{
    nanos cost = c->ops * p->op + c->calls * p->call;

    if (before != NULL && before->kind == CALL_ALLOC)
        cost += p->alloc;
    return less(c->stretch, cost);
}

nanos profiler_cost_call(const struct profiler_cost *p, const struct host_call *c, nanos body)
{
    return less(body, c->kind == CALL_GRAPH ? p->call + p->graph_node * c->tasks : p->call);
}
