/*
 * Predictions of points that were left out: what they say of the intervals, and of the model
 * beyond the points.
 */
#include "opdb/predict/estimate_in.h"

#include <math.h>
#include <string.h>

#include "base/tables/ranked.h"

enum { FOLDS = 5, BLOCKS = 5, MANY = 1024, CUTS = 3, HOLDS = 3, CUT_TRIES = 128 };

static const double cut_shares[CUTS] = {0.15, 0.3, 0.5};
static const double holds[HOLDS] = {0, 0.5, 1};

/* Points that are tried, with a tree of their places. */
struct trying {
    const struct estimate_point *points;
    size_t n;
    const struct estimate_tree *tree;
    const struct estimate_chip *chip;
};

static struct estimate_field trying_field(const struct trying *t, const bool *is_out)
{
    return (struct estimate_field){.place = (const double(*)[WORK_AXES])t->tree->place,
                                   .points = t->points,
                                   .is_out = is_out,
                                   .n = t->n,
                                   .tree = t->tree};
}

/* ---- the quantile of scores that covers four of five new ones ---- */

static double cover(double *scores, size_t n, double otherwise)
{
    if (n == 0)
        return otherwise;
    ranked_sort(scores, n);
    size_t place = (size_t)ceil(0.8 * (double)(n + 1));
    return place <= n ? scores[place - 1] : 1.5 * scores[n - 1];
}

/* ---- beyond the points: the longest are left out ---- */

/* One point beyond a cut, predicted by every kind of roof. */
struct beyond {
    struct estimate_guess guess[ESTIMATE_KINDS][HOLDS];
    double error[ESTIMATE_KINDS][HOLDS];
    unsigned cut;
};

struct cutting {
    struct beyond *at;
    size_t n;
    bool has_kind[ESTIMATE_KINDS];
};

/* The time that is exceeded by a share of the points. */
static double longest_from(const struct trying *t, double share)
{
    double *us = mem_grow(NULL, sizeof(*us), t->n + 1);

    for (size_t i = 0; i < t->n; i++)
        us[i] = t->points[i].us;
    ranked_sort(us, t->n);
    double limit = us[(size_t)floor((1 - share) * (double)(t->n - 1))];
    mem_free(us);
    return limit;
}

/* The most bytes that a point moves. */
static double most_bytes(const struct trying *t, const bool *is_out)
{
    double most = 0;

    for (size_t i = 0; i < t->n; i++)
        if (is_out == NULL || !is_out[i])
            most = fmax(most, t->points[i].work.bytes);
    return most;
}

static void try_kinds(const struct trying *t, const struct estimate_field *f,
                      const struct estimate_hull *hull, const struct estimate_fitted *fit,
                      uint32_t point, struct beyond *out)
{
    for (unsigned kind = 0; kind < ESTIMATE_KINDS; kind++)
        for (unsigned h = 0; h < HOLDS; h++) {
            struct estimate_far far = {.hold = holds[h]};
            struct estimate_guess *g = &out->guess[kind][h];
            if (fit->of_kind[kind].n == 0)
                continue;
            estimate_far_of(&far, &fit->of_kind[kind], t->chip, t->points[0].work.kind,
                            most_bytes(t, f->is_out));
            estimate_guess(f, fit->member, fit->n_members, hull, &far, t->chip,
                           &t->points[point].work, point, g);
            out->error[kind][h] = log(g->us / t->points[point].us);
        }
}

/* Leaves a share of the longest points out and predicts some of them by every kind of roof. */
static void cut_once(const struct trying *t, unsigned cut, struct cutting *c)
{
    enum { LEAST = 4 };
    double limit = longest_from(t, cut_shares[cut]);
    bool *is_out = mem_grow(NULL, sizeof(bool), t->n + 1);
    struct estimate_fitted fit;
    struct estimate_hull hull;
    size_t out = 0;

    for (size_t i = 0; i < t->n; i++) {
        is_out[i] = t->points[i].us > limit;
        out += is_out[i];
    }
    if (out == 0 || t->n - out < LEAST) {
        mem_free(is_out);
        return;
    }
    estimate_fit_points(t->points, t->n, is_out, t->chip, &fit);
    for (unsigned k = 0; k < ESTIMATE_KINDS; k++)
        c->has_kind[k] = c->has_kind[k] && fit.of_kind[k].n > 0;
    struct estimate_field f = trying_field(t, is_out);
    estimate_hull_make(&hull, f.place, t->n, is_out);
    size_t stride = out / CUT_TRIES + 1, seen = 0;
    for (uint32_t i = 0; i < t->n; i++)
        if (is_out[i] && seen++ % stride == 0) {
            c->at[c->n].cut = cut;
            try_kinds(t, &f, &hull, &fit, i, &c->at[c->n++]);
        }
    estimate_hull_free(&hull);
    mem_free(is_out);
}

