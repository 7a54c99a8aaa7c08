/*
 * cluster_model: matches the calls of all ranks by communicator, step and order.
 */
#include "analysis/ranks/cluster_model.h"

#include <math.h>
#include <stdlib.h>

#include "base/tables/hash.h"

/* ---- ranks and steps ---- */

uint32_t cluster_place(const struct cluster_model *m, int64_t rank)
{
    size_t place;

    vec_bisect(place, m->n, i, m->ranks[i].rank < rank);
    return place < m->n && m->ranks[place].rank == rank ? (uint32_t)place : CLUSTER_NONE;
}

static void model_find_steps(struct cluster_model *m)
{
    VEC_OF(int64_t) all = {0};

    m->has_numbers = true;
    for (size_t r = 0; r < m->n; r++)
        for (size_t i = 0; i < m->ranks[r].n_steps; i++)
            m->has_numbers = m->has_numbers && m->ranks[r].steps[i].number >= 0;
    for (size_t r = 0; r < m->n; r++)
        for (size_t i = 0; i < m->ranks[r].n_steps; i++)
            vec_push(&all, m->has_numbers ? m->ranks[r].steps[i].number : (int64_t)i);
    if (all.n > 0)
        all.n = ranked_set(all.at, all.n);
    m->steps = ARENA_ARRAY(m->arena, int64_t, all.n);
    m->n_steps = all.n;
    if (all.n > 0)
        memcpy(m->steps, all.at, all.n * sizeof(*m->steps));
    vec_free(&all);
}

int32_t cluster_step_of(const struct cluster_model *m, size_t rank, int32_t step)
{
    size_t place;

    if (step < 0)
        return -1;
    int64_t number = m->has_numbers ? m->ranks[rank].steps[step].number : step;
    vec_bisect(place, m->n_steps, i, m->steps[i] < number);
    return place < m->n_steps && m->steps[place] == number ? (int32_t)place : -1;
}

/* ---- communicators ---- */

struct matcher {
    struct cluster_model *m;
    struct hash groups, turns, nodes;
    VEC_OF(struct cluster_group) group_list;
    VEC_OF(struct cluster_node) node_list;
    uint32_t **group_of; /* by rank and call */
    bool *is_by_run;     /* by group: members count alike over the run, and steps do not part it */
    bool *is_exchange;   /* by group: its transfers of unknown ends are calls of all members */
};

static bool is_pair(const struct summary_call *c)
{
    return c->kind == COLLECTIVE_SEND_RECV && c->from >= 0 && c->to >= 0 && c->from != c->to;
}

/* A transfer whose ends are not known could be with any of several. */
static bool is_vague(const struct cluster_group *g, const struct summary_call *c)
{
    return c->kind == COLLECTIVE_SEND_RECV && !is_pair(c) && g->n != 2;
}

static uint64_t group_key(const struct summary_group *g)
{
    uint64_t key = hash_stable_mix(hash_stable_bytes(g->id), g->n);

    if (g->ranks == NULL)
        return hash_stable_mix(hash_stable_mix(key, (uint64_t)g->first), (uint64_t)g->stride);
    for (size_t i = 0; i < g->n; i++)
        key = hash_stable_mix(key, (uint64_t)g->ranks[i]);
    return key;
}

/* `key` is that of its communicator. */
static uint32_t add_group(struct matcher *f, const struct summary_group *g, uint64_t key,
                          const struct summary_call *c)
{
    if (is_pair(c))
        key = hash_stable_mix(hash_stable_mix(key, (uint64_t)c->from + 1), (uint64_t)c->to + 1);
    uint32_t at = hash_add(&f->groups, key, (uint32_t)f->group_list.n);

    if (at == f->group_list.n) {
        struct cluster_group new = {.id = g->id, .purpose = g->purpose, .is_pair = is_pair(c)};
        new.n = new.is_pair ? 2 : g->n;
        int64_t *ranks = ARENA_ARRAY(f->m->arena, int64_t, new.n);
        for (size_t i = 0; i < new.n; i++)
            ranks[i] = !new.is_pair ? summary_member(g, i) : i == 0 ? c->from : c->to;
        new.ranks = ranks;
        vec_push(&f->group_list, new);
    }
    f->group_list.at[at].calls++;
    return at;
}

