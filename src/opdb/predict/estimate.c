/*
 * Models of points: fitted, tried on what was left out, asked. See estimate.h.
 */
#include "opdb/predict/estimate_in.h"

#include <math.h>
#include <string.h>

#include "base/tables/ranked.h"

enum { SAMPLE = 96, FOLDS = 5, BLOCKS = 5, MANY = 1024 };

struct fit {
    struct estimate_roof roof;
    struct estimate_kriging kriging;
    double spread;
};

/* A roof with a cache or with tiles has more numbers: it must be better by more than chance. */
static const double rich_gain = 0.85;

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
static double fit_kriging(struct fit *fit, const struct bench_of *b)
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
        out->roof = (struct estimate_roof){.launch_us = 1, .rate = 1, .speed = 1};
        return;
    }
    for (size_t i = 0; i < used; i++)
        estimate_place(&points[chosen[i]].work, place[i]);
    struct bench_of b = {{points, chosen, used}, place, rest};
    struct estimate_roof roofs[ESTIMATE_ROOFS];
    double least = INFINITY;
    size_t n_roofs = estimate_roofs(roofs, &b.sample, cores);
    for (size_t i = 0; i < n_roofs; i++) {
        struct fit one = *out;
        one.roof = roofs[i];
        double error = fit_kriging(&one, &b);
        if (error < least * (is_rich(&one.roof) && !is_rich(&out->roof) ? rich_gain : 1)) {
            least = error;
            *out = one;
        }
    }
}

/* ---- trials ---- */

/* The range of points on each axis, and how many lie at its ends. */
struct span {
    double low[WORK_AXES], high[WORK_AXES];
    size_t n_low[WORK_AXES], n_high[WORK_AXES];
};

static void span_add(struct span *s, const double *place)
{
    for (unsigned axis = 0; axis < WORK_AXES; axis++) {
        double value = place[axis];
        if (value <= s->low[axis]) {
            s->n_low[axis] = value < s->low[axis] ? 1 : s->n_low[axis] + 1;
            s->low[axis] = value;
        }
        if (value >= s->high[axis]) {
            s->n_high[axis] = value > s->high[axis] ? 1 : s->n_high[axis] + 1;
            s->high[axis] = value;
        }
    }
}

static struct span span_of(const struct estimate_point *points, size_t n, const bool *is_out)
{
    struct span s;

    for (unsigned axis = 0; axis < WORK_AXES; axis++) {
        s.low[axis] = INFINITY;
        s.high[axis] = -INFINITY;
        s.n_low[axis] = s.n_high[axis] = 0;
    }
    for (size_t i = 0; i < n; i++)
        if (is_out == NULL || !is_out[i])
            span_add(&s, points[i].work.axis);
    return s;
}

/* Inside the range of the points; `is_one` of them does not count. */
static bool is_between(const struct span *s, const struct call_work *w, bool is_one)
{
    for (unsigned axis = 0; axis < w->n_axes; axis++) {
        double value = w->axis[axis];
        if (value < s->low[axis] || value > s->high[axis] ||
            (is_one && value == s->low[axis] && s->n_low[axis] == 1) ||
            (is_one && value == s->high[axis] && s->n_high[axis] == 1))
            return false;
    }
    return true;
}

/* Predicts one point by a fit: from all points but itself and those that are out. */
static void try_point(const struct estimate_field *f, const struct span *span,
                      const struct fit *fit, uint32_t i, struct estimate_trial *out)
{
    const struct estimate_point *p = &f->points[i];
    double variance;
    struct estimate_near near = estimate_nearest(f, f->place[i], i);
    double mean = estimate_krige(f, &near, &variance);

    *out = (struct estimate_trial){.point = i, .sigma = fit->spread * sqrt(variance)};
    out->us = estimate_roof_us(&fit->roof, &p->work) * exp(mean);
    out->error = log(out->us / p->us);
    out->is_inside = is_between(span, &p->work, f->is_out == NULL);
}

static double score(const struct estimate_trial *t)
{
    return fabs(t->error) / t->sigma;
}

/* The quantile of scores that covers four of five new ones, with few of them the largest and more:
 * of the trials on one side, or of all where these are few, without one of them. */
