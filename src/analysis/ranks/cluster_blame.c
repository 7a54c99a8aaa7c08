/*
 * cluster_blame: who makes the others wait. Each kind has its own evidence; what could be chance,
 * or has too few others to compare with, is not held against anybody.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/ranks/cluster.h"
#include "text/cluster.h"

enum { MANY = 8 };                          /* ranks whose usual distances are known well */
static const double slow_speed = 1.05;      /* kernels that take this much longer, */
static const double slow_many = 1.015;      /* of many ranks, */
static const double slow_sure = 1.02;       /* of few by more than what kernels differ */
static const double slow_general = 0.7;     /* of its kernels; else it has more to do */
static const double stall_share = 0.03;     /* of a step */
static const double stall_least = 200e3;    /* nanoseconds */
static const double imbalance_share = 0.05; /* of a step, in most steps, */
static const double imbalance_many = 0.02;  /* of many ranks */
static const double stage_share = 0.15;     /* a stage more than the median one */
static const double chance = 0.02;
static const double doubt = 0.05;  /* where one rank has all: named with low confidence */
static const double worth = 0.002; /* of the run: less is not worth a name */

struct blame {
    struct cluster *c;
    const struct cluster_model *m;
    const struct cluster_work *w;
    VEC_OF(struct culprit) list;
};

/* ---- chance ---- */

/* That one of `n` ranks has at least `own` of `all` events which fall on any of them alike. */
static double chance_of(size_t own, size_t all, size_t n)
{
    double p = 1 / (double)n, sum = 0;

    for (size_t k = own; k <= all; k++)
        sum += exp(lgamma((double)all + 1) - lgamma((double)k + 1) - lgamma((double)(all - k) + 1) +
                   (double)k * log(p) + (double)(all - k) * log1p(-p));
    return fmin(1, sum * (double)n);
}

/* ---- steps of a culprit ---- */

typedef bool blame_step(const struct blame *b, uint32_t rank, size_t step);

static enum culprit_recurrence recurrence_of(const size_t *at, size_t n, size_t of)
{
    size_t period = n > 2 ? at[1] - at[0] : 0;
    bool is_regular = period > 1;

    for (size_t i = 2; i < n; i++)
        is_regular = is_regular && at[i] - at[i - 1] == period;
    if (n == 1)
        return of == 1 ? RECURS_ALWAYS : RECURS_ONCE;
    return n * 10 >= of * 8 ? RECURS_ALWAYS : is_regular ? RECURS_REGULARLY : RECURS_RANDOMLY;
}

static void set_steps(const struct blame *b, struct culprit *one, uint32_t rank, blame_step *is_one)
{
    const struct cluster_model *m = b->m;
    size_t *at = ARENA_ARRAY(m->arena, size_t, m->n_steps + 1), of = 0;

    one->steps = ARENA_ARRAY(m->arena, int64_t, m->n_steps);
    for (size_t s = 0; s < m->n_steps; s++) {
        of += isfinite(work_at(b->w, WORK_STEP, rank, s));
        if (is_one(b, rank, s)) {
            at[one->n_steps] = s;
            one->steps[one->n_steps++] = m->steps[s];
        }
    }
    one->recurrence = recurrence_of(at, one->n_steps, of);
}

static struct culprit culprit_of(const struct blame *b, enum culprit_kind kind, uint32_t rank)
{
    return (struct culprit){
        .kind = kind, .rank = b->m->ranks[rank].rank, .place = rank, .confidence = CULPRIT_SURE};
}

static struct wording said(const struct blame *b, const struct message *m)
{
    return wording_of(b->m->arena, phrase_plain(m));
}

static void add_evidence(const struct blame *b, struct culprit *one, const struct message *m)
{
    one->evidence = WORDING(b->m->arena, &cluster_text.both,
                            place_wording("a", wording_keep(b->m->arena, one->evidence)),
                            place_wording("b", wording_keep(b->m->arena, said(b, m))));
}

/* ---- compute ---- */

static bool is_slow_step(const struct blame *b, uint32_t rank, size_t step)
{
    double own = work_at(b->w, WORK_COMPUTE, rank, step);
    double more = work_excess(b->w, WORK_COMPUTE, rank, step);

    if (b->w->kinds[b->w->kind_of[rank]].n < WORK_PEERS)
        return isfinite(own); /* nothing to compare step by step */
    return isfinite(own) && more > own * (1 - 1 / b->w->speed[rank]) / 2;
}

