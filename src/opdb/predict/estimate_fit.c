/*
 * A roof and kriging fitted to points: those that predict the points best that are left out.
 */
#include "opdb/predict/estimate_in.h"

#include <math.h>
#include <string.h>

enum { SAMPLE = 96 };

/* A roof with a cache or with tiles has more numbers: it must be better by more than chance. */
static const double rich_gain = 0.85;

enum estimate_kind estimate_kind_of(const struct estimate_roof *r)
{
    return r->cores > 0 ? ESTIMATE_CUT : r->cache > 0 ? ESTIMATE_CACHED : ESTIMATE_PLAIN;
}

static bool is_rich(const struct estimate_roof *r)
{
    return r->cache > 0 || r->cores > 0;
}

/* Room for one fit: places and rests of a sample. */
struct bench_of {
    struct estimate_sample sample;
    double (*place)[WORK_AXES];
    double *rest;
};

/* Takes what has the smaller mean absolute error of each point of the sample from its neighbours.
 */
static void keep_better(struct estimate_kriging *best, double *error,
                        const struct estimate_kriging *k, const struct bench_of *b)
{
    struct estimate_field f = {.kriging = k,
                               .place = (const double(*)[WORK_AXES])b->place,
                               .rest = b->rest,
                               .n = b->sample.n};
    double sum = 0, variance;

    for (uint32_t i = 0; i < b->sample.n; i++) {
        struct estimate_near near = estimate_nearest(&f, b->place[i], i);
        double mean = estimate_krige(&f, &near, &variance);
        sum += fmin(1, fabs(b->rest[i] - mean));
    }
    if (sum / (double)b->sample.n < *error) {
        *error = sum / (double)b->sample.n;
        *best = *k;
    }
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
        k->scale[i] = 1 / length;
}

static void choose_lengths(struct estimate_kriging *best, double *error, const struct bench_of *b)
{
    unsigned n_axes = b->sample.points[b->sample.at[0]].work.n_axes;

    for (unsigned i = 0; i < 2 * n_axes; i++) {
        unsigned axis = i % n_axes;
        for (int sign = -1; sign <= 1 && varies(&b->sample, axis); sign += 2) {
            struct estimate_kriging k = *best;
            k.scale[axis] *= sign < 0 ? 2.5 : 1 / 2.5;
            keep_better(best, error, &k, b);
        }
    }
}

/* Kriging of what a roof leaves: the error of points that are left out. */
static double fit_kriging(struct estimate_member *fit, const struct bench_of *b)
{
    static const double lengths[] = {0.7, 2, 6}, noises[] = {0.001, 0.03, 0.3};
    double square = 0, error = INFINITY;

    for (size_t i = 0; i < b->sample.n; i++) {
        const struct estimate_point *p = &b->sample.points[b->sample.at[i]];
        b->rest[i] = log(p->us / estimate_roof_us(&fit->roof, &p->work));
        square += b->rest[i] * b->rest[i];
    }
    if (b->sample.n < 4)
        return 0;
    fit->spread = fmax(0.02, sqrt(square / (double)b->sample.n));
    for (size_t i = 0; i < 2 * ARRAY_LEN(lengths) * ARRAY_LEN(noises); i++) {
        struct estimate_kriging k = {.is_smooth = i % 2, .noise = noises[i / 2 % 3]};
        set_lengths(&k, lengths[i / 6]);
        keep_better(&fit->kriging, &error, &k, b);
    }
    choose_lengths(&fit->kriging, &error, b);
    for (int i = 0; i < 6; i++) {
        struct estimate_kriging k = fit->kriging;
        k.noise *= i % 3 == 0 ? 1 : i % 3 == 1 ? 3 : 1 / 3.0;
        k.is_smooth = i < 3 ? k.is_smooth : !k.is_smooth;
        keep_better(&fit->kriging, &error, &k, b);
    }
    return error;
}

static struct estimate_member start_member(const struct estimate_roof *roof)
{
    struct estimate_member m = {
        .roof = *roof, .kriging = {.noise = 0.03}, .spread = 0.35, .weight = 1};

    set_lengths(&m.kriging, 2);
    return m;
}

/* Keeps the best, best first. */
static void add_member(struct estimate_fitted *fit, const struct estimate_member *one)
{
    unsigned i = fit->n_members < ESTIMATE_MEMBERS ? fit->n_members++ : ESTIMATE_MEMBERS;

    for (; i > 0 && one->error < fit->member[i - 1].error; i--)
        if (i < ESTIMATE_MEMBERS)
            fit->member[i] = fit->member[i - 1];
    if (i < ESTIMATE_MEMBERS)
        fit->member[i] = *one;
}

/* Those that are hardly worse than the best count as much. */
static void weigh_members(struct estimate_fitted *fit)
{
    const double worse = 1.5;
    unsigned n = 0;

    while (n < fit->n_members && fit->member[n].error <= worse * fit->member[0].error + 1e-9)
        n++;
    fit->n_members = n;
    for (unsigned i = 0; i < n; i++)
        fit->member[i].weight = 1.0 / n;
}

/* Weights of the points by their rank in time, 1 on average; the longest counts four times as much
 * as the shortest. */
static void weigh(const struct estimate_point *points, const uint32_t *chosen, size_t n,
                  double *weight)
{
    const double longest = 3;

    for (size_t i = 0; i < n; i++) {
        size_t below = 0;
        for (size_t k = 0; k < n; k++)
            below += points[chosen[k]].us < points[chosen[i]].us;
        double rank = ((double)below + 0.5) / (double)n;
        weight[i] = (1 + longest * rank) / (1 + longest / 2);
    }
}

/* Fits roof and kriging to the points that are not left out, or a sample of them. */
void estimate_fit_points(const struct estimate_point *points, size_t n, const bool *is_out,
                         const struct estimate_chip *chip, struct estimate_fitted *out)
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
    *out = (struct estimate_fitted){.n_members = 0};
    if (used == 0) {
        struct estimate_member none =
            start_member(&(struct estimate_roof){.launch_us = 1, .rate = 1, .speed = 1});
        add_member(out, &none);
        out->of_kind[ESTIMATE_PLAIN].at[0] = none.roof;
        out->of_kind[ESTIMATE_PLAIN].n = 1;
        return;
    }
    for (size_t i = 0; i < used; i++)
        estimate_place(&points[chosen[i]].work, place[i]);
    struct bench_of b = {{points, chosen, used, chip, NULL}, place, rest};
    struct estimate_roof roofs[ESTIMATE_ROOFS + ESTIMATE_FITS];
    size_t n_roofs = estimate_roofs(roofs, out->of_kind, &b.sample);
    const struct estimate_fits *plain = &out->of_kind[ESTIMATE_PLAIN];
    for (unsigned i = 0; i < plain->n && plain->n > 1; i++)
        roofs[n_roofs++] = plain->at[i];
    for (size_t i = 0; i < n_roofs; i++) {
        struct estimate_member one = start_member(&roofs[i]);
        one.error = fit_kriging(&one, &b) / (is_rich(&one.roof) ? rich_gain : 1);
        add_member(out, &one);
    }
    weigh_members(out);
    /* Beyond the points the longest of them tell most. */
    double weight[SAMPLE];
    weigh(points, chosen, used, weight);
    b.sample.weight = weight;
    for (unsigned kind = 0; kind < ESTIMATE_KINDS; kind++)
        estimate_refit(&out->of_kind[kind], &b.sample);
}
