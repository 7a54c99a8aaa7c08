/*
 * cluster_path: the chain of work and transfers that decided how long a step took, back from its
 * end, from rank to rank; and what changes to the whole would gain.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/ranks/cluster.h"

enum { PIECES = 4096 };

struct walk {
    const struct cluster *c;
    VEC_OF(struct cluster_piece) list;
};

static void add_piece(struct walk *w, const char *what, int64_t rank, double end, double time,
                      const struct cluster_node *node)
{
    struct cluster_piece piece = {.rank = rank,
                                  .what = what,
                                  .begin_ns = end - time,
                                  .time_ns = time,
                                  .collective = COLLECTIVE_OTHER};

    if (node != NULL) {
        const struct cluster_group *g = &w->c->model->groups[node->group];
        piece.collective = (enum collective_kind)node->kind;
        piece.group = g->purpose.n > 0 ? g->purpose : g->id;
    }
    if (time > 0 && w->list.n < PIECES)
        vec_push(&w->list, piece);
}

/* The stretch before a call, its parts in a fixed order. */
static void add_stretch(struct walk *w, const struct cluster_member *at, double end)
{
    const struct rank_summary *s = &w->c->model->ranks[at->rank];
    const struct summary_call *c = &s->calls[at->call];
    double idle = (double)(c->idle - c->storage), storage = (double)c->storage;
    double compute = (double)c->compute, other = (double)c->stretch - compute - (double)c->idle;

    add_piece(w, "compute", s->rank, end, compute, NULL);
    add_piece(w, "other", s->rank, end - compute, other, NULL);
    add_piece(w, "storage", s->rank, end - compute - other, storage, NULL);
    add_piece(w, "idle", s->rank, end - compute - other - storage, idle, NULL);
}

/* The node of a step that ends last. */
static uint32_t last_node(const struct cluster_model *m, int32_t step)
{
    uint32_t last = CLUSTER_NONE;

    for (uint32_t i = 0; i < m->n_nodes; i++)
        if (m->nodes[i].step == step && !m->nodes[i].is_lone)
            last = i;
    return last;
}

size_t cluster_path_of(const struct cluster *c, int32_t step, struct cluster_piece **out)
{
    const struct cluster_model *m = c->model;
    struct walk w = {.c = c};
    uint32_t i = step >= 0 ? last_node(m, step) : CLUSTER_NONE;

    while (i != CLUSTER_NONE && m->nodes[i].step == step) {
        const struct cluster_node *node = &m->nodes[i];
        const struct cluster_member *at = &m->members[c->replay.decide[i]];
        add_piece(&w, "transfer", m->ranks[at->rank].rank, node->end, node->end - node->last, node);
        const struct replay_member *by = &c->replay.members[c->replay.decide[i]];
        bool is_queued = c->replay.is_queued[c->replay.decide[i]];
        if (is_queued)
            add_piece(&w, "idle", m->ranks[at->rank].rank, node->last, by->gap, NULL);
        else
            add_stretch(&w, at, node->last);
        uint32_t next = is_queued ? by->queue : by->after;
        i = next < i ? next : CLUSTER_NONE;
    }
    size_t n = w.list.n;
    *out = ARENA_ARRAY(m->arena, struct cluster_piece, n);
    for (size_t k = 0; k < n; k++)
        (*out)[k] = w.list.at[n - 1 - k];
    vec_free(&w.list);
    return n;
}

void cluster_path_find(struct cluster *c)
{
    double best = INFINITY;
    int32_t step = -1; /* the step of median time, which stands for the run */

    for (size_t i = 0; i < c->n_steps; i++) {
        double off = fabs(c->steps[i].time_ns - c->times.median_ns);
        if (off < best && last_node(c->model, (int32_t)i) != CLUSTER_NONE) {
            best = off;
            step = (int32_t)i;
        }
    }
    c->path_step = step >= 0 ? c->model->steps[step] : -1;
    c->n_path = cluster_path_of(c, step, &c->path);
}
