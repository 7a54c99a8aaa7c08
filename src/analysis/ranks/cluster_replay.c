/*
 * cluster_replay: one pass over the collectives in the order of their ends.
 */
#include "analysis/ranks/cluster_replay.h"

#include <math.h>

static size_t count_members(const struct cluster_model *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n_nodes; i++)
        n += m->nodes[i].n;
    return n;
}

struct cluster_change cluster_change_new(const struct cluster_model *m)
{
    return (struct cluster_change){ARENA_ARRAY(m->arena, double, count_members(m)),
                                   ARENA_ARRAY(m->arena, double, m->n_nodes)};
}

static struct replay_member member_of(const struct cluster_model *m,
                                      const struct cluster_member *at)
{
    static const nanos moment = 10000;
    const struct summary_call *c = &m->ranks[at->rank].calls[at->call], *before = c - 1;
    struct replay_member out = {.begin = -INFINITY,
                                .stretch = (double)c->stretch,
                                .after = CLUSTER_NONE,
                                .queue = CLUSTER_NONE};

    if (!m->clocks[at->rank].is_known)
        return out;
    out.begin = cluster_time(m, at->rank, c->begin) - out.stretch;
    if (c->after != SUMMARY_NO_CALL)
        out.after = m->node_of[at->rank][c->after];
    /* The call before this one in its rank, when this one begins as soon as that ends although
     * compute did not wait for it: one stream runs both. */
    if (at->call > 0 && c->after != at->call - 1 && before->end <= c->begin &&
        c->begin - before->end <= moment) {
        out.queue = m->node_of[at->rank][at->call - 1];
        out.gap = (double)(c->begin - before->end);
        out.queued = (double)(c->stretch - c->compute - c->idle);
    }
    return out;
}

/* When the member gets to the collective. */
static double arrival(struct cluster_replay *p, uint32_t place, const struct cluster_change *change)
{
    const struct replay_member *c = &p->members[place];
    double stretch = c->stretch - (change != NULL ? change->stretch[place] : 0);
    bool is_after = c->after != CLUSTER_NONE && isfinite(p->ends[c->after]);
    bool has_queue = c->queue != CLUSTER_NONE && isfinite(p->ends[c->queue]);
    double by_work =
        (is_after ? p->ends[c->after] : c->begin) + fmax(0, stretch - (has_queue ? c->queued : 0));
    double by_queue = has_queue ? p->ends[c->queue] + c->gap : -INFINITY;

    p->is_queued[place] = by_queue > by_work;
    return fmax(by_work, by_queue);
}

double cluster_replay_run(struct cluster_replay *p, const struct cluster_change *change)
{
    const struct cluster_model *m = p->m;
    double last = -INFINITY;

    for (size_t i = 0; i < m->n_nodes; i++)
        p->ends[i] = NAN; /* those that come later */
    for (size_t i = 0; i < m->n_nodes; i++) {
        const struct cluster_node *node = &m->nodes[i];
        double latest = -INFINITY;
        for (uint32_t k = 0; k < node->n; k++) {
            double at = arrival(p, node->first + k, change);
            if (at > latest) {
                latest = at;
                p->decide[i] = node->first + k;
            }
        }
        if (!isfinite(latest))
            continue;
        double transit = node->end - node->last - (change != NULL ? change->transit[i] : 0);
        p->ends[i] = latest + (transit > 0 ? transit : 0);
        last = fmax(last, p->ends[i]);
    }
    p->length = last > p->first ? last - p->first + p->tail : 0;
    return p->length;
}

/* From the first begin of a stretch to the last end, of a collective or of a step. */
static void set_bounds(struct cluster_replay *p, size_t members)
{
    const struct cluster_model *m = p->m;
    double last = -INFINITY, end = -INFINITY;

    p->first = INFINITY;
    for (size_t i = 0; i < members; i++)
        if (isfinite(p->members[i].begin))
            p->first = fmin(p->first, p->members[i].begin);
    for (size_t i = 0; i < m->n_nodes; i++)
        if (m->clocks[m->members[m->nodes[i].first].rank].is_known)
            last = fmax(last, m->nodes[i].end);
    for (size_t r = 0; r < m->n; r++)
        if (cluster_is_aligned(m, r) && m->ranks[r].n_steps > 0)
            end = fmax(end, cluster_time(m, r, m->ranks[r].steps[m->ranks[r].n_steps - 1].end));
    p->tail = end > last && isfinite(last) ? end - last : 0;
    p->recorded = last > p->first ? last - p->first + p->tail : 0;
}

void cluster_replay_init(struct cluster_replay *p, const struct cluster_model *m)
{
    size_t members = count_members(m);

    *p = (struct cluster_replay){.m = m,
                                 .members = ARENA_ARRAY(m->arena, struct replay_member, members),
                                 .ends = ARENA_ARRAY(m->arena, double, m->n_nodes),
                                 .decide = ARENA_ARRAY(m->arena, uint32_t, m->n_nodes),
                                 .is_queued = ARENA_ARRAY(m->arena, bool, members)};
    for (size_t i = 0; i < members; i++)
        p->members[i] = member_of(m, &m->members[i]);
    set_bounds(p, members);
    double replayed = cluster_replay_run(p, NULL);
    p->error = p->recorded > 0 ? fabs(replayed - p->recorded) / p->recorded : 0;
}
