/*
 * cluster_clock: offset and drift of every rank's clock, from the ends of collectives.
 *
 * From the reference rank on, communicator by communicator, a rank that is not known yet is fitted
 * to the ends that are; then all are fitted to the common ends in turn. Each fit is a median of
 * slopes and a median of what is left, so that single ends that are far off do not count.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/ranks/cluster_model.h"

enum { ROUNDS = 2, POINTS = 512, DRIFT_LEAST = 8, ASKED = 64 /* members of a large group */ };

struct clock_fit {
    struct cluster_model *m;
    VEC_OF(uint32_t) * calls_of; /* by group: nodes */
    double *ends;                /* common end of each node; NAN: not known yet */
    double *room;
    double *x, *y; /* points of one fit */
    size_t n, cap;
};

/* ---- one line through points ---- */

static double level_of(struct clock_fit *f, double slope)
{
    for (size_t i = 0; i < f->n; i++)
        f->room[i] = f->y[i] - slope * f->x[i];
    return cluster_median(f->room, f->n);
}

static double spread_of_fit(struct clock_fit *f, double level, double slope)
{
    for (size_t i = 0; i < f->n; i++)
        f->room[i] = fabs(f->y[i] - level - slope * f->x[i]);
    return cluster_median(f->room, f->n);
}

/* A drift that the scatter could have made by itself is none. */
static double credible_slope(struct clock_fit *f)
{
    double low = INFINITY, high = -INFINITY;

    if (f->n < DRIFT_LEAST)
        return 0;
    for (size_t i = 0; i < f->n; i++) {
        low = fmin(low, f->x[i]);
        high = fmax(high, f->x[i]);
    }
    /* The median slope between points that are half the list apart. */
    size_t half = f->n / 2, slopes = 0;
    for (size_t i = 0; i + half < f->n; i++) {
        double dx = f->x[i + half] - f->x[i];
        if (dx > 0)
            f->room[slopes++] = (f->y[i + half] - f->y[i]) / dx;
    }
    double slope = slopes > 0 ? cluster_median(f->room, slopes) : 0;
    double scatter = 1.4826 * spread_of_fit(f, level_of(f, slope), slope);
    double error = high > low ? 4 * scatter / ((high - low) * sqrt((double)f->n)) : INFINITY;
    return fabs(slope) > 2 * error ? slope : 0;
}

/* ---- points ---- */

/* The common end of a node by the members whose clocks are known; NAN: none is. */
static double known_end(struct clock_fit *f, const struct cluster_node *node)
{
    const struct cluster_model *m = f->m;
    uint32_t stride = node->n / ASKED + 1;
    size_t n = 0;

    for (uint32_t k = 0; k < node->n; k++) {
        const struct cluster_member *at = &m->members[node->first + k];
        if (m->clocks[at->rank].is_known && (n == 0 || k % stride == 0))
            f->room[n++] = cluster_time(m, at->rank, m->ranks[at->rank].calls[at->call].end);
    }
    return cluster_median(f->room, n);
}

/* Whether an end of a rank can be compared. */
static bool is_point(const struct clock_fit *f, uint32_t rank, size_t call, bool is_pairs)
{
    uint32_t node = f->m->node_of[rank][call];

    return !f->m->nodes[node].is_lone && isfinite(f->ends[node]) &&
           f->m->groups[f->m->nodes[node].group].is_pair == is_pairs;
}

/* Ends of a rank against common ends, of one kind of communicators; of many an even selection. */
static void gather_points(struct clock_fit *f, uint32_t rank, bool is_pairs)
{
    const struct cluster_model *m = f->m;
    const struct rank_summary *s = &m->ranks[rank];
    size_t all = 0, seen = 0;

    for (size_t i = 0; i < s->n_calls; i++)
        all += is_point(f, rank, i, is_pairs);
    f->n = 0;
    for (size_t i = 0; i < s->n_calls; i++) {
        if (!is_point(f, rank, i, is_pairs) || seen++ % (all / POINTS + 1) != 0)
            continue;
        double x = (double)(s->calls[i].end - m->base - m->clocks[rank].coarse);
        if (f->n < f->cap) {
            f->x[f->n] = x;
            f->y[f->n++] = x - f->ends[m->node_of[rank][i]];
        }
    }
}

static void refit(struct clock_fit *f, uint32_t rank)
{
    struct cluster_clock *c = &f->m->clocks[rank];

    gather_points(f, rank, false);
    c->is_by_pairs = f->n == 0;
    if (f->n == 0)
        gather_points(f, rank, true);
    c->ends = f->n;
    if (f->n == 0)
        return;
    c->drift = credible_slope(f);
    c->fine = level_of(f, c->drift);
    c->residual = spread_of_fit(f, c->fine, c->drift);
}

