/*
 * Models of points: fitted, tried on what was left out, asked. See estimate.h.
 */
#include "perfdb/estimate_in.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 96, FOLDS = 5, BLOCKS = 5 };

struct fit {
    struct estimate_roof roof;
    struct estimate_kriging kriging;
    double spread;
};

/* Room for one fit: places and rests of a sample. */
struct bench_of {
    struct estimate_sample sample;
    double (*place)[WORK_AXES];
    double *rest;
};

/* Mean absolute error of each point of the sample from its neighbours. */
static double left_out_error(const struct estimate_kriging *k, const struct bench_of *b)
{
    struct estimate_field f = {.kriging = k, .place = b->place, .rest = b->rest, .n = b->sample.n};
    double sum = 0, variance;

    for (size_t i = 0; i < b->sample.n; i++)
        estimate_place(k, &b->sample.points[b->sample.at[i]].work, b->place[i]);
    for (uint32_t i = 0; i < b->sample.n; i++) {
        struct estimate_near near = estimate_nearest(&f, b->place[i], i);
        double mean =
            estimate_krige(k, (const double(*)[WORK_AXES])b->place, b->rest, &near, &variance);
        sum += fmin(1, fabs(b->rest[i] - mean));
    }
    return sum / (double)b->sample.n;
}

static bool varies(const struct estimate_sample *s, unsigned axis)
{
    for (size_t i = 1; i < s->n; i++)
        if (s->points[s->at[i]].work.axis[axis] != s->points[s->at[0]].work.axis[axis])
            return true;
    return false;
}

static void set_lengths(struct estimate_kriging *k, double length)
{
    for (unsigned i = 0; i < WORK_AXES; i++)
        k->length[i] = length;
}

static void choose_shape(struct estimate_kriging *best, double *error, const struct bench_of *b)
{
    static const double lengths[] = {0.7, 2, 6}, noises[] = {0.001, 0.03, 0.3};

    for (size_t i = 0; i < 2 * ARRAY_LEN(lengths) * ARRAY_LEN(noises); i++) {
        struct estimate_kriging k = {.is_smooth = i % 2, .noise = noises[i / 2 % 3]};
        set_lengths(&k, lengths[i / 6]);
        double now = left_out_error(&k, b);
        if (now < *error) {
            *error = now;
            *best = k;
        }
    }
}

static void choose_lengths(struct estimate_kriging *best, double *error, const struct bench_of *b)
{
    unsigned n_axes = b->sample.points[b->sample.at[0]].work.n_axes;

    for (unsigned i = 0; i < 2 * n_axes; i++) {
        unsigned axis = i % n_axes;
        for (int sign = -1; sign <= 1 && varies(&b->sample, axis); sign += 2) {
            struct estimate_kriging k = *best;
            k.length[axis] *= sign < 0 ? 1 / 2.5 : 2.5;
            double now = left_out_error(&k, b);
            if (now < *error) {
                *error = now;
                *best = k;
            }
        }
    }
}

/* Kriging of what a roof leaves: the error of points that are left out. */
static double fit_kriging(struct fit *fit, const struct bench_of *b)
{
    double square = 0, error = INFINITY;

    for (size_t i = 0; i < b->sample.n; i++) {
        const struct estimate_point *p = &b->sample.points[b->sample.at[i]];
        b->rest[i] = log(p->us / estimate_roof_us(&fit->roof, &p->work));
        square += b->rest[i] * b->rest[i];
    }
    if (b->sample.n < 4)
        return 0;
    fit->spread = fmax(0.02, sqrt(square / (double)b->sample.n));
    choose_shape(&fit->kriging, &error, b);
    choose_lengths(&fit->kriging, &error, b);
    return error;
}

/* Fits roof and kriging to the points that are not left out, or a sample of them. */
static void fit_points(const struct estimate_point *points, size_t n, const bool *is_out,
                       double cores, struct fit *out)
{
    uint32_t chosen[SAMPLE];
    double rest[SAMPLE], place[SAMPLE][WORK_AXES];
    size_t taken = 0, seen = 0, used = 0;

    for (size_t i = 0; i < n; i++)
        taken += is_out == NULL || !is_out[i];
    size_t most = taken < SAMPLE ? taken : SAMPLE;
    for (uint32_t i = 0; i < n && most > 0; i++) {
        if (is_out != NULL && is_out[i])
            continue;
        if (seen++ * most / taken == used && used < most)
            chosen[used++] = i;
    }
    *out = (struct fit){.kriging = {.noise = 0.03}, .spread = 0.35};
    set_lengths(&out->kriging, 2);
    if (used == 0) {
        out->roof = (struct estimate_roof){1, 1, 1, 0, 0, 0};
        return;
    }
    struct bench_of b = {{points, chosen, used}, place, rest};
    struct estimate_roof roofs[ESTIMATE_ROOFS];
    double least = INFINITY;
    size_t n_roofs = estimate_roofs(roofs, &b.sample, cores);
    for (size_t i = 0; i < n_roofs; i++) {
        struct fit one = *out;
        one.roof = roofs[i];
        double error = fit_kriging(&one, &b);
        if (error < least) {
            least = error;
            *out = one;
        }
    }
}

