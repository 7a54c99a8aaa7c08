/*
 * Launches of CUDA graphs: the kernels of one launch share its call, or its correlation where calls
 * were not recorded; a launch may also be one row of its own.
 */
#include <stdlib.h>

#include "gpu/timeline/timeline_in.h"

struct finder {
    struct timeline *t;
    struct timeline_device *d;
    struct hash launches; /* call or correlation -> launch */
    bool has_node_ids;    /* some work carries the number of its node */
    VEC_OF(nanos) gaps;
    nanos rows_end; /* of the union of rows so far */
};

/* The launch that a node or row is of, which reaches to its end now. */
static struct timeline_graph *launch_of(struct finder *f, const struct device_task *op)
{
    struct timeline_graphs *g = &f->d->graphs;
    int64_t correlation = timeline_link(f->t, op->slice);
    uint32_t call = timeline_call(f->d, op);
    uint64_t key = call != TIMELINE_NONE ? hash_mix(call, 1) : hash_mix((uint64_t)correlation, 2);
    uint32_t i = hash_add(&f->launches, key, (uint32_t)g->at.n);

    if (i == g->at.n)
        vec_push(&g->at, ((struct timeline_graph){.call = call,
                                                  .correlation = correlation,
                                                  .first = op->slice,
                                                  .id = -1,
                                                  .begin = op->begin,
                                                  .end = op->end,
                                                  .gap_end = op->begin}));
    struct timeline_graph *launch = &g->at.at[i];
    launch->end = op->end > launch->end ? op->end : launch->end;
    if (launch->id < 0)
        launch->id = timeline_number(f->t, op->slice, S("graph id"));
    return launch;
}

/* Work was launched by a graph if its call says so, or it has a node's number. */
static bool is_node(const struct finder *f, const struct device_task *op)
{
    uint32_t call = timeline_call(f->d, op);

    if (call != TIMELINE_NONE)
        return (timeline_says(f->t, f->t->cap->slices.name[call]) & NAME_GRAPH) != 0;
    return f->has_node_ids && timeline_number(f->t, op->slice, S("graph node id")) > 0;
}

static void graphs_add_row(struct finder *f, const struct device_task *op)
{
    struct timeline_graphs *g = &f->d->graphs;
    nanos begin = op->begin > f->rows_end ? op->begin : f->rows_end;

    launch_of(f, op)->has_row = true;
    g->rows++;
    if (op->end > begin) {
        g->row_busy = nanos_add(g->row_busy, nanos_sub(op->end, begin));
        f->rows_end = op->end;
    }
}

/* A node widens its launch by what it adds to the union of nodes. */
static void graphs_add(struct finder *f, size_t i)
{
    const struct device_task *op = &f->d->tasks[i];

    if (op->is_row) {
        graphs_add_row(f, op);
        return;
    }
    if (!is_node(f, op))
        return;
    struct timeline_graph *g = launch_of(f, op);
    f->d->flags[i] |= TIMELINE_NODE;
    nanos begin = op->begin > g->gap_end ? op->begin : g->gap_end;
    if (g->nodes > 0 && op->begin > g->gap_end)
        vec_push(&f->gaps, nanos_sub(op->begin, g->gap_end));
    if (op->end > begin)
        g->node_busy = nanos_add(g->node_busy, nanos_sub(op->end, begin));
    g->gap_end = op->end > g->gap_end ? op->end : g->gap_end;
    g->nodes++;
}

/* Work by time, and rows whose nodes are known between it. */
static void graphs_add_all(struct finder *f)
{
    const struct device_tasks *all = &f->d->account->tasks;
    size_t row = 0;

    for (size_t i = 0; i <= f->d->n; i++) {
        nanos until = i < f->d->n ? f->d->tasks[i].begin : INT64_MAX;
        for (; row < all->n_rows && all->rows[row].begin <= until; row++)
            graphs_add_row(f, &all->rows[row]);
        if (i < f->d->n)
            graphs_add(f, i);
    }
}

void timeline_find_graphs(struct timeline *t, struct timeline_device *d)
{
    struct finder f = {.t = t, .d = d, .rows_end = INT64_MIN};
    struct timeline_graphs *g = &d->graphs;

    f.has_node_ids = intern_find(&t->cap->strings, S("graph node id")) != 0;
    graphs_add_all(&f);
    nanos *spans = mem_grow(NULL, sizeof(*spans), g->at.n + 1);
    for (size_t i = 0; i < g->at.n; i++) {
        g->with_nodes += g->at.at[i].nodes > 0;
        spans[i] = nanos_sub(g->at.at[i].end, g->at.at[i].begin);
    }
    g->launches = g->at.n;
    g->span = timeline_quantiles(spans, g->at.n);
    g->node_gap = timeline_quantiles(f.gaps.at, f.gaps.n);
    mem_free(spans);
    vec_free(&f.gaps);
    hash_free(&f.launches);
}

/* Calls that launch a graph, over all threads. */
static uint64_t count_calls(const struct timeline *t)
{
    const struct slices *s = &t->cap->slices;
    uint64_t calls = 0;

    for (lane_id k = 0; k < t->cap->lanes.n; k++) {
        const struct lane *lane = &t->cap->lanes.at[k];
        nanos end = INT64_MIN; /* a runtime call and the driver call inside it are one */
        for (size_t i = lane->first; i < lane->first + lane->n; i++)
            if (s->kind[i] == SLICE_RUNTIME && (timeline_says(t, s->name[i]) & NAME_GRAPH) != 0 &&
                s->begin[i] >= end) {
                calls++;
                end = slices_end(s, i);
            }
    }
    return calls;
}

void timeline_count_empty_graphs(struct timeline *const *list, size_t n)
{
    uint64_t calls = 0, launches = 0;

    for (size_t k = 0; k < n; k++) {
        uint64_t there = count_calls(list[k]);
        calls = there > calls ? there : calls; /* the captures repeat the calls */
        for (size_t i = 0; i < list[k]->n_devices; i++)
            launches += list[k]->devices[i].graphs.launches;
    }
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < list[k]->n_devices; i++)
            list[k]->devices[i].graphs.calls_without_work = calls > launches ? calls - launches : 0;
}
