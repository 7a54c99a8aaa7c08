/*
 * cluster_sim: all programs at once; a rank runs until it has to wait for others.
 */
#include "synth/cluster.h"

enum { US = 1000 };

static nanos later(nanos a, nanos b)
{
    return a > b ? a : b;
}

/* The host launches what comes next; when the device may begin. */
static nanos cluster_sim_launch(struct cluster_rank_sim *r, nanos *at)
{
    *at = r->host;
    r->host += 5 * US + rng_below(&r->rng, 2 * US);
    return later(r->device + 800 + rng_below(&r->rng, 600), *at + 6 * US);
}

/* All have come: the transfer, and everybody goes on. */
static void sim_finish(struct cluster_sim *s, struct cluster_team *t)
{
    nanos latest = t->at[0], transfer = 0;

    for (int i = 0; i < t->n; i++)
        latest = later(latest, t->at[i]);
    for (int i = 0; i < t->n; i++) {
        struct cluster_rank_sim *r = &s->ranks[t->ranks[i]];
        struct cluster_event *e = &r->events.at[r->events.n - 1];
        while (e->op->group != (uint32_t)(t - s->teams.at) || e->dur >= 0)
            e--; /* kernels beside it came after it */
        if (i == 0)
            transfer = e->op->dur * t->slow / 1000 * rng_between(&s->rng, 960, 1040) / 1000;
        e->dur = latest + transfer - e->begin + rng_between(&r->rng, -400, 400);
        if (e->op->kind == CLUSTER_ASYNC)
            r->pending = latest + transfer;
        else
            r->device = latest + transfer;
        r->is_waiting = false;
    }
    t->arrived = 0;
}

static void arrive(struct cluster_sim *s, struct cluster_rank_sim *r, const struct cluster_op *op)
{
    struct cluster_team *t = &s->teams.at[op->group];
    nanos at, begin = cluster_sim_launch(r, &at);

    for (int i = 0; i < t->n; i++)
        if (t->ranks[i] == r->id)
            t->at[i] = begin;
    vec_push(&r->events, ((struct cluster_event){op, begin, -1, at}));
    t->arrived++;
    if (op->kind == CLUSTER_ASYNC)
        r->pending = -1;
    else
        r->is_waiting = true;
    if (t->arrived == t->n)
        sim_finish(s, t);
}

/* One operation; false: it has to wait. */
static bool advance(struct cluster_sim *s, struct cluster_rank_sim *r)
{
    const struct cluster_op *op = &r->program.at[r->at];
    nanos at, begin;

    switch (op->kind) {
    case CLUSTER_KERNEL:
        begin = cluster_sim_launch(r, &at);
        vec_push(&r->events, ((struct cluster_event){op, begin, op->dur, at}));
        r->device = begin + op->dur;
        break;
    case CLUSTER_CALL:
    case CLUSTER_ASYNC:
        arrive(s, r, op);
        break;
    case CLUSTER_JOIN:
        if (r->pending < 0)
            return false;
        r->device = later(r->device, r->pending);
        break;
    default:
        /* The host waits for the device, then does something else. */
        r->host = later(r->host, r->device + 4 * US);
        vec_push(&r->events, ((struct cluster_event){op, r->host, op->dur, 0}));
        r->host += op->dur;
    }
    r->at++;
    return !r->is_waiting;
}

void cluster_simulate(struct cluster_sim *s)
{
    for (int i = 0; i < s->n; i++)
        s->ranks[i].host = s->ranks[i].device = rng_below(&s->ranks[i].rng, 300 * US);
    for (bool is_on = true; is_on;) {
        is_on = false;
        for (int i = 0; i < s->n; i++) {
            struct cluster_rank_sim *r = &s->ranks[i];
            while (!r->is_waiting && r->at < r->program.n && advance(s, r))
                is_on = true;
            is_on = is_on || (!r->is_waiting && r->at < r->program.n && r->pending >= 0);
        }
    }
}

/* ---- what a trouble costs ---- */

void cluster_sim_free(struct cluster_sim *s)
{
    for (int i = 0; i < s->n; i++) {
        vec_free(&s->ranks[i].program);
        vec_free(&s->ranks[i].events);
    }
    vec_free(&s->teams);
}

/* Until the last device is done, with other repairs than `s` has. */
static nanos length_with(const struct cluster_sim *s, unsigned repaired)
{
    struct arena_mark mark = arena_mark(s->arena);
    struct cluster_sim twin = {
        .o = s->o, .arena = s->arena, .rng = rng_seed(s->o->seed, 0), .repaired = repaired};
    nanos end = 0;

    cluster_plan(&twin);
    cluster_simulate(&twin);
    for (int i = 0; i < twin.n; i++)
        end = later(end, twin.ranks[i].device);
    cluster_sim_free(&twin);
    arena_rewind(s->arena, mark);
    return end;
}

nanos cluster_saving(const struct cluster_sim *s, size_t place)
{
    unsigned all = (1u << s->o->n_troubles) - 1, own = 1u << place;
    nanos alone = length_with(s, 0) - length_with(s, own);
    nanos last = length_with(s, all & ~own) - length_with(s, all);

    return later(later(alone, last), 0);
}