/* How far speeds of all ranks usually are from 1. */
static double usual_speed_off(const struct blame *b)
{
    double *room = ARENA_ARRAY(b->m->arena, double, b->m->n + 1);
    size_t n = 0;

    for (size_t r = 0; r < b->m->n; r++)
        if (isfinite(b->w->speed[r]))
            room[n++] = fabs(b->w->speed[r] - 1);
    return n > 2 ? cluster_median(room, n) : 0;
}

static bool is_compute_slow(const struct blame *b, uint32_t r, double off)
{
    double more = b->w->speed[r] - 1;
    bool is_sure = b->w->peers[r] >= WORK_PEERS && more > 5 * b->w->speed_error[r];
    double least = b->m->n >= MANY ? slow_many : is_sure ? slow_sure : slow_speed;

    return b->w->speed[r] >= least && more > 5 * off && b->w->slow_share[r] >= slow_general;
}

static enum culprit_confidence speed_confidence(const struct blame *b, uint32_t r)
{
    bool is_small = b->m->n < MANY && b->w->speed[r] < slow_speed;

    if (b->w->peers[r] < WORK_PEERS || (is_small && b->w->peers[r] == WORK_PEERS))
        return CULPRIT_POSSIBLE;
    return is_small || b->w->peers[r] == WORK_PEERS ? CULPRIT_LIKELY : CULPRIT_SURE;
}

static void blame_compute(struct blame *b)
{
    double off = usual_speed_off(b);

    for (uint32_t r = 0; r < b->m->n; r++) {
        if (!is_compute_slow(b, r, off))
            continue;
        struct culprit one = culprit_of(b, CULPRIT_COMPUTE_SLOW, r);
        set_steps(b, &one, r, is_slow_step);
        if (one.n_steps == 0)
            continue;
        double compute = 0;
        for (size_t s = 0; s < b->m->n_steps; s++)
            compute +=
                isfinite(work_at(b->w, WORK_COMPUTE, r, s)) ? work_at(b->w, WORK_COMPUTE, r, s) : 0;
        one.excess_ms = compute * (1 - 1 / b->w->speed[r]) / 1e6 / (double)b->m->ranks[r].n_steps;
        one.confidence = speed_confidence(b, r);
        one.evidence =
            WORDING(b->m->arena, &cluster_text.compute, PLACE("ratio", b->w->speed[r]),
                    PLACE("n", b->w->peers[r] - 1), PLACE("share", 100 * b->w->slow_share[r]));
        one.action = said(b, &cluster_text.compute_next);
        vec_push(&b->list, one);
    }
}

/* ---- idle ---- */

static bool is_event(const struct blame *b, enum work_class class, uint32_t rank, size_t step)
{
    double more = work_excess(b->w, class, rank, step);
    size_t at = b->w->kind_of[rank] * b->m->n_steps + step;
    double usual = b->w->median[WORK_STEP][at];

    return cluster_is_aligned(b->m, rank) && more > stall_least &&
           more > stall_share * (isfinite(usual) ? usual : INFINITY) &&
           more > 8 * b->w->scatter[class][at];
}

static bool is_stall(const struct blame *b, uint32_t rank, size_t step)
{
    return is_event(b, WORK_IDLE, rank, step);
}

static bool is_slow_storage(const struct blame *b, uint32_t rank, size_t step)
{
    return is_event(b, WORK_STORAGE, rank, step);
}

static size_t count_events(const struct blame *b, uint32_t rank, blame_step *is_one)
{
    size_t n = 0;

    for (size_t s = 0; s < b->m->n_steps; s++)
        n += is_one(b, rank, s);
    return n;
}

static double mean_excess(const struct blame *b, uint32_t rank, enum work_class class,
                          blame_step *is_one)
{
    double sum = 0;
    size_t n = 0;

    for (size_t s = 0; s < b->m->n_steps; s++)
        if (is_one(b, rank, s)) {
            sum += work_excess(b->w, class, rank, s);
            n++;
        }
    return n > 0 ? sum / (double)n / 1e6 : 0;
}

/* Stalls of a rank that may be chance. */
static void note_stalls(struct blame *b, uint32_t rank)
{
    struct cluster *c = b->c;

    for (size_t s = 0; s < b->m->n_steps; s++) {
        if (!is_stall(b, rank, s))
            continue;
        double ms = work_excess(b->w, WORK_IDLE, rank, s) / 1e6;
        c->stalls++;
        if (ms > c->longest_stall.ms) {
            c->longest_stall.ms = ms;
            c->longest_stall.rank = b->m->ranks[rank].rank;
        }
    }
}

