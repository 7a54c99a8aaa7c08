/*
 * launch - launches of kernels, as CUPTI's driver callbacks tell them, and which of them count.
 *
 * Counters and event mode measure launches that match the settings: the kernel's name, the device,
 * and the NVTX ranges around them. Ranges are known for each thread from CUPTI's NVTX callbacks;
 * push and pop ranges are followed, with messages as bytes or as registered strings.
 */
#ifndef STRATA_GPU_INJECT_LAUNCH_H
#define STRATA_GPU_INJECT_LAUNCH_H

#include "gpu/inject/session.h"

struct launch {
    const char *name; /* mangled */
    void *context, *stream;
    uint32_t device, context_id, stream_id;
    uint32_t grid[3], block[3], shared;
    void *function;
    void *const *arguments; /* the address of each, while the launch lasts; NULL: not known */
    bool is_graph;
    void *graph;          /* its handle */
    bool is_multi_device; /* cooperative over several devices */
};

/* Callbacks for launches, contexts that end, and NVTX. */
void launch_subscribe(struct inject_session *s);

/* The launch that a driver callback tells of; false for other callbacks. */
bool launch_from(struct inject_session *s, uint32_t id, const struct cupti_callback_data *data,
                 struct launch *out);

/* Whether it matches name and device of the settings, and, where they name ranges, lies in one. */
bool launch_matches(struct inject_session *s, const struct launch *l);

/* Bytes of the allocations that its arguments point into: as much as it can read or write, unless
 * it follows addresses in memory. 0 when that cannot be told. */
uint64_t launch_buffer_bytes(const struct inject_session *s, const struct launch *l);

/* The same as a site of the file. */
uint32_t launch_site(struct writer *w, const struct launch *l);

/* Follows the calls that begin and end a capture; false for other callbacks. */
bool launch_capture(uint32_t id, const struct cupti_callback_data *data);

/* True while any stream is being captured into a graph, by whichever thread: waiting for the device
 * would end the capture. Also when it cannot be told. */
bool launch_is_captured(struct inject_session *s, const struct launch *l);

/* Counts a launch of this name for the end of the file; by one thread at a time. */
void launch_seen(const char *name, bool is_measured);

/* At the end of the file: the names, and a note when fewer than the settings' skip matched. */
void launch_report_seen(struct inject_session *s, uint64_t matched, const char *what);

/*
 * Kernels of graphs. A launch of a graph says nothing of its nodes, and the profiler gives ranges
 * without names. So a graph is walked when it is instantiated or updated; what is changed in
 * another way afterwards is not known any more.
 */
struct graph_kernel {
    const char *name; /* mangled; kept as long as the program lives */
    uint32_t grid[3], block[3], shared;
};

/* Callbacks for calls that make, change and end graphs. */
void graph_subscribe(struct inject_session *s);

/* Follows such a call; false for other callbacks. */
bool graph_follow(struct inject_session *s, uint32_t id, const struct cupti_callback_data *data);

/* The kernels of a graph that is ready, in the order of its nodes; NULL: not known. They belong to
 * the graph. */
const struct graph_kernel *graph_kernels(const void *exec, size_t *n);

/*
 * A graph run node by node. CUPTI gives no ranges for the kernels of a graph; but a launch in which
 * all nodes but one are switched off runs that one, and one such launch for each node, in an order
 * that their edges allow, does the work of the whole graph once. That needs the graph that it was
 * instantiated of, which some programs destroy at once.
 */

/* How many nodes it has that do something; 0: it cannot be run like this. */
size_t graph_steps(const void *exec);
bool graph_step_is_kernel(const void *exec, size_t step);

/* Switches everything off but one step; `step` counts up from 0. False: it failed. */
bool graph_only(const struct cuda *cuda, void *exec, size_t step);

/* Switches on the steps from that one on, and those before off. */
void graph_rest(const struct cuda *cuda, void *exec, size_t step);

/* ---- NVTX ---- */

enum range_change { RANGE_NONE, RANGE_BEGINS, RANGE_ENDS };

/* Follows an NVTX callback. Tells when the outermost of the ranges asked for begins or ends on
 * this thread. */
enum range_change launch_range(struct inject_session *s, uint32_t id,
                               const struct cupti_nvtx_data *data);

/* The range asked for that this thread is in; NULL: none. */
const char *launch_current_range(void);

#endif