static double quantile(const struct estimate_trial *trials, size_t n, bool is_inside,
                       size_t without, double *scores)
{
    size_t k = 0;

    for (size_t i = 0; i < n; i++)
        if (i != without && trials[i].is_inside == is_inside)
            scores[k++] = score(&trials[i]);
    if (k < 8)
        for (size_t i = k = 0; i < n; i++)
            if (i != without)
                scores[k++] = score(&trials[i]);
    if (k == 0)
        return 2;
    ranked_sort(scores, k);
    size_t place = (size_t)ceil(0.8 * (double)(k + 1));
    return place <= k ? scores[place - 1] : 1.5 * scores[k - 1];
}

/* The same without each trial in turn: its neighbour in the order takes its place. */
static void estimate_judge(struct estimate_trial *trials, size_t n)
{
    double *scores = mem_grow(NULL, sizeof(double), n + 1);

    for (size_t i = 0; i < n; i++) {
        double half = quantile(trials, n, trials[i].is_inside, i, scores) * trials[i].sigma;
        trials[i].low_us = trials[i].us * exp(-half);
        trials[i].high_us = trials[i].us * exp(half);
        trials[i].is_covered = fabs(trials[i].error) <= half;
    }
    mem_free(scores);
}

static double factor_of(const struct estimate_trial *trials, size_t n, bool is_inside)
{
    double *scores = mem_grow(NULL, sizeof(double), n + 1);
    double factor = quantile(trials, n, is_inside, n, scores);

    mem_free(scores);
    return factor;
}

/* Points that are tried, with a tree of their places. */
struct trying {
    const struct estimate_point *points;
    size_t n;
    const struct estimate_tree *tree;
    double cores;
};

/* Groups of points, those in the mask: fitted without the group, predicted without the point or
 * without the group. */
static size_t try_groups(const struct trying *t, const uint8_t *group, unsigned mask, bool is_block,
                         struct estimate_trial *out)
{
    bool *is_out = mem_grow(NULL, sizeof(bool), t->n + 1);
    size_t stride = t->n / ESTIMATE_TRIALS + 1, count = 0;

    for (unsigned g = 0; mask >> g != 0; g++) {
        struct fit fit;
        if ((mask >> g & 1) == 0)
            continue;
        for (size_t i = 0; i < t->n; i++)
            is_out[i] = group[i] == g;
        fit_points(t->points, t->n, is_out, t->cores, &fit);
        struct estimate_field f = {.kriging = &fit.kriging,
                                   .place = (const double(*)[WORK_AXES])t->tree->place,
                                   .points = t->points,
                                   .roof = &fit.roof,
                                   .is_out = is_block ? is_out : NULL,
                                   .n = t->n,
                                   .tree = t->tree};
        struct span span = span_of(t->points, t->n, f.is_out);
        for (uint32_t i = 0; i < t->n; i += (uint32_t)stride)
            if (group[i] == g)
                try_point(&f, &span, &fit, i, &out[count++]);
    }
    mem_free(is_out);
    estimate_judge(out, count);
    return count;
}

static size_t leave_one_out(const struct trying *t, struct estimate_trial *out)
{
    /* Parameters rest on SAMPLE points at most: of many, two halves know as much as four fifths. */
    unsigned folds = t->n > MANY ? 2 : FOLDS;
    uint8_t *group = mem_grow(NULL, 1, t->n + 1);

    for (size_t i = 0; i < t->n; i++)
        group[i] = (uint8_t)(i * 7 % folds);
    size_t count = t->n > 1 ? try_groups(t, group, (1U << folds) - 1, false, out) : 0;
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

static size_t leave_blocks_out(const struct trying *t, unsigned mask, struct estimate_trial *out)
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
    size_t count = try_groups(t, group, mask, true, out);
    mem_free(group);
    return count;
}

static size_t leave_block_out(const struct trying *t, struct estimate_trial *out)
{
    return leave_blocks_out(t, (1U << BLOCKS) - 1, out);
}

/* The blocks that the other points do not reach around. */
static size_t leave_end_out(const struct trying *t, struct estimate_trial *out)
{
    return leave_blocks_out(t, 1U | 1U << (BLOCKS - 1), out);
}

static size_t try_all(const struct estimate_point *points, size_t n, double cores,
                      size_t (*leave_out)(const struct trying *, struct estimate_trial *),
                      struct estimate_trial *out)
{
    struct estimate_kriging even = {.noise = 0};

