/*
 * The stretch before each call against the same stretch of other ranks: those of the same kind of
 * work whose step has the same calls in the same order.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/ranks/cluster_work.h"
#include "base/tables/hash.h"

struct place {
    uint64_t key; /* equal: the same stretch of different ranks */
    uint32_t rank, call;
};

ORDER_BY(by_key, struct place,
         ORDER(x->key, y->key) ?: ORDER(x->rank, y->rank) ?: ORDER(x->call, y->call));

/* The calls of a step in their order, as one number. */
static uint64_t sequence_of(const struct cluster_model *m, uint32_t rank, size_t from, size_t to)
{
    const struct rank_summary *s = &m->ranks[rank];
    uint64_t key = to - from;

    for (size_t i = from; i < to; i++) {
        const struct cluster_group *g = &m->groups[m->nodes[m->node_of[rank][i]].group];
        key = hash_stable_mix(
            key, hash_stable_mix((uint64_t)s->calls[i].kind + 1, g->n * 2 + g->is_pair));
    }
    return key;
}

static size_t list_places(const struct cluster_work *w, struct place *out)
{
    const struct cluster_model *m = w->m;
    size_t n = 0;

    for (uint32_t r = 0; r < m->n; r++) {
        const struct rank_summary *s = &m->ranks[r];
        for (size_t i = 0; i < s->n_calls && cluster_is_aligned(m, r);) {
            size_t k = i;
            while (k < s->n_calls && s->calls[k].step == s->calls[i].step)
                k++;
            int32_t step = cluster_step_of(m, r, s->calls[i].step);
            uint64_t key =
                hash_stable_mix(hash_stable_mix((uint64_t)w->kind_of[r] + 1, (uint64_t)(step + 1)),
                                sequence_of(m, r, i, k));
            for (size_t c = i; c < k; c++)
                out[n++] = (struct place){hash_stable_mix(key, c - i + 1), r, (uint32_t)c};
            i = k;
        }
    }
    return n;
}

static double calls_part_of(const struct summary_call *c, enum work_class class)
{
    return class == WORK_COMPUTE ? (double)c->compute
           : class == WORK_IDLE  ? (double)(c->idle - c->storage)
                                 : (double)c->storage;
}

/* Stretches that are the same: each against their median. */
static void calls_compare(struct cluster_work *w, const struct place *at, size_t n, double *room)
{
    const struct cluster_model *m = w->m;

    for (int class = 0; class < WORK_STEP && n >= WORK_PEERS; class ++) {
        for (size_t i = 0; i < n; i++)
            room[i] =
                calls_part_of(&m->ranks[at[i].rank].calls[at[i].call], (enum work_class) class);
        double usual = cluster_median(room, n);
        for (size_t i = 0; i < n; i++)
            w->of_call[at[i].rank][at[i].call].more[class] =
                (float)(calls_part_of(&m->ranks[at[i].rank].calls[at[i].call],
                                      (enum work_class) class) -
                        usual);
    }
}

void cluster_calls_compare(struct cluster_work *w)
{
    const struct cluster_model *m = w->m;
    size_t all = 0;

    w->of_call = ARENA_ARRAY(m->arena, struct work_of_call *, m->n);
    for (size_t r = 0; r < m->n; r++) {
        w->of_call[r] = ARENA_ARRAY(m->arena, struct work_of_call, m->ranks[r].n_calls);
        all += m->ranks[r].n_calls;
    }
    struct place *list = ARENA_ARRAY(m->arena, struct place, all);
    double *room = ARENA_ARRAY(m->arena, double, all + 1);
    size_t n = list_places(w, list);
    qsort(list, n, sizeof(*list), by_key);
    for (size_t i = 0, first = 0; i < n; i++)
        if (i + 1 == n || list[i + 1].key != list[i].key) {
            calls_compare(w, list + first, i + 1 - first, room);
            first = i + 1;
        }
}
