/*
 * cluster_work: ranks of one kind, their medians, and how fast each rank runs its kernels.
 */
#include "analysis/ranks/cluster_work.h"

#include <math.h>
#include <stdlib.h>

enum {
    FAMILIES = 48,
    /* the longest of a rank */ SPREAD = 8 /* of them that tell how far they differ */
};

static const double alike = 0.9;         /* of their kernels, in numbers */
static const double least_share = 0.003; /* of a rank's kernel time */

static size_t families_of(const struct rank_summary *s)
{
    return s->n_families < FAMILIES ? s->n_families : FAMILIES;
}

static const struct summary_family *find_family(const struct rank_summary *s, uint64_t key)
{
    for (size_t i = 0; i < families_of(s); i++)
        if (s->families[i].key == key)
            return &s->families[i];
    return NULL;
}

static double per_step(const struct rank_summary *s, double value)
{
    return s->n_steps > 0 ? value / (double)s->n_steps : value;
}

/* ---- kinds of work ---- */

/* Kernels that two ranks have in common, of all that either has. */
static double common_share(const struct rank_summary *a, const struct rank_summary *b)
{
    double common = 0, all = 0;

    for (size_t i = 0; i < families_of(a); i++) {
        const struct summary_family *f = find_family(b, a->families[i].key);
        double x = per_step(a, (double)a->families[i].n);
        double y = f != NULL ? per_step(b, (double)f->n) : 0;
        common += fmin(x, y);
        all += fmax(x, y);
    }
    for (size_t i = 0; i < families_of(b); i++)
        if (find_family(a, b->families[i].key) == NULL)
            all += per_step(b, (double)b->families[i].n);
    return all > 0 ? common / all : 1;
}

static void find_kinds(struct cluster_work *w)
{
    const struct cluster_model *m = w->m;

    w->kinds = ARENA_ARRAY(m->arena, struct cluster_kind_of_work, m->n);
    w->kind_of = ARENA_ARRAY(m->arena, uint32_t, m->n);
    for (uint32_t r = 0; r < m->n; r++) {
        size_t k = 0;
        while (k < w->n_kinds && common_share(&m->ranks[r], &m->ranks[w->kinds[k].like]) < alike)
            k++;
        if (k == w->n_kinds)
            w->kinds[w->n_kinds++].like = r;
        w->kinds[k].n++;
        w->kind_of[r] = (uint32_t)k;
    }
}

/* ---- medians ---- */

static void fill_own(struct cluster_work *w)
{
    const struct cluster_model *m = w->m;

    for (int c = 0; c < WORK_CLASSES; c++) {
        w->own[c] = ARENA_ARRAY(m->arena, double, m->n * m->n_steps);
        for (size_t i = 0; i < m->n * m->n_steps; i++)
            w->own[c][i] = NAN;
    }
    for (size_t r = 0; r < m->n; r++)
        for (size_t i = 0; i < m->ranks[r].n_steps; i++) {
            const struct summary_step *s = &m->ranks[r].steps[i];
            int32_t place = cluster_step_of(m, r, (int32_t)i);
            if (place < 0)
                continue;
            size_t at = r * m->n_steps + (size_t)place;
            w->own[WORK_COMPUTE][at] = (double)s->compute;
            w->own[WORK_STORAGE][at] = (double)s->storage;
            w->own[WORK_IDLE][at] = (double)(s->idle - s->storage);
            w->own[WORK_STEP][at] = (double)(s->end - s->begin);
        }
}

static void find_median(struct cluster_work *w, int class, size_t kind, size_t step, double *room)
{
    const struct cluster_model *m = w->m;
    size_t n = 0, at = kind * m->n_steps + step;

    for (size_t r = 0; r < m->n; r++)
        if (w->kind_of[r] == kind && cluster_is_aligned(m, r) &&
            isfinite(work_at(w, class, r, step)))
            room[n++] = work_at(w, class, r, step);
    w->median[class][at] = w->scatter[class][at] = NAN;
    if (n < WORK_PEERS)
        return;
    double middle = w->median[class][at] = cluster_median(room, n);
    for (size_t i = 0; i < n; i++)
        room[i] = fabs(room[i] - middle);
    w->scatter[class][at] = cluster_median(room, n);
}

static void find_medians(struct cluster_work *w)
{
    const struct cluster_model *m = w->m;
    double *room = ARENA_ARRAY(m->arena, double, m->n + 1);

    for (int c = 0; c < WORK_CLASSES; c++) {
        w->median[c] = ARENA_ARRAY(m->arena, double, w->n_kinds * m->n_steps);
        w->scatter[c] = ARENA_ARRAY(m->arena, double, w->n_kinds * m->n_steps);
        for (size_t k = 0; k < w->n_kinds; k++)
            for (size_t s = 0; s < m->n_steps; s++)
                find_median(w, c, k, s, room);
    }
}

double work_excess(const struct cluster_work *w, enum work_class class, size_t rank, size_t step)
{
    double more =
        work_at(w, class, rank, step) - w->median[class][w->kind_of[rank] * w->m->n_steps + step];

    return isfinite(more) ? more : 0;
}