/* ---- from rank to rank ---- */

/* Fits the members of a communicator whose clocks are not known yet; gives how many are now. */
static size_t fit_group(struct clock_fit *f, size_t group, uint32_t *fresh)
{
    struct cluster_model *m = f->m;
    size_t n = 0, fitted = 0;

    for (size_t i = 0; i < f->calls_of[group].n; i++) {
        uint32_t place = f->calls_of[group].at[i];
        const struct cluster_node *node = &m->nodes[place];
        f->ends[place] = known_end(f, node);
        if (!isfinite(f->ends[place]))
            continue;
        for (uint32_t k = 0; k < node->n; k++) {
            const struct cluster_member *at = &m->members[node->first + k];
            struct cluster_clock *c = &m->clocks[at->rank];
            if (c->is_known || c->ends > 0)
                continue;
            /* Whole nanoseconds first, so that the rest fits a double. */
            c->coarse = m->ranks[at->rank].calls[at->call].end - m->base - nanos_of(f->ends[place]);
            c->ends = 1; /* in work */
            fresh[n++] = at->rank;
        }
    }
    for (size_t i = 0; i < n; i++)
        refit(f, fresh[i]);
    for (size_t i = 0; i < n; i++) {
        m->clocks[fresh[i]].is_known = m->clocks[fresh[i]].ends > 0;
        fitted += m->clocks[fresh[i]].is_known;
    }
    return fitted;
}

/* Collectives lead on as far as they can before a pair of ranks does. */
static void walk(struct clock_fit *f)
{
    struct cluster_model *m = f->m;
    uint32_t *fresh = ARENA_ARRAY(m->arena, uint32_t, m->n);

    for (bool is_on = true; is_on;) {
        is_on = false;
        for (int pairs = 0; pairs < 2 && !is_on; pairs++)
            for (size_t g = 0; g < m->n_groups; g++)
                if (m->groups[g].is_pair == (pairs == 1) && fit_group(f, g, fresh) > 0)
                    is_on = true;
    }
}

/* All offsets against the reference, whose own is nothing. */
static void refer(struct cluster_model *m)
{
    struct cluster_clock own = m->clocks[m->reference];

    for (size_t r = 0; r < m->n; r++) {
        m->clocks[r].fine -= own.fine;
        m->clocks[r].drift -= own.drift;
    }
}

static void list_nodes(struct clock_fit *f)
{
    struct cluster_model *m = f->m;

    f->calls_of = arena_array(m->arena, sizeof(*f->calls_of), m->n_groups + 1);
    for (uint32_t i = 0; i < m->n_nodes; i++)
        if (!m->nodes[i].is_lone)
            vec_push(&f->calls_of[m->nodes[i].group], i);
}

/* The lowest rank with calls that others share; else the lowest. */
static size_t find_reference(const struct cluster_model *m)
{
    for (size_t r = 0; r < m->n; r++)
        for (size_t i = 0; i < m->ranks[r].n_calls; i++)
            if (!m->nodes[m->node_of[r][i]].is_lone)
                return r;
    return 0;
}

void cluster_clocks_fit(struct cluster_model *m)
{
    struct clock_fit f = {.m = m, .cap = POINTS + 1};

    m->clocks = ARENA_ARRAY(m->arena, struct cluster_clock, m->n);
    if (m->n == 0)
        return;
    f.room = ARENA_ARRAY(m->arena, double, (m->n > f.cap ? m->n : f.cap) + 1);
    f.x = ARENA_ARRAY(m->arena, double, f.cap);
    f.y = ARENA_ARRAY(m->arena, double, f.cap);
    m->reference = find_reference(m);
    const struct rank_summary *s = &m->ranks[m->reference];
    m->base = s->n_steps > 0 ? s->steps[0].begin : s->n_calls > 0 ? s->calls[0].begin : 0;
    m->clocks[m->reference].is_known = true;
    f.ends = ARENA_ARRAY(m->arena, double, m->n_nodes);
    for (size_t i = 0; i < m->n_nodes; i++)
        f.ends[i] = NAN;
    list_nodes(&f);
    walk(&f);
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < m->n_nodes; i++)
            f.ends[i] = known_end(&f, &m->nodes[i]);
        for (uint32_t r = 0; r < m->n; r++)
            if (m->clocks[r].is_known)
                refit(&f, r);
        refer(m);
    }
    for (size_t g = 0; g < m->n_groups; g++)
        vec_free(&f.calls_of[g]);
}
