/*
 * graphs - the kernels of CUDA graphs, noted when a graph is made ready for launches.
 *
 * A launch of a graph says nothing of its nodes, and the profiler gives one range for each kernel
 * in it, without a name. So the graph is walked when it is instantiated or updated. What is changed
 * in another way afterwards is not known any more.
 */
#ifndef STRATA_INJECT_GRAPHS_H
#define STRATA_INJECT_GRAPHS_H

#include "inject/session.h"

struct graph_kernel {
    const char *name; /* mangled; kept as long as the program lives */
    uint32_t grid[3], block[3], shared;
};

/* Callbacks for calls that make, change and end graphs. */
void graphs_subscribe(struct inject_session *s);

/* Follows such a call; false for other callbacks. */
bool graphs_follow(struct inject_session *s, uint32_t id, const struct cupti_callback_data *data);

/* The kernels of a graph that is ready, in the order of its nodes; NULL: not known. They belong to
 * the graph. */
const struct graph_kernel *graphs_kernels(const void *exec, size_t *n);

#endif
