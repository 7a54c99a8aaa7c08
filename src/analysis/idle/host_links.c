/* Links between calls, and from calls to tasks. */
#include "analysis/idle/host_timeline.h"

void host_links_queues(const struct hash *queue, const uint32_t *call_of,
                       struct host_timelines *out)
{
    for (size_t i = 0; i < out->n; i++) {
        struct host_call *c = &out->calls[i];
        uint32_t from;
        if (c->enqueued_by == NO_CALL)
            continue;
        uint32_t by = hash_get(queue, c->enqueued_by, &from) ? call_of[from] : NO_CALL;
        const struct host_call *e = by < out->n ? &out->calls[by] : NULL;
        bool is_earlier = e != NULL && e->begin < c->begin && e->end <= c->begin - c->stretch;
        c->enqueued_by = is_earlier ? by : NO_CALL;
        out->at[c->timeline].is_queue |= is_earlier;
        if (!is_earlier || c->op != NO_SLICE)
            continue;
        c->op = e->op;
        c->outer = e->outer;
        c->family = e->family;
        c->is_fp64 = e->is_fp64;
        c->is_float = e->is_float;
        c->is_optimizer = e->is_optimizer;
    }
}

void host_links_tasks(const struct capture *cap, const uint32_t *launch, const uint32_t *call_of,
                      struct device_tasks *tasks, struct host_timelines *out)
{
    for (size_t i = 0; i < tasks->n; i++) {
        struct device_task *t = &tasks->at[i];
        uint32_t from = launch[t->slice];
        if (from != NO_SLICE && call_of[from] < out->n) {
            t->call = call_of[from];
            struct host_call *call = &out->calls[t->call];
            call->first_task = call->tasks == 0 ? (uint32_t)i : call->first_task;
            call->tasks++;
            t->is_graph = call->kind == CALL_GRAPH;
            out->links++;
        }
    }
    for (size_t i = 0; i < tasks->n_rows; i++) {
        uint32_t from = launch[tasks->rows[i].slice];
        if (from != NO_SLICE && call_of[from] < out->n)
            tasks->rows[i].call = call_of[from];
    }
    host_timeline_families(cap, tasks, out);
}