/* The mean error of a kind of roof beyond the cuts, each cut counted once. */
static double kind_error(const struct cutting *c, unsigned kind, unsigned hold)
{
    double sum[CUTS] = {0}, n[CUTS] = {0}, all = 0, cuts = 0;

    for (size_t i = 0; i < c->n; i++) {
        sum[c->at[i].cut] += fmin(1, fabs(c->at[i].error[kind][hold]));
        n[c->at[i].cut]++;
    }
    for (unsigned k = 0; k < CUTS; k++)
        if (n[k] > 0) {
            all += sum[k] / n[k];
            cuts++;
        }
    return cuts > 0 ? all / cuts : 0;
}

/* Of an error what the interval between the points does not cover, by unit of distance. */
static double growth_of(const struct cutting *c, unsigned kind, unsigned hold, double inside)
{
    enum { FEW = 3 };
    const double least = 0.1, usual = 0.25;
    double *needed = mem_grow(NULL, sizeof(*needed), c->n + 1), sum = 0, cuts = 0;

    for (unsigned cut = 0; cut < CUTS; cut++) {
        size_t n = 0;
        for (size_t i = 0; i < c->n; i++) {
            const struct beyond *b = &c->at[i];
            const struct estimate_guess *g = &b->guess[kind][hold];
            double over = pow(b->error[kind][hold], 2) -
                          pow(estimate_half(inside, &(struct estimate_far){0}, g), 2);
            if (b->cut == cut && g->distance > least)
                needed[n++] = sqrt(fmax(0, over)) / g->distance;
        }
        if (n >= FEW) {
            sum += cover(needed, n, 0);
            cuts++;
        }
    }
    mem_free(needed);
    return cuts > 0 ? fmax(sum / cuts, least / 2) : usual;
}

/* The kind with the least error beyond the cuts; one with more numbers must be better by 15 %. */
static void choose_far(struct estimate_model *m, const struct trying *t,
                       const struct estimate_fitted *whole)
{
    struct cutting c = {mem_grow(NULL, sizeof(*c.at), CUTS * (CUT_TRIES + 1) + 1), 0, {0}};
    unsigned kind = ESTIMATE_PLAIN, hold = 1;
    double least = INFINITY;

    for (unsigned k = 0; k < ESTIMATE_KINDS; k++)
        c.has_kind[k] = whole->of_kind[k].n > 0;
    for (unsigned cut = 0; cut < CUTS && t->n > 1; cut++)
        cut_once(t, cut, &c);
    for (unsigned k = 0; k < ESTIMATE_KINDS && c.n > 0; k++)
        for (unsigned h = 0; h < HOLDS && c.has_kind[k]; h++) {
            double error = kind_error(&c, k, h);
            if (error < least * (k > kind ? 0.85 : 1)) {
                least = error;
                kind = k;
                hold = h;
            }
        }
    m->far = (struct estimate_far){.hold = holds[hold]};
    m->far_kind = kind;
    estimate_far_of(&m->far, &whole->of_kind[kind], &m->chip, m->points[0].work.kind,
                    most_bytes(t, NULL));
    m->far.growth = growth_of(&c, kind, hold, m->inside);
    mem_free(c.at);
}

/* ---- trials ---- */

static void estimate_try(const struct trying *t, const struct estimate_field *f,
                         const struct estimate_fitted *fit, const struct estimate_hull *hull,
                         const struct estimate_far *far, uint32_t i, struct estimate_trial *out)
{
    const struct estimate_point *p = &t->points[i];
    struct estimate_guess g;

    estimate_guess(f, fit->member, fit->n_members, hull, far, t->chip, &p->work, i, &g);
    *out = (struct estimate_trial){.point = i,
                                   .us = g.us,
                                   .sigma = g.sigma,
                                   .apart = g.apart,
                                   .distance = g.distance,
                                   .error = log(g.us / p->us),
                                   .is_inside = g.distance == 0};
}

/* Groups of points, those in the mask: fitted without the group, predicted without the point or
 * without the group. */
static size_t try_groups(const struct trying *t, const uint8_t *group, unsigned n_groups,
                         bool is_block, const struct estimate_model *given,
                         struct estimate_trial *out)
{
    bool *is_out = mem_grow(NULL, sizeof(bool), t->n + 1);
    size_t stride = t->n / ESTIMATE_TRIALS + 1, count = 0;

    for (unsigned g = 0; g < n_groups; g++) {
        struct estimate_fitted fit;
        struct estimate_hull hull;
        for (size_t i = 0; i < t->n; i++)
            is_out[i] = group[i] == g;
        estimate_fit_points(t->points, t->n, is_out, t->chip, &fit);
        struct estimate_far far = {.hold = given != NULL ? given->far.hold : 0.5};
        unsigned kind = given != NULL ? given->far_kind : ESTIMATE_PLAIN;
        estimate_far_of(&far, &fit.of_kind[fit.of_kind[kind].n > 0 ? kind : ESTIMATE_PLAIN],
                        t->chip, t->points[0].work.kind, most_bytes(t, is_out));
        struct estimate_field f = trying_field(t, is_block ? is_out : NULL);
        estimate_hull_make(&hull, f.place, t->n, f.is_out);
        for (uint32_t i = 0; i < t->n; i += (uint32_t)stride)
            if (group[i] == g)
                estimate_try(t, &f, &fit, &hull, &far, i, &out[count++]);
        estimate_hull_free(&hull);
    }
    mem_free(is_out);
    return count;
}

