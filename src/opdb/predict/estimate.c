/*
 * Models of points, asked. See estimate.h.
 */
#include "opdb/predict/estimate_in.h"

#include <math.h>
#include <string.h>

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

/* The mean of the members between the points; `sigma` is what they expect of its error. */
static double near_guess(const struct estimate_field *f, const struct estimate_member *members,
                         unsigned n, const struct call_work *w, const double *place,
                         uint32_t without, struct estimate_guess *out)
{
    double mean = 0, squares = 0, variance, expected = 0;

    for (unsigned i = 0; i < n; i++) {
        const struct estimate_member *m = &members[i];
        struct estimate_field own = *f;
        own.kriging = &m->kriging;
        own.roof = &m->roof;
        own.rest = m->rest;
        struct estimate_near near = estimate_nearest(&own, place, without);
        double one = log(estimate_roof_us(&m->roof, w)) + estimate_krige(&own, &near, &variance);
        if (i == 0)
            out->near = near;
        mean += m->weight * one;
        squares += m->weight * one * one;
        expected += m->weight * m->spread * m->spread * variance;
    }
    out->sigma = sqrt(expected + fmax(0, squares - mean * mean));
    return mean;
}

void estimate_guess(const struct estimate_field *f, const struct estimate_member *members,
                    unsigned n_members, const struct estimate_hull *hull,
                    const struct estimate_far *far, const struct estimate_chip *chip,
                    const struct call_work *w, uint32_t without, struct estimate_guess *out)
{
    double place[WORK_AXES];

    estimate_place(w, place);
    out->distance = hull != NULL ? estimate_hull_distance(hull, place, without) : 0;
    double near = near_guess(f, members, n_members, w, place, without, out);
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

void estimate_far_of(struct estimate_far *far, const struct estimate_fits *f,
                     const struct estimate_chip *chip, enum work_kind kind, double most_bytes)
{
    /* Errors are hardly as independent as their number, and never this small. */
    const double many = 40, exact = 0.005;
    double least = INFINITY, sum = 0;

    far->n = f->n;
    for (unsigned i = 0; i < f->n; i++)
        least = fmin(least, f->misfit[i]);
    for (unsigned i = 0; i < f->n; i++) {
        far->roof[i] = f->at[i];
        estimate_beyond_cache(&far->roof[i], chip, kind, most_bytes);
        far->weight[i] =
            pow(fmax(f->misfit[i], exact) / fmax(least, exact), -fmin(f->points, many) / 2);
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
    m->n_members = fit.n_members;
    for (unsigned k = 0; k < m->n_members; k++) {
        struct estimate_member *one = &m->member[k];
        *one = fit.member[k];
        one->rest = mem_grow(NULL, sizeof(double), n + 1);
        for (size_t i = 0; i < n; i++)
            one->rest[i] = log(points[i].us / estimate_roof_us(&one->roof, &points[i].work));
    }
    m->tree = estimate_tree_new(&m->member[0].kriging, points, n);
    estimate_hull_make(&m->hull, (const double(*)[WORK_AXES])m->tree->place, n, NULL);
    estimate_calibrate(m, &fit);
}

void estimate_free(struct estimate_model *m)
{
    estimate_tree_free(m->tree);
    estimate_hull_free(&m->hull);
    for (unsigned k = 0; k < m->n_members; k++)
        mem_free(m->member[k].rest);
    *m = (struct estimate_model){0};
}

struct estimate_field estimate_field_of(const struct estimate_model *m)
{
    return (struct estimate_field){.place = (const double(*)[WORK_AXES])m->tree->place,
                                   .points = m->points,
                                   .n = m->n,
                                   .tree = m->tree};
}

/* Further beyond the points on some axis than they themselves reach. */
static bool is_far(const struct estimate_model *m, const double *place)
{
    const struct estimate_tree *t = m->tree;

    for (unsigned i = 0; i < WORK_AXES; i++) {
        double beyond = fmax(t->low[i] - place[i], place[i] - t->high[i]);
        if (beyond > ESTIMATE_TOUCH && beyond > t->high[i] - t->low[i])
            return true;
    }
    return false;
}

/* So far away nothing was tried: the time is that of the nearest point when all of it is launch,
 * in proportion when none of it is; the interval holds both. */
static void widen_far(const struct estimate_model *m, const struct call_work *w,
                      struct estimate *out)
{
    const struct estimate_point *p = &m->points[out->near[0]];
    struct estimate_roof bare = m->far.roof[0];

    bare.launch_us = bare.deep_us = 0;
    double other = p->us * estimate_roof_us(&bare, w) / estimate_roof_us(&bare, &p->work);
    if (m->n == 1)
        out->us = sqrt(p->us * other);
    out->low_us = fmin(fmin(out->low_us, out->us), fmin(p->us, other));
    out->high_us = fmax(fmax(out->high_us, out->us), fmax(p->us, other));
}

void estimate_call(const struct estimate_model *m, const struct call_work *w, uint32_t without,
                   struct estimate *out)
{
    struct estimate_field f = estimate_field_of(m);
    struct estimate_guess g;
    double floor = estimate_floor_us(&m->chip, w), place[WORK_AXES];

    estimate_place(w, place);
    estimate_guess(&f, m->member, m->n_members, &m->hull, &m->far, &m->chip, w, without, &g);
    *out = (struct estimate){.us = g.us,
                             .error = estimate_half(m->inside, &m->far, &g),
                             .distance = g.distance,
                             .is_inside = g.distance == 0,
                             .n_near = g.near.n};
    out->low_us = out->us * exp(-out->error);
    out->high_us = out->us * exp(out->error);
    memcpy(out->near, g.near.at, sizeof(out->near));
    if (out->n_near > 0 && is_far(m, place))
        widen_far(m, w, out);
    out->us = fmax(out->us, floor);
    out->low_us = fmax(out->low_us, floor);
    out->high_us = fmax(out->high_us, out->us);
}