static void blame_stalls(struct blame *b)
{
    size_t all = 0;

    for (uint32_t r = 0; r < b->m->n; r++)
        all += count_events(b, r, is_stall);
    for (uint32_t r = 0; r < b->m->n; r++) {
        size_t own = count_events(b, r, is_stall);
        if (own == 0)
            continue;
        double by_chance = chance_of(own, all, b->m->n);
        if (own < 2 || by_chance > (own == all ? doubt : chance)) {
            note_stalls(b, r);
            continue;
        }
        struct culprit one = culprit_of(b, CULPRIT_HOST_STALL, r);
        set_steps(b, &one, r, is_stall);
        one.excess_ms = mean_excess(b, r, WORK_IDLE, is_stall);
        one.evidence = WORDING(b->m->arena, &cluster_text.stall, PLACE("ms", one.excess_ms),
                               PLACE("n", one.n_steps), PLACE("all", b->m->ranks[r].n_steps));
        one.action = said(b, &cluster_text.stall_next);
        if (!b->m->ranks[r].has_host) {
            one.confidence = CULPRIT_LIKELY;
            add_evidence(b, &one, &cluster_text.stall_no_host);
        }
        if (by_chance > chance) {
            one.confidence = CULPRIT_POSSIBLE;
            add_evidence(b, &one, &cluster_text.stall_few);
        }
        vec_push(&b->list, one);
    }
}

static void blame_storage(struct blame *b)
{
    for (uint32_t r = 0; r < b->m->n; r++) {
        if (count_events(b, r, is_slow_storage) == 0)
            continue;
        struct culprit one = culprit_of(b, CULPRIT_STORAGE, r);
        set_steps(b, &one, r, is_slow_storage);
        one.excess_ms = mean_excess(b, r, WORK_STORAGE, is_slow_storage);
        one.confidence = one.n_steps > 1 ? CULPRIT_SURE : CULPRIT_LIKELY;
        one.evidence = WORDING(b->m->arena, &cluster_text.storage, PLACE("ms", one.excess_ms),
                               PLACE("n", one.n_steps));
        one.action = said(b, &cluster_text.storage_next);
        vec_push(&b->list, one);
    }
}

/* ---- uneven work ---- */

static bool is_uneven_step(const struct blame *b, uint32_t rank, size_t step)
{
    size_t at = b->w->kind_of[rank] * b->m->n_steps + step;

    double more = work_excess(b->w, WORK_COMPUTE, rank, step);
    double least = b->m->n < MANY ? imbalance_share : imbalance_many;

    return cluster_is_aligned(b->m, rank) && more > least * b->w->median[WORK_STEP][at] &&
           more > 5 * b->w->scatter[WORK_COMPUTE][at];
}

static bool is_blamed(const struct blame *b, enum culprit_kind kind, uint32_t rank)
{
    for (size_t i = 0; i < b->list.n; i++)
        if (b->list.at[i].kind == kind && b->list.at[i].place == rank)
            return true;
    return false;
}

/* A rank that has more work of some kernels than ranks of its kind. */
static void blame_uneven(struct blame *b)
{
    for (uint32_t r = 0; r < b->m->n; r++) {
        size_t own = count_events(b, r, is_uneven_step);
        if (is_blamed(b, CULPRIT_COMPUTE_SLOW, r) || own == 0 || own * 2 < b->m->ranks[r].n_steps)
            continue;
        struct culprit one = culprit_of(b, CULPRIT_IMBALANCE, r);
        set_steps(b, &one, r, is_uneven_step);
        one.excess_ms = mean_excess(b, r, WORK_COMPUTE, is_uneven_step);
        one.confidence = own > 2 ? CULPRIT_SURE : CULPRIT_LIKELY;
        const struct summary_family *f = b->w->excess[r];
        one.evidence = f != NULL
                           ? WORDING(b->m->arena, &cluster_text.uneven_most,
                                     PLACE("ms", one.excess_ms), PLACE("name", f->name))
                           : WORDING(b->m->arena, &cluster_text.uneven, PLACE("ms", one.excess_ms));
        one.action = said(b, &cluster_text.uneven_next);
        vec_push(&b->list, one);
    }
}