    set_lengths(&even, 1);
    struct estimate_tree *tree = estimate_tree_new(&even, points, n);
    size_t count = leave_out(&(struct trying){points, n, tree, cores}, out);
    estimate_tree_free(tree);
    return count;
}

size_t estimate_leave_one_out(const struct estimate_point *points, size_t n, double cores,
                              struct estimate_trial *out)
{
    return try_all(points, n, cores, leave_one_out, out);
}

size_t estimate_leave_block_out(const struct estimate_point *points, size_t n, double cores,
                                struct estimate_trial *out)
{
    return try_all(points, n, cores, leave_block_out, out);
}

/* ---- the model ---- */

/* The factor beyond the points. A search from inside a block walks past all of it, so blocks are
 * left out of BLOCKED_MOST points, taken evenly. */
static double factor_beyond(const struct trying *all, struct estimate_trial *trials)
{
    enum { BLOCKED_MOST = 16384 };
    size_t stride = all->n / BLOCKED_MOST + 1, n = 0;

    if (stride == 1)
        return factor_of(trials, leave_end_out(all, trials), false);
    struct estimate_point *few = mem_grow(NULL, sizeof(*few), BLOCKED_MOST + 1);
    for (size_t i = 0; i < all->n; i += stride)
        few[n++] = all->points[i];
    double factor = factor_of(trials, try_all(few, n, all->cores, leave_end_out, trials), false);
    mem_free(few);
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
    for (size_t i = 0; i < n; i++)
        m->rest[i] = log(points[i].us / estimate_roof_us(&m->roof, &points[i].work));
    struct span span = span_of(points, n, NULL);
    memcpy(m->low, span.low, sizeof(m->low));
    memcpy(m->high, span.high, sizeof(m->high));
    m->tree = estimate_tree_new(&m->kriging, points, n);
    struct trying t = {points, n, m->tree, cores};
    m->inside = factor_of(trials, leave_one_out(&t, trials), true);
    m->outside = fmax(m->inside, factor_beyond(&t, trials));
    mem_free(trials);
}

void estimate_free(struct estimate_model *m)
{
    estimate_tree_free(m->tree);
    mem_free(m->rest);
    *m = (struct estimate_model){0};
}

/* Further beyond the points on some axis than they themselves reach. */
static bool is_far(const struct estimate_model *m, const struct call_work *w)
{
    for (unsigned i = 0; i < w->n_axes; i++) {
        double beyond = fmax(m->low[i] / w->axis[i], w->axis[i] / m->high[i]);
        if (beyond > 1 && beyond > m->high[i] / m->low[i])
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
    struct estimate_roof bare = m->roof;

    bare.launch_us = 0;
    double other = p->us * estimate_roof_us(&bare, w) / estimate_roof_us(&bare, &p->work);
    if (m->n == 1)
        out->us = sqrt(p->us * other);
    out->low_us = fmin(fmin(out->low_us, out->us), fmin(p->us, other));
    out->high_us = fmax(fmax(out->high_us, out->us), fmax(p->us, other));
}

void estimate_call(const struct estimate_model *m, const struct call_work *w, uint32_t without,
                   struct estimate *out)
{
    struct estimate_field f = {.kriging = &m->kriging,
                               .place = (const double(*)[WORK_AXES])m->tree->place,
                               .rest = m->rest,
                               .n = m->n,
                               .tree = m->tree};
    double place[WORK_AXES], variance;

    estimate_place(w, place);
    struct estimate_near near = estimate_nearest(&f, place, without);
    double mean = estimate_krige(&f, &near, &variance);
    *out = (struct estimate){.is_inside = true, .n_near = near.n};
    for (unsigned axis = 0; axis < w->n_axes; axis++)
        out->is_inside =
            out->is_inside && w->axis[axis] >= m->low[axis] && w->axis[axis] <= m->high[axis];
    out->us = estimate_roof_us(&m->roof, w) * exp(mean);
    out->error = m->spread * sqrt(variance) * (out->is_inside ? m->inside : m->outside);
    out->low_us = out->us * exp(-out->error);
    out->high_us = out->us * exp(out->error);
    memcpy(out->near, near.at, sizeof(out->near));
    if (near.n > 0 && is_far(m, w))
        widen_far(m, w, out);
}