/* A communicator whose members no file tells: the ranks that have it. */
static void find_members(struct matcher *f)
{
    struct cluster_model *m = f->m;

    for (size_t g = 0; g < m->n_groups; g++) {
        if (m->groups[g].n > 0)
            continue;
        int64_t *ranks = ARENA_ARRAY(m->arena, int64_t, m->n);
        size_t n = 0;
        for (size_t r = 0; r < m->n; r++)
            for (size_t i = 0; i < m->ranks[r].n_calls; i++)
                if (f->group_of[r][i] == g) {
                    ranks[n++] = m->ranks[r].rank;
                    break;
                }
        m->groups[g].ranks = ranks;
        m->groups[g].n = n;
    }
}

static void find_groups(struct matcher *f)
{
    struct cluster_model *m = f->m;

    f->group_of = ARENA_ARRAY(m->arena, uint32_t *, m->n);
    for (size_t r = 0; r < m->n; r++) {
        const struct rank_summary *s = &m->ranks[r];
        uint64_t *keys = ARENA_ARRAY(m->arena, uint64_t, s->n_groups);
        for (size_t g = 0; g < s->n_groups; g++)
            keys[g] = group_key(&s->groups[g]);
        f->group_of[r] = ARENA_ARRAY(m->arena, uint32_t, s->n_calls);
        for (size_t i = 0; i < s->n_calls; i++)
            f->group_of[r][i] =
                add_group(f, &s->groups[s->calls[i].group], keys[s->calls[i].group], &s->calls[i]);
    }
    m->n_groups = f->group_list.n;
    m->groups = ARENA_ARRAY(m->arena, struct cluster_group, m->n_groups);
    if (m->n_groups > 0)
        memcpy(m->groups, f->group_list.at, m->n_groups * sizeof(*m->groups));
    find_members(f);
}

/* ---- which calls are one collective ---- */

/* A communicator that all members use equally often, in captures of the same steps: its calls are
 * matched in their order, wherever a step of the device begins on each. */
static void find_runs(struct matcher *f)
{
    const struct cluster_model *m = f->m;
    struct use {
        size_t total;
        int64_t first, steps;
        bool is_used;
    } *uses = ARENA_ARRAY(m->arena, struct use, m->n_groups);
    size_t *own = ARENA_ARRAY(m->arena, size_t, m->n_groups);

    f->is_by_run = ARENA_ARRAY(m->arena, bool, m->n_groups);
    for (size_t g = 0; g < m->n_groups; g++)
        f->is_by_run[g] = true;
    for (size_t r = 0; r < m->n; r++) {
        const struct rank_summary *s = &m->ranks[r];
        int64_t first = s->n_steps > 0 ? s->steps[0].number : 0;
        for (size_t i = 0; i < s->n_calls; i++)
            own[f->group_of[r][i]]++;
        for (size_t i = 0; i < s->n_calls; i++) {
            uint32_t g = f->group_of[r][i];
            struct use *u = &uses[g];
            if (own[g] == 0)
                continue;
            if (u->is_used && (u->total != own[g] || u->first != first ||
                               u->steps != (int64_t)s->n_steps || s->calls_cut > 0))
                f->is_by_run[g] = false;
            *u = (struct use){own[g], first, (int64_t)s->n_steps, true};
            own[g] = 0;
        }
    }
}

/* How often a communicator is used in a step by most of its members. */
struct turn {
    uint32_t count, votes;
};