/* ---- trials ---- */

static bool is_between(const struct estimate_point *points, size_t n, const bool *is_out,
                       uint32_t without, const struct call_work *w)
{
    unsigned below = 0, above = 0, all = (1U << w->n_axes) - 1;

    for (uint32_t i = 0; i < n; i++) {
        if (i == without || (is_out != NULL && is_out[i]))
            continue;
        for (unsigned axis = 0; axis < w->n_axes; axis++) {
            below |= (unsigned)(points[i].work.axis[axis] <= w->axis[axis]) << axis;
            above |= (unsigned)(points[i].work.axis[axis] >= w->axis[axis]) << axis;
        }
        if (below == all && above == all)
            return true;
    }
    return false;
}

/* Predicts one point by a fit: from all points but itself and those that are out. */
static void try_point(const struct estimate_field *f, const struct estimate_point *points,
                      const struct fit *fit, uint32_t i, struct estimate_trial *out)
{
    double variance;
    struct estimate_near near = estimate_nearest(f, f->place[i], i);
    double mean =
        estimate_krige(f->kriging, (const double(*)[WORK_AXES])f->place, f->rest, &near, &variance);

    *out = (struct estimate_trial){.point = i, .sigma = fit->spread * sqrt(variance)};
    out->us = estimate_roof_us(&fit->roof, &points[i].work) * exp(mean);
    out->error = log(out->us / points[i].us);
    out->is_inside = is_between(points, f->n, f->is_out, i, &points[i].work);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double score(const struct estimate_trial *t)
{
    return fabs(t->error) / t->sigma;
}

/* The quantile that covers four of five new ones; with few of them, the largest and more. */
static double quantile(double *scores, size_t n)
{
    if (n == 0)
        return 2;
    qsort(scores, n, sizeof(*scores), by_value);
    size_t place = (size_t)ceil(0.8 * (double)(n + 1));
    return place <= n ? scores[place - 1] : 1.5 * scores[n - 1];
}

/* The same without each trial in turn: its neighbour in the order takes its place. */
static void judge(struct estimate_trial *trials, size_t n)
{
    double *scores = mem_grow(NULL, sizeof(double), n + 1);

    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        for (size_t j = 0; j < n; j++)
            if (j != i && trials[j].is_inside == trials[i].is_inside)
                scores[k++] = score(&trials[j]);
        if (k < 8)
            for (size_t j = k = 0; j < n; j++)
                if (j != i)
                    scores[k++] = score(&trials[j]);
        double half = quantile(scores, k) * trials[i].sigma;
        trials[i].low_us = trials[i].us * exp(-half);
        trials[i].high_us = trials[i].us * exp(half);
        trials[i].is_covered = fabs(trials[i].error) <= half;
    }
    mem_free(scores);
}

/* Groups of points: fitted without the group, predicted without the point or without the group. */
static size_t try_groups(const struct estimate_point *points, size_t n, const uint8_t *group,
                         unsigned groups, bool is_block, double cores, struct estimate_trial *out)
{
    bool *is_out = mem_grow(NULL, sizeof(bool), n + 1);
    double *rest = mem_grow(NULL, sizeof(double), n + 1);
    double(*place)[WORK_AXES] = mem_grow(NULL, sizeof(*place), n + 1);
    size_t stride = n / ESTIMATE_TRIALS + 1, count = 0;

    for (unsigned g = 0; g < groups; g++) {
        struct fit fit;
        for (size_t i = 0; i < n; i++)
            is_out[i] = group[i] == g;
        fit_points(points, n, is_out, cores, &fit);
        for (size_t i = 0; i < n; i++) {
            estimate_place(&fit.kriging, &points[i].work, place[i]);
            rest[i] = log(points[i].us / estimate_roof_us(&fit.roof, &points[i].work));
        }
        struct estimate_field f = {&fit.kriging, place, rest, is_block ? is_out : NULL, n, NULL};
        for (uint32_t i = 0; i < n; i += (uint32_t)stride)
            if (group[i] == g)
                try_point(&f, points, &fit, i, &out[count++]);
    }
    mem_free(place);
    mem_free(rest);
    mem_free(is_out);
    judge(out, count);
    return count;
}

size_t estimate_leave_one_out(const struct estimate_point *points, size_t n, double cores,
                              struct estimate_trial *out)
{
    uint8_t *group = mem_grow(NULL, 1, n + 1);