/* Mean compute of the ranks of a kind. */
static double stage_compute(const struct blame *b, uint32_t kind)
{
    double sum = 0;
    size_t n = 0;

    for (size_t r = 0; r < b->m->n; r++)
        for (size_t s = 0; s < b->m->n_steps && b->w->kind_of[r] == kind; s++)
            if (isfinite(work_at(b->w, WORK_COMPUTE, r, s)) &&
                !is_blamed(b, CULPRIT_COMPUTE_SLOW, (uint32_t)r)) {
                sum += work_at(b->w, WORK_COMPUTE, r, s);
                n++;
            }
    return n > 0 ? sum / (double)n : 0;
}

static bool has_step(const struct blame *b, uint32_t rank, size_t step)
{
    return isfinite(work_at(b->w, WORK_STEP, rank, step));
}

/* Stages of a pipeline that compute longer than the median one. */
static void blame_stages(struct blame *b)
{
    const struct cluster_work *w = b->w;
    double *all = ARENA_ARRAY(b->m->arena, double, w->n_kinds + 1);
    double *sorted = ARENA_ARRAY(b->m->arena, double, w->n_kinds + 1);

    if (b->c->layout.pp < WORK_PEERS || w->n_kinds < WORK_PEERS)
        return;
    for (uint32_t k = 0; k < w->n_kinds; k++)
        sorted[k] = all[k] = stage_compute(b, k);
    double usual = cluster_median(sorted, w->n_kinds);
    for (uint32_t k = 0; k < w->n_kinds; k++) {
        if (all[k] - usual < stage_share * usual || all[k] - usual < imbalance_share * w->step_time)
            continue;
        struct culprit one = culprit_of(b, CULPRIT_IMBALANCE, w->kinds[k].like);
        one.ranks = ARENA_ARRAY(b->m->arena, int64_t, b->m->n);
        for (size_t r = 0; r < b->m->n; r++)
            if (w->kind_of[r] == k)
                one.ranks[one.n_ranks++] = b->m->ranks[r].rank;
        set_steps(b, &one, one.place, has_step);
        one.excess_ms = (all[k] - usual) / 1e6;
        one.confidence = CULPRIT_LIKELY;
        one.evidence = WORDING(b->m->arena, &cluster_text.stage, PLACE("n", one.n_ranks),
                               PLACE("ms", all[k] / 1e6), PLACE("ratio", all[k] / usual));
        one.action = said(b, &cluster_text.stage_next);
        vec_push(&b->list, one);
    }
}

/* ---- links ---- */

static void blame_link(struct blame *b, const struct slow_link *slow)
{
    const struct cluster_group *g = &b->m->groups[slow->group];
    struct culprit one = {.kind = CULPRIT_SLOW_LINK, .rank = -1, .slow = slow};

    if (slow->from >= 0) {
        one.link = ARENA_NEW(b->m->arena, struct culprit_link);
        *one.link = (struct culprit_link){slow->from, slow->to};
    }
    one.ranks = (int64_t *)g->ranks;
    one.n_ranks = g->n;
    one.place = CLUSTER_NONE;
    one.confidence = slow->from >= 0 ? CULPRIT_SURE : CULPRIT_LIKELY;
    one.steps = ARENA_ARRAY(b->m->arena, int64_t, b->m->n_steps);
    for (size_t s = 0; s < b->m->n_steps; s++)
        one.steps[one.n_steps++] = b->m->steps[s];
    one.recurrence = RECURS_ALWAYS;
    if (slow->from >= 0)
        one.evidence = WORDING(b->m->arena, &cluster_text.link_slow, PLACE("from", slow->from),
                               PLACE("to", slow->to), PLACE("ratio", slow->slow));
    else
        one.evidence = WORDING(b->m->arena, &cluster_text.link_unknown, PLACE("n", g->n),
                               PLACE("ratio", slow->slow), PLACE("links", slow->links));
    if (slow->is_by_matrix && slow->from >= 0)
        add_evidence(b, &one, &cluster_text.link_matrix);
    one.action = said(b, &cluster_text.link_next);
    vec_push(&b->list, one);
}

/* ---- what each costs ---- */