static uint64_t turn_key(const struct matcher *f, uint32_t group, int32_t step)
{
    if (f->is_by_run[group])
        step = -1;
    return hash_stable_mix((uint64_t)group + 1, (uint64_t)(uint32_t)(step + 1));
}

/* Calls of a rank by communicator and step. */
static void count_turns(struct matcher *f, size_t r, struct hash *counts)
{
    const struct rank_summary *s = &f->m->ranks[r];

    hash_clear(counts);
    for (size_t i = 0; i < s->n_calls; i++) {
        int32_t step = cluster_step_of(f->m, r, s->calls[i].step);
        uint64_t key = turn_key(f, f->group_of[r][i], step);
        uint32_t n = hash_add(counts, key, 0);
        hash_put(counts, key, n + 1);
    }
}

struct turns {
    VEC_OF(struct turn) list;
};

/* The majority's count: one that differs takes a vote away, and the seat when none is left. */
static void vote(struct matcher *f, struct turns *turns, uint64_t key, uint32_t count)
{
    uint32_t at = hash_add(&f->turns, key, (uint32_t)turns->list.n);

    if (at == turns->list.n)
        vec_push(&turns->list, ((struct turn){count, 0}));
    struct turn *t = &turns->list.at[at];
    if (t->count == count) {
        t->votes++;
    } else if (t->votes == 0) {
        *t = (struct turn){count, 1};
    } else {
        t->votes--;
    }
}

static void find_turns(struct matcher *f, struct turns *turns)
{
    struct hash counts = {0};

    for (size_t r = 0; r < f->m->n; r++) {
        count_turns(f, r, &counts);
        for (size_t i = 0; i < counts.cap; i++)
            if (counts.slots[i].used != 0)
                vote(f, turns, counts.slots[i].key, counts.slots[i].value);
    }
    hash_free(&counts);
}

static uint32_t add_node(struct matcher *f, uint64_t key, const struct cluster_node *node)
{
    uint32_t at =
        key != 0 ? hash_add(&f->nodes, key, (uint32_t)f->node_list.n) : (uint32_t)f->node_list.n;

    if (at == f->node_list.n)
        vec_push(&f->node_list, *node);
    f->node_list.at[at].n++;
    return at;
}

static void match_rank(struct matcher *f, size_t r, const struct turns *turns, struct hash *counts,
                       struct hash *seen)
{
    struct cluster_model *m = f->m;
    const struct rank_summary *s = &m->ranks[r];

    count_turns(f, r, counts);
    hash_clear(seen);
    m->node_of[r] = ARENA_ARRAY(m->arena, uint32_t, s->n_calls);
    for (size_t i = 0; i < s->n_calls; i++) {
        const struct summary_call *c = &s->calls[i];
        struct cluster_node node = {.group = f->group_of[r][i],
                                    .kind = c->kind,
                                    .bytes = c->bytes,
                                    .step = cluster_step_of(m, r, c->step)};
        uint64_t key = turn_key(f, node.group, node.step);
        uint32_t order = hash_add(seen, key, 0), turn = 0, count = 0;
        hash_put(seen, key, order + 1);
        hash_get(&f->turns, key, &turn);
        hash_get(counts, key, &count);
        bool is_unclear = is_vague(&m->groups[node.group], c) && !f->is_exchange[node.group];
        bool fits = count == turns->list.at[turn].count && !is_unclear;
        uint64_t own =
            hash_stable_mix(hash_stable_mix(key, (uint64_t)order + 1), (uint64_t)c->kind + 1);
        m->node_of[r][i] = add_node(f, fits ? own | 1 : 0, &node);
    }
}

