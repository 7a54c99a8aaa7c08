/*
 * cluster_replay: one pass over the collectives in the order of their ends.
 */
#include "analysis/cluster/cluster_replay.h"

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
    const struct summary_call *c = &m->ranks[at->rank].calls[at->call];
    struct replay_member out = {-INFINITY, (double)c->stretch, CLUSTER_NONE};

    if (m->clocks[at->rank].is_known) {
        out.begin = cluster_time(m, at->rank, c->begin) - out.stretch;
        if (c->after != SUMMARY_NO_CALL)
            out.after = m->node_of[at->rank][c->after];
    }
    return out;
}

/* When the member gets to the collective. */
static double arrival(const struct cluster_replay *p, uint32_t place,
                      const struct cluster_change *change)
{
    const struct replay_member *c = &p->members[place];
    double stretch = c->stretch - (change != NULL ? change->stretch[place] : 0);
    bool is_after = c->after != CLUSTER_NONE && isfinite(p->ends[c->after]);

    return (is_after ? p->ends[c->after] : c->begin) + (stretch > 0 ? stretch : 0);
}

double cluster_replay_run(struct cluster_replay *p, const struct cluster_change *change)
{
    const struct cluster_model *m = p->m;
    double first = INFINITY, last = -INFINITY;

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
        first = fmin(first, node->last);
    }
    p->length = last > first ? last - first : 0;
    return p->length;
}

void cluster_replay_init(struct cluster_replay *p, const struct cluster_model *m)
{
    double first = INFINITY, last = -INFINITY;
    size_t members = count_members(m);

    *p = (struct cluster_replay){.m = m,
                                 .members = ARENA_ARRAY(m->arena, struct replay_member, members),
                                 .ends = ARENA_ARRAY(m->arena, double, m->n_nodes),
                                 .decide = ARENA_ARRAY(m->arena, uint32_t, m->n_nodes)};
    for (size_t i = 0; i < members; i++)
        p->members[i] = member_of(m, &m->members[i]);
    for (size_t i = 0; i < m->n_nodes; i++)
        if (m->clocks[m->members[m->nodes[i].first].rank].is_known) {
            first = fmin(first, m->nodes[i].last);
            last = fmax(last, m->nodes[i].end);
        }
    p->recorded = last > first ? last - first : 0;
    double replayed = cluster_replay_run(p, NULL);
    p->error = p->recorded > 0 ? fabs(replayed - p->recorded) / p->recorded : 0;
}