/* ---- speed ---- */

/* Mean time of a kernel of this name on ranks to compare with: those of the kind, or all when they
 * are too few. The median of several; of two the faster. */
static double usual_time(const struct cluster_work *w, uint32_t rank, uint64_t key, double *room,
                         size_t *peers)
{
    const struct cluster_model *m = w->m;
    bool is_kind = w->kinds[w->kind_of[rank]].n >= WORK_PEERS;
    size_t n = 0;

    for (size_t r = 0; r < m->n; r++) {
        const struct summary_family *f =
            !is_kind || w->kind_of[r] == w->kind_of[rank] ? find_family(&m->ranks[r], key) : NULL;
        if (f != NULL)
            room[n++] = (double)f->time / (double)f->n;
    }
    *peers = n;
    ranked_sort(room, n);
    return n >= WORK_PEERS ? ranked_middle(room, n) : n == 2 ? room[0] : NAN;
}

/* Usual times are the same for all ranks of a kind: asked once for each of its kernels. */
struct usual {
    uint64_t key;
    double time;
    size_t peers;
};

/* Standard error of the median of sorted ratios, by their median distance from it. Orders them
 * anew. */
static double error_of_median(double *list, size_t n, double median)
{
    for (size_t i = 0; i < n; i++)
        list[i] = fabs(list[i] - median);
    return n >= SPREAD ? 1.4826 * 1.2533 * cluster_median(list, n) / sqrt((double)n) : INFINITY;
}

/* The median ratio over its kernels, each name counted once: a rank with more work in some is not
 * slow in all. Names that hardly count are left out. */
static void find_speed(struct cluster_work *w, uint32_t rank, const struct usual *usual, size_t n)
{
    const struct rank_summary *s = &w->m->ranks[rank];
    double list[FAMILIES], all = 0;
    size_t count = 0, slow = 0;

    for (size_t i = 0; i < families_of(s); i++)
        all += (double)s->families[i].time;
    for (size_t i = 0; i < n; i++) {
        const struct summary_family *f = find_family(s, usual[i].key);
        if (f == NULL || !isfinite(usual[i].time) || usual[i].time <= 0)
            continue;
        double time = (double)f->time, ratio = time / (double)f->n / usual[i].time;
        double more = per_step(s, time - time / ratio);
        if (time >= least_share * all)
            list[count++] = ratio;
        if (usual[i].peers > w->peers[rank])
            w->peers[rank] = usual[i].peers;
        if (more > w->longest[rank]) {
            w->longest[rank] = more;
            w->excess[rank] = f;
        }
    }
    w->speed[rank] = cluster_median(list, count);
    for (size_t i = 0; i < count; i++)
        slow += list[i] > 1 + (w->speed[rank] - 1) / 2;
    w->slow_share[rank] = count > 0 ? (double)slow / (double)count : 0;
    w->speed_error[rank] = error_of_median(list, count, w->speed[rank]);
}

static void find_speeds(struct cluster_work *w)
{
    const struct cluster_model *m = w->m;
    double *room = ARENA_ARRAY(m->arena, double, m->n + 1);
    struct usual usual[FAMILIES];

    w->speed = ARENA_ARRAY(m->arena, double, m->n);
    for (size_t r = 0; r < m->n; r++)
        w->speed[r] = NAN;
    w->speed_error = ARENA_ARRAY(m->arena, double, m->n);
    w->slow_share = ARENA_ARRAY(m->arena, double, m->n);
    w->longest = ARENA_ARRAY(m->arena, double, m->n);
    w->peers = ARENA_ARRAY(m->arena, size_t, m->n);
    w->excess = ARENA_ARRAY(m->arena, const struct summary_family *, m->n);
    for (size_t k = 0; k < w->n_kinds; k++) {
        const struct rank_summary *s = &m->ranks[w->kinds[k].like];
        size_t n = families_of(s);
        for (size_t i = 0; i < n; i++) {
            usual[i].key = s->families[i].key;
            usual[i].time = usual_time(w, w->kinds[k].like, usual[i].key, room, &usual[i].peers);
        }
        for (uint32_t r = 0; r < m->n; r++)
            if (w->kind_of[r] == k && cluster_is_aligned(m, r))
                find_speed(w, r, usual, n);
    }
}

struct cluster_work *cluster_work_find(const struct cluster_model *m)
{
    struct cluster_work *w = ARENA_NEW(m->arena, struct cluster_work);
    size_t n = 0, all = m->n * m->n_steps;
    double *room = ARENA_ARRAY(m->arena, double, all + 1);

    w->m = m;
    find_kinds(w);
    fill_own(w);
    find_medians(w);
    for (size_t i = 0; i < all; i++)
        if (isfinite(w->own[WORK_STEP][i]))
            room[n++] = w->own[WORK_STEP][i];
    w->step_time = n > 0 ? cluster_median(room, n) : 0;
    find_speeds(w);
    cluster_calls_compare(w);
    return w;
}