static void place_members(struct matcher *f)
{
    struct cluster_model *m = f->m;
    uint32_t at = 0;

    for (size_t i = 0; i < f->node_list.n; i++) {
        f->node_list.at[i].first = at;
        at += f->node_list.at[i].n;
        f->node_list.at[i].n = 0;
    }
    m->members = ARENA_ARRAY(m->arena, struct cluster_member, at);
    for (size_t r = 0; r < m->n; r++)
        for (size_t i = 0; i < m->ranks[r].n_calls; i++) {
            struct cluster_node *node = &f->node_list.at[m->node_of[r][i]];
            m->members[node->first + node->n++] = (struct cluster_member){(uint32_t)r, (uint32_t)i};
        }
    for (size_t i = 0; i < f->node_list.n; i++) {
        struct cluster_node *node = &f->node_list.at[i];
        node->is_lone = node->n < 2;
        node->is_whole = node->n == m->groups[node->group].n;
        m->unmatched += node->is_lone && m->groups[node->group].n != 1;
        if (!node->is_lone)
            m->groups[node->group].matched += node->n;
    }
}

/* Two calls of one rank that fell together are no collective. */
static void match_calls(struct matcher *f)
{
    struct cluster_model *m = f->m;
    struct turns turns = {0};
    struct hash counts = {0}, seen = {0};

    hash_clear(&f->turns);
    hash_clear(&f->nodes);
    f->node_list.n = 0;
    m->unmatched = 0;
    for (size_t g = 0; g < m->n_groups; g++)
        m->groups[g].matched = 0;
    find_runs(f);
    find_turns(f, &turns);
    m->node_of = ARENA_ARRAY(m->arena, uint32_t *, m->n);
    for (size_t r = 0; r < m->n; r++)
        match_rank(f, r, &turns, &counts, &seen);
    place_members(f);
    m->n_nodes = f->node_list.n;
    m->nodes = ARENA_ARRAY(m->arena, struct cluster_node, m->n_nodes);
    if (m->n_nodes > 0)
        memcpy(m->nodes, f->node_list.at, m->n_nodes * sizeof(*m->nodes));
    vec_free(&turns.list);
    hash_free(&counts);
    hash_free(&seen);
}

/* ---- times ---- */

double cluster_time(const struct cluster_model *m, size_t rank, nanos t)
{
    const struct cluster_clock *c = &m->clocks[rank];
    double x = (double)(t - m->base - c->coarse);

    return x - c->fine - c->drift * x;
}

static void time_node(struct cluster_model *m, struct cluster_node *node, double *room)
{
    node->last = -INFINITY;
    node->late = m->members[node->first].rank;
    for (uint32_t k = 0; k < node->n; k++) {
        const struct cluster_member *at = &m->members[node->first + k];
        const struct summary_call *c = &m->ranks[at->rank].calls[at->call];
        double begin = cluster_time(m, at->rank, c->begin);
        room[k] = cluster_time(m, at->rank, c->end);
        if (begin > node->last) {
            node->last = begin;
            node->late = at->rank;
        }
    }
    node->end = cluster_median(room, node->n);
    if (node->last > node->end)
        node->last = node->end;
}

/* ---- exchanges of all members ---- */

/* The vague transfers of a group on one rank: their ends on the model's clock, in order. */
struct ends {
    VEC_OF(double) at;
};

/* NCCL runs an exchange of all members as transfers; then the ends of each fall together. */
static bool fall_together(const struct ends *of, size_t ranks, double near)
{
    enum { LEAST = 8, MOST_APART = 10 /* one in so many */ };
    size_t n = of[0].at.n, apart = 0;

    for (size_t r = 1; r < ranks; r++)
        if (of[r].at.n != n)
            return false;
    for (size_t i = 0; i < n; i++) {
        double low = of[0].at.at[i], high = low;
        for (size_t r = 1; r < ranks; r++) {
            low = fmin(low, of[r].at.at[i]);
            high = fmax(high, of[r].at.at[i]);
        }
        apart += high - low > near;
    }
    return ranks > 2 && n >= LEAST && apart * MOST_APART <= n;
}