    for (size_t i = 0; i < n; i++)
        group[i] = (uint8_t)(i * 7 % FOLDS);
    size_t count = n > 1 ? try_groups(points, n, group, FOLDS, false, cores, out) : 0;
    mem_free(group);
    return count;
}

/* The axis whose values reach furthest, in logarithms. */
static unsigned longest_axis(const struct estimate_point *points, size_t n, double *low,
                             double *high)
{
    unsigned longest = 0;
    double most = -1;

    for (unsigned axis = 0; axis < points[0].work.n_axes; axis++) {
        double least = INFINITY, greatest = -INFINITY;
        for (size_t i = 0; i < n; i++) {
            least = fmin(least, points[i].work.axis[axis]);
            greatest = fmax(greatest, points[i].work.axis[axis]);
        }
        if (log(greatest / least) > most) {
            most = log(greatest / least);
            longest = axis;
            *low = log(least);
            *high = log(greatest);
        }
    }
    return longest;
}

size_t estimate_leave_block_out(const struct estimate_point *points, size_t n, double cores,
                                struct estimate_trial *out)
{
    double low = 0, high = 0;

    if (n < 2)
        return 0;
    uint8_t *group = mem_grow(NULL, 1, n);
    unsigned axis = longest_axis(points, n, &low, &high);
    for (size_t i = 0; i < n; i++) {
        double share = high > low ? (log(points[i].work.axis[axis]) - low) / (high - low) : 0;
        group[i] = (uint8_t)fmin(BLOCKS - 1, floor(share * BLOCKS));
    }
    size_t count = try_groups(points, n, group, BLOCKS, true, cores, out);
    mem_free(group);
    return count;
}

/* ---- the model ---- */

static double factor_of(const struct estimate_trial *trials, size_t n, bool is_inside)
{
    double *scores = mem_grow(NULL, sizeof(double), n + 1);
    size_t k = 0;

    for (size_t i = 0; i < n; i++)
        if (trials[i].is_inside == is_inside)
            scores[k++] = score(&trials[i]);
    if (k < 8)
        for (size_t i = k = 0; i < n; i++)
            scores[k++] = score(&trials[i]);
    double factor = quantile(scores, k);
    mem_free(scores);
    return factor;
}

void estimate_fit(struct estimate_model *m, const struct estimate_point *points, size_t n,
                  double cores)
{
    struct estimate_trial *trials = mem_grow(NULL, sizeof(*trials), 2 * (ESTIMATE_TRIALS + 1));
    struct fit fit;

    *m = (struct estimate_model){.points = points, .n = n};
    fit_points(points, n, NULL, cores, &fit);
    m->roof = fit.roof;
    m->kriging = fit.kriging;
    m->spread = fit.spread;
    m->rest = mem_grow(NULL, sizeof(double), n + 1);
    for (size_t i = 0; i < n; i++) {
        m->rest[i] = log(points[i].us / estimate_roof_us(&m->roof, &points[i].work));
        for (unsigned axis = 0; axis < points[0].work.n_axes; axis++) {
            double value = points[i].work.axis[axis];
            m->low[axis] = i == 0 ? value : fmin(m->low[axis], value);
            m->high[axis] = i == 0 ? value : fmax(m->high[axis], value);
        }
    }
    size_t one = estimate_leave_one_out(points, n, cores, trials);
    m->inside = factor_of(trials, one, true);
    size_t block = estimate_leave_block_out(points, n, cores, trials);
    m->outside = fmax(m->inside, factor_of(trials, block, false));
    mem_free(trials);
    m->tree = estimate_tree_new(&m->kriging, points, n);
}

void estimate_free(struct estimate_model *m)
{
    estimate_tree_free(m->tree);
    mem_free(m->rest);
    *m = (struct estimate_model){0};
}

void estimate_call(const struct estimate_model *m, const struct call_work *w, uint32_t without,
                   struct estimate *out)
{
    struct estimate_field f = {&m->kriging, m->tree->place, m->rest, NULL, m->n, m->tree};
    double place[WORK_AXES], variance;

    estimate_place(&m->kriging, w, place);
    struct estimate_near near = estimate_nearest(&f, place, without);
    double mean = estimate_krige(&m->kriging, (const double(*)[WORK_AXES])m->tree->place, m->rest,
                                 &near, &variance);
    *out = (struct estimate){.is_inside = true, .n_near = near.n};
    for (unsigned axis = 0; axis < w->n_axes; axis++)
        out->is_inside =
            out->is_inside && w->axis[axis] >= m->low[axis] && w->axis[axis] <= m->high[axis];
    out->us = estimate_roof_us(&m->roof, w) * exp(mean);
    out->error = m->spread * sqrt(variance) * (out->is_inside ? m->inside : m->outside);
    out->low_us = out->us * exp(-out->error);
    out->high_us = out->us * exp(out->error);
    memcpy(out->near, near.at, sizeof(out->near));
}
