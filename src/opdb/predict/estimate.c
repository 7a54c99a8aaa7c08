/*
 * Models of points, asked. See estimate.h.
 */
#include "opdb/predict/estimate_in.h"

#include <math.h>
#include <string.h>

#define SHARP 0.5

double estimate_floor_us(const struct estimate_chip *chip, const struct call_work *w)
{
    double compute = chip->rate > 0 ? w->flops / chip->rate : 0;
    bool is_memory = chip->speed > 0 && w->bytes > 2 * chip->cache;

    return fmax(compute, is_memory ? w->bytes / chip->speed : 0);
}

/* What a far roof leaves of the points around, on average. */
static double far_rest(const struct estimate_field *f, const struct estimate_near *near,
                       const struct estimate_roof *roof)
{
    enum { SOME = 4 };
    double sum = 0;
    unsigned n = near->n < SOME ? near->n : SOME;

    for (unsigned i = 0; i < n; i++) {
        const struct estimate_point *p = &f->points[near->at[i]];
        sum += log(p->us / estimate_roof_us(roof, &p->work));
    }
    return n > 0 ? sum / n : 0;
}

/* The mean of what the far roofs tell, and how far they are apart. */
static double far_guess(const struct estimate_field *f, const struct estimate_far *far,
                        const struct call_work *w, const struct estimate_near *near, double *apart)
{
    double mean = 0, squares = 0;

    for (unsigned i = 0; i < far->n; i++) {
        const struct estimate_roof *r = &far->roof[i];
        double one = log(estimate_roof_us(r, w)) + far->hold * far_rest(f, near, r);
        mean += far->weight[i] * one;
        squares += far->weight[i] * one * one;
    }
    *apart = sqrt(fmax(0, squares - mean * mean));
    return mean;
}

/* Within this distance the rows around count more than the far roofs. */
static const double blend = 1.5;

void estimate_guess(const struct estimate_field *f, const struct estimate_hull *hull,
                    const struct estimate_far *far, double spread,
                    const struct estimate_chip *chip, const struct call_work *w, uint32_t without,
                    struct estimate_guess *out)
{
    double place[WORK_AXES], variance;

    estimate_place(w, place);
    out->near = estimate_nearest(f, place, without);
    out->distance = estimate_hull_distance(hull, place, without);
    double near = log(estimate_roof_us(f->roof, w)) + estimate_krige(f, &out->near, &variance);
    out->sigma = spread * sqrt(variance);
    out->apart = 0;
    if (out->distance > 0) {
        double share = exp(-out->distance / blend);
        double beyond = far_guess(f, far, w, &out->near, &out->apart);
        near = share * near + (1 - share) * beyond;
    }
    out->us = fmax(exp(near), estimate_floor_us(chip, w));
}

double estimate_half(double inside, const struct estimate_far *far, const struct estimate_guess *g)
{
    return sqrt(pow(inside * g->sigma, 2) + pow(1.2816 * g->apart, 2) +
                pow(far->growth * g->distance, 2));
}

void estimate_far_of(struct estimate_far *far, const struct estimate_family *f,
                     const struct estimate_chip *chip, enum work_kind kind, double most_bytes)
{
    double least = INFINITY, sum = 0;

    far->n = f->n;
    for (unsigned i = 0; i < f->n; i++)
        least = fmin(least, f->misfit[i]);
    for (unsigned i = 0; i < f->n; i++) {
        far->roof[i] = f->at[i];
        estimate_beyond_cache(&far->roof[i], chip, kind, most_bytes, i);
        far->weight[i] = exp(-SHARP * fmin(f->points, 40) * log(fmax(f->misfit[i], 0.005) / fmax(least, 0.005)));
        sum += far->weight[i];
    }
    for (unsigned i = 0; i < f->n; i++)
        far->weight[i] /= sum;
}

void estimate_fit(struct estimate_model *m, const struct estimate_point *points, size_t n,
                  const struct estimate_chip *chip)
{
    struct estimate_fitted fit;

    *m = (struct estimate_model){.points = points, .n = n, .chip = *chip};
    estimate_fit_points(points, n, NULL, chip, &fit);
    m->roof = fit.roof;
    m->kriging = fit.kriging;
    m->spread = fit.spread;
    m->rest = mem_grow(NULL, sizeof(double), n + 1);
    for (size_t i = 0; i < n; i++)
        m->rest[i] = log(points[i].us / estimate_roof_us(&m->roof, &points[i].work));
    m->tree = estimate_tree_new(&m->kriging, points, n);
    estimate_hull_make(&m->hull, (const double(*)[WORK_AXES])m->tree->place, n, NULL);
    estimate_calibrate(m, &fit);
}

void estimate_free(struct estimate_model *m)
{
    estimate_tree_free(m->tree);
    estimate_hull_free(&m->hull);
    mem_free(m->rest);
    *m = (struct estimate_model){0};
}

void estimate_call(const struct estimate_model *m, const struct call_work *w, uint32_t without,
                   struct estimate *out)
{
    struct estimate_field f = {.kriging = &m->kriging,
                               .place = (const double(*)[WORK_AXES])m->tree->place,
                               .rest = m->rest,
                               .points = m->points,
                               .roof = &m->roof,
                               .n = m->n,
                               .tree = m->tree};
    struct estimate_guess g;
    double floor = estimate_floor_us(&m->chip, w);

    estimate_guess(&f, &m->hull, &m->far, m->spread, &m->chip, w, without, &g);
    *out = (struct estimate){.us = g.us,
                             .error = estimate_half(m->inside, &m->far, &g),
                             .distance = g.distance,
                             .is_inside = g.distance == 0,
                             .n_near = g.near.n};
    out->low_us = fmax(out->us * exp(-out->error), floor);
    out->high_us = out->us * exp(out->error);
    memcpy(out->near, g.near.at, sizeof(out->near));
}