static size_t leave_one_out(const struct trying *t, struct estimate_trial *out)
{
    /* Parameters rest on a sample of points at most: of many, two halves know as much as four
     * fifths. */
    unsigned folds = t->n > MANY ? 2 : FOLDS;
    uint8_t *group = mem_grow(NULL, 1, t->n + 1);

    for (size_t i = 0; i < t->n; i++)
        group[i] = (uint8_t)(i * 7 % folds);
    size_t count = t->n > 1 ? try_groups(t, group, folds, false, NULL, out) : 0;
    mem_free(group);
    return count;
}

/* The factor that covers four of five trials between the points; of all where these are few. */
static double inside_factor(const struct estimate_trial *trials, size_t n, size_t without)
{
    enum { FEW = 8 };
    double *scores = mem_grow(NULL, sizeof(double), n + 1);
    size_t k = 0;

    for (size_t i = 0; i < n; i++)
        if (i != without && trials[i].is_inside)
            scores[k++] = fabs(trials[i].error) / trials[i].sigma;
    if (k < FEW)
        for (size_t i = k = 0; i < n; i++)
            if (i != without)
                scores[k++] = fabs(trials[i].error) / trials[i].sigma;
    double factor = cover(scores, k, 2);
    mem_free(scores);
    return factor;
}

/* Errors are those of fits without the point's fold, but intervals are made of what the whole model
 * expects at a place: so the trials are scored by that. */
static void expect(const struct estimate_model *m, struct estimate_trial *trials, size_t n)
{
    struct estimate_field f = estimate_field_of(m);

    for (size_t i = 0; i < n; i++) {
        struct estimate_guess g;
        const struct call_work *w = &m->points[trials[i].point].work;
        estimate_guess(&f, m->member, m->n_members, NULL, &m->far, &m->chip, w, trials[i].point,
                       &g);
        trials[i].sigma = g.sigma;
    }
}

void estimate_calibrate(struct estimate_model *m, const struct estimate_fitted *whole)
{
    struct estimate_trial *trials = mem_grow(NULL, sizeof(*trials), 2 * (ESTIMATE_TRIALS + 1));
    struct trying t = {m->points, m->n, m->tree, &m->chip};

    size_t n = leave_one_out(&t, trials);
    expect(m, trials, n);
    m->inside = inside_factor(trials, n, n);
    choose_far(m, &t, whole);
    mem_free(trials);
}

/* ---- judged trials ---- */

/* The interval of each trial from the others. */
static void estimate_judge(struct estimate_trial *trials, size_t n, const struct estimate_far *far)
{
    for (size_t i = 0; i < n; i++) {
        struct estimate_trial *t = &trials[i];
        struct estimate_guess g = {.sigma = t->sigma, .apart = t->apart, .distance = t->distance};
        double half = estimate_half(inside_factor(trials, n, i), far, &g);
        t->low_us = t->us * exp(-half);
        t->high_us = t->us * exp(half);
        t->is_covered = fabs(t->error) <= half;
    }
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

static size_t leave_block_out(const struct trying *t, const struct estimate_model *m,
                              struct estimate_trial *out)
{
    double low = 0, high = 0;

    if (t->n < 2)
        return 0;
    uint8_t *group = mem_grow(NULL, 1, t->n);
    unsigned axis = longest_axis(t->points, t->n, &low, &high);
    for (size_t i = 0; i < t->n; i++) {
        double share = high > low ? (t->tree->place[i][axis] - low) / (high - low) : 0;
        group[i] = (uint8_t)fmin(BLOCKS - 1, floor(share * BLOCKS));
    }
    size_t count = try_groups(t, group, BLOCKS, true, m, out);
    mem_free(group);
    return count;
}

size_t estimate_leave_one_out(const struct estimate_point *points, size_t n,
                              const struct estimate_chip *chip, struct estimate_trial *out)
{
    struct estimate_model m;

    estimate_fit(&m, points, n, chip);
    size_t count = leave_one_out(&(struct trying){points, n, m.tree, chip}, out);
    expect(&m, out, count);
    estimate_judge(out, count, &m.far);
    estimate_free(&m);
    return count;
}

size_t estimate_leave_block_out(const struct estimate_point *points, size_t n,
                                const struct estimate_chip *chip, struct estimate_trial *out)
{
    struct estimate_model m;

    estimate_fit(&m, points, n, chip);
    size_t count = leave_block_out(&(struct trying){points, n, m.tree, chip}, &m, out);
    estimate_judge(out, count, &m.far);
    estimate_free(&m);
    return count;
}