/* Ranks whose clocks come from other collectives; false: one of the group has no such clock. */
static bool list_ends(const struct matcher *f, uint32_t group, struct ends *of, size_t *n,
                      double *residual)
{
    const struct cluster_model *m = f->m;

    *n = 0;
    *residual = 0;
    for (size_t r = 0; r < m->n; r++) {
        const struct rank_summary *s = &m->ranks[r];
        of[*n].at.n = 0;
        for (size_t i = 0; i < s->n_calls; i++)
            if (f->group_of[r][i] == group && is_vague(&m->groups[group], &s->calls[i]))
                vec_push(&of[*n].at, cluster_time(m, r, s->calls[i].end));
        if (of[*n].at.n == 0)
            continue;
        if (!cluster_is_aligned(m, r) || m->clocks[r].is_by_pairs)
            return false;
        *residual = fmax(*residual, m->clocks[r].residual);
        ++*n;
    }
    return *n > 0;
}

/* Whether a group was found to have any. */
static bool find_exchanges(struct matcher *f)
{
    enum { NEAR = 20000, RESIDUALS = 4 }; /* ns; times the spread of the fitted ends */
    const struct cluster_model *m = f->m;
    struct ends *of = ARENA_ARRAY(m->arena, struct ends, m->n + 1);
    bool is_any = false;
    double residual;
    size_t n;

    for (uint32_t g = 0; g < m->n_groups; g++) {
        if (m->groups[g].is_pair || !list_ends(f, g, of, &n, &residual))
            continue;
        f->is_exchange[g] = fall_together(of, n, fmax(NEAR, RESIDUALS * residual));
        is_any = is_any || f->is_exchange[g];
    }
    for (size_t r = 0; r <= m->n; r++)
        vec_free(&of[r].at);
    return is_any;
}

/* ---- the model ---- */

static int by_end(const void *a, const void *b, void *nodes)
{
    const struct cluster_node *list = nodes;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return ORDER(list[x].end, list[y].end) ?: ORDER(x, y);
}

/* Puts the nodes in the order of their ends. */
static void order_nodes(struct cluster_model *m)
{
    uint32_t *order = ARENA_ARRAY(m->arena, uint32_t, m->n_nodes);
    uint32_t *place = ARENA_ARRAY(m->arena, uint32_t, m->n_nodes);
    struct cluster_node *sorted = ARENA_ARRAY(m->arena, struct cluster_node, m->n_nodes);

    for (uint32_t i = 0; i < m->n_nodes; i++)
        order[i] = i;
    qsort_r(order, m->n_nodes, sizeof(*order), by_end, m->nodes);
    for (uint32_t i = 0; i < m->n_nodes; i++) {
        sorted[i] = m->nodes[order[i]];
        place[order[i]] = i;
    }
    for (size_t r = 0; r < m->n; r++)
        for (size_t i = 0; i < m->ranks[r].n_calls; i++)
            m->node_of[r][i] = place[m->node_of[r][i]];
    m->nodes = sorted;
}

struct cluster_model *cluster_model_make(struct arena *arena, const struct rank_summary *ranks,
                                         size_t n)
{
    struct cluster_model *m = ARENA_NEW(arena, struct cluster_model);
    struct matcher f = {.m = m};
    double *room = ARENA_ARRAY(arena, double, n + 1);

    *m = (struct cluster_model){.arena = arena, .ranks = ranks, .n = n};
    model_find_steps(m);
    find_groups(&f);
    f.is_exchange = ARENA_ARRAY(arena, bool, m->n_groups + 1);
    match_calls(&f);
    cluster_clocks_fit(m);
    if (find_exchanges(&f)) {
        match_calls(&f);
        cluster_clocks_fit(m);
    }
    for (size_t i = 0; i < m->n_nodes; i++)
        time_node(m, &m->nodes[i], room);
    order_nodes(m);
    vec_free(&f.group_list);
    vec_free(&f.node_list);
    hash_free(&f.groups);
    hash_free(&f.turns);
    hash_free(&f.nodes);
    return m;
}