/* What the stretch before a call would be shorter by. */
static double excess_of_call(const struct blame *b, const struct culprit *one, uint32_t rank,
                             size_t call)
{
    const struct cluster_work *w = b->w;
    const struct summary_call *c = &b->m->ranks[rank].calls[call];
    const struct work_of_call *of = &w->of_call[rank][call];

    switch (one->kind) {
    case CULPRIT_COMPUTE_SLOW:
        return (double)c->compute * (1 - 1 / w->speed[rank]);
    case CULPRIT_HOST_STALL:
        return of->more[WORK_IDLE] > stall_least / 2 ? of->more[WORK_IDLE] : 0;
    case CULPRIT_STORAGE:
        return fmax(0, of->more[WORK_STORAGE]);
    default: {
        int32_t step = cluster_step_of(b->m, rank, c->step);
        double all = step >= 0 ? work_at(w, WORK_COMPUTE, rank, (size_t)step) : NAN;
        if (one->n_ranks > 0) /* a stage: of all its work the same share */
            return all > 0 ? fmin(1, one->excess_ms * 1e6 / all) * (double)c->compute : 0;
        return fmax(0, of->more[WORK_COMPUTE]);
    }
    }
}

static bool is_meant(const struct blame *b, const struct culprit *one, uint32_t rank)
{
    for (size_t i = 0; i < one->n_ranks; i++)
        if (one->ranks[i] == b->m->ranks[rank].rank)
            return true;
    return one->place == rank;
}

static void repair(const struct blame *b, const struct culprit *one, struct cluster_change *change)
{
    const struct cluster_model *m = b->m;

    for (size_t i = 0; i < m->n_nodes; i++) {
        const struct cluster_node *node = &m->nodes[i];
        if (one->kind == CULPRIT_SLOW_LINK) {
            if (one->slow->in_group[node->group])
                change->transit[i] +=
                    (node->end - node->last) * (1 - 1 / fmax(1, m->groups[node->group].slow));
            continue;
        }
        for (uint32_t k = node->first; k < node->first + node->n; k++)
            if (is_meant(b, one, m->members[k].rank))
                change->stretch[k] +=
                    excess_of_call(b, one, m->members[k].rank, m->members[k].call);
    }
}

static double length_without(struct blame *b, size_t from, size_t to, size_t but)
{
    struct arena_mark mark = arena_mark(b->m->arena);
    struct cluster_change change = cluster_change_new(b->m);

    for (size_t i = from; i < to; i++)
        if (i != but)
            repair(b, &b->list.at[i], &change);
    double length = cluster_replay_run(&b->c->replay, &change);
    arena_rewind(b->m->arena, mark);
    return length;
}

ORDER_BY(by_saving, struct culprit,
         ORDER(y->total_ms, x->total_ms) ?: ORDER(x->kind, y->kind) ?: ORDER(x->rank, y->rank)
                                         ?: ORDER(x->place, y->place));

/* What repairing each would save, by itself or when all others are repaired, whichever is more: a
 * culprit may hide behind another. Those that nobody waits for are left out. */
static void value_culprits(struct blame *b)
{
    double length = cluster_replay_run(&b->c->replay, NULL);
    double none = length_without(b, 0, b->list.n, SIZE_MAX);
    double steps = b->m->n_steps > 0 ? (double)b->m->n_steps : 1;
    size_t kept = 0;

    for (size_t i = 0; i < b->list.n; i++) {
        double alone = length - length_without(b, i, i + 1, SIZE_MAX);
        double last = length_without(b, 0, b->list.n, i) - none;
        b->list.at[i].total_ms = fmax(fmax(alone, last), 0) / 1e6;
        b->list.at[i].saving_ms = b->list.at[i].total_ms / steps;
        b->list.at[i].base_ms = length / 1e6;
        b->list.at[i].share = length > 0 ? b->list.at[i].total_ms * 1e6 / length : 0;
    }
    for (size_t i = 0; i < b->list.n; i++)
        if (b->list.at[i].share >= worth)
            b->list.at[kept++] = b->list.at[i];
    b->list.n = kept;
    if (kept > 0)
        qsort(b->list.at, kept, sizeof(*b->list.at), by_saving);
    cluster_replay_run(&b->c->replay, NULL);
}

void cluster_blame(struct cluster *c)
{
    struct blame b = {.c = c, .m = c->model, .w = c->work};

    blame_compute(&b);
    blame_stalls(&b);
    blame_storage(&b);
    blame_uneven(&b);
    blame_stages(&b);
    for (size_t i = 0; i < c->links->n; i++)
        blame_link(&b, &c->links->slow[i]);
    value_culprits(&b);
    c->n_culprits = b.list.n;
    c->culprits = ARENA_ARRAY(c->model->arena, struct culprit, b.list.n);
    if (b.list.n > 0)
        memcpy(c->culprits, b.list.at, b.list.n * sizeof(*c->culprits));
    vec_free(&b.list);
}
