/*
 * Kriging of what a roof leaves. See estimate.h.
 */
#include "perfdb/estimate_in.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAF = 12, SAMPLE = 96, FOLDS = 5, BLOCKS = 5 };

/* The points in order of a k-d tree: the middle of each range splits it. */
struct estimate_tree {
    double (*place)[WORK_AXES]; /* by number of the point: ln(axis) / length */
    uint32_t *order;
    uint8_t *split; /* axis at each place of `order` */
};

/* The nearest points so far, nearest first. */
struct near {
    uint32_t at[ESTIMATE_NEAR];
    double far[ESTIMATE_NEAR]; /* squared distance */
    unsigned n;
};

static void place_of(const struct estimate_kriging *k, const struct work *w, double *out)
{
    for (unsigned i = 0; i < WORK_AXES; i++)
        out[i] = i < w->n_axes ? log(w->axis[i]) / k->length[i] : 0;
}

static double distance2(const double *a, const double *b)
{
    double sum = 0;

    for (unsigned i = 0; i < WORK_AXES; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

static void near_add(struct near *near, uint32_t point, double far)
{
    unsigned i = near->n;

    if (i == ESTIMATE_NEAR) {
        if (far > near->far[i - 1] || (far == near->far[i - 1] && point > near->at[i - 1]))
            return;
        i--;
    } else {
        near->n++;
    }
    for (;
         i > 0 && (near->far[i - 1] > far || (near->far[i - 1] == far && near->at[i - 1] > point));
         i--) {
        near->far[i] = near->far[i - 1];
        near->at[i] = near->at[i - 1];
    }
    near->far[i] = far;
    near->at[i] = point;
}

static double kernel(const struct estimate_kriging *k, double far2)
{
    double far = sqrt(far2);

    return k->is_smooth ? (1 + 1.7320508 * far) * exp(-1.7320508 * far) : exp(-far);
}

/* Solves (K + noise) w = k in place by Cholesky; `a` is the lower triangle, row after row. */
static void solve(double a[][ESTIMATE_NEAR], double *b, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j <= i; j++) {
            double sum = a[i][j];
            for (unsigned k = 0; k < j; k++)
                sum -= a[i][k] * a[j][k];
            a[i][j] = i == j ? sqrt(fmax(sum, 1e-12)) : sum / a[j][j];
        }
    }
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < i; k++)
            b[i] -= a[i][k] * b[k];
        b[i] /= a[i][i];
    }
    for (unsigned i = n; i-- > 0;) {
        for (unsigned k = i + 1; k < n; k++)
            b[i] -= a[k][i] * b[k];
        b[i] /= a[i][i];
    }
}

/* The mean at a place, and its variance in units of the spread. */
static double krige(const struct estimate_kriging *k, const double (*place)[WORK_AXES],
                    const double *rest, const struct near *near, double *variance)
{
    double a[ESTIMATE_NEAR][ESTIMATE_NEAR], weight[ESTIMATE_NEAR], like[ESTIMATE_NEAR];
    double mean = 0, known = 0;

    for (unsigned i = 0; i < near->n; i++) {
        weight[i] = like[i] = kernel(k, near->far[i]);
        for (unsigned j = 0; j < i; j++)
            a[i][j] = kernel(k, distance2(place[near->at[i]], place[near->at[j]]));
        a[i][i] = 1 + k->noise;
    }
    solve(a, weight, near->n);
    for (unsigned i = 0; i < near->n; i++) {
        mean += weight[i] * rest[near->at[i]];
        known += weight[i] * like[i];
    }
    *variance = fmax(1 - known, 0) + k->noise;
    return mean;
}

/* What predictions are made from: points in places, with what the roof leaves of them. */
struct field_of {
    const struct estimate_kriging *kriging;
    double (*place)[WORK_AXES];
    const double *rest;
    const bool *is_out; /* points that do not take part; NULL: all do */
    size_t n;
    const struct estimate_tree *tree;
};

static void search(const struct field_of *f, const double *at, uint32_t without, size_t low,
                   size_t high, struct near *near)
{
    const struct estimate_tree *t = f->tree;

    if (high - low <= LEAF) {
        for (size_t i = low; i < high; i++)
            if (t->order[i] != without)
                near_add(near, t->order[i], distance2(f->place[t->order[i]], at));
        return;
    }
    size_t middle = low + (high - low) / 2;
    uint32_t point = t->order[middle];
    double side = at[t->split[middle]] - f->place[point][t->split[middle]];
    if (point != without)
        near_add(near, point, distance2(f->place[point], at));
    for (int turn = 0; turn < 2; turn++) {
        bool is_left = (side < 0) == (turn == 0);
        if (turn == 1 && near->n == ESTIMATE_NEAR && side * side > near->far[ESTIMATE_NEAR - 1])
            return;
        search(f, at, without, is_left ? low : middle + 1, is_left ? middle : high, near);
    }
}

static struct near find_near(const struct field_of *f, const double *at, uint32_t without)
{
    struct near near = {.n = 0};

    if (f->tree != NULL) {
        search(f, at, without, 0, f->n, &near);
        return near;
    }
    for (uint32_t i = 0; i < f->n; i++)
        if (i != without && (f->is_out == NULL || !f->is_out[i]))
            near_add(&near, i, distance2(f->place[i], at));
    return near;
}

/* ---- the tree ---- */

struct tree_order {
    const double (*place)[WORK_AXES];
    uint32_t *order;
    uint8_t *split;
};

static unsigned widest(const struct tree_order *t, size_t low, size_t high)
{
    double widest = -1;
    unsigned axis = 0;

    for (unsigned i = 0; i < WORK_AXES; i++) {
        double least = INFINITY, most = -INFINITY;
        for (size_t k = low; k < high; k++) {
            least = fmin(least, t->place[t->order[k]][i]);
            most = fmax(most, t->place[t->order[k]][i]);
        }
        if (most - least > widest) {
            widest = most - least;
            axis = i;
        }
    }
    return axis;
}

static bool is_before(const struct tree_order *t, unsigned axis, uint32_t a, uint32_t b)
{
    double x = t->place[a][axis], y = t->place[b][axis];

    return x != y ? x < y : a < b;
}

/* Brings the element that belongs at `middle` there, smaller ones before it. */
static void select_middle(struct tree_order *t, unsigned axis, size_t low, size_t high,
                          size_t middle)
{
    while (low < high) {
        uint32_t pivot = t->order[low + (high - low) / 2];
        size_t i = low, j = high;
        while (i <= j) {
            while (is_before(t, axis, t->order[i], pivot))
                i++;
            while (is_before(t, axis, pivot, t->order[j]))
                j--;
            if (i > j)
                break;
            uint32_t swap = t->order[i];
            t->order[i++] = t->order[j];
            t->order[j] = swap;
            if (j == 0)
                break;
            j--;
        }
        if (middle <= j)
            high = j;
        else if (middle >= i)
            low = i;
        else
            return;
    }
}

static void split_range(struct tree_order *t, size_t low, size_t high)
{
    while (high - low > LEAF) {
        size_t middle = low + (high - low) / 2;
        unsigned axis = widest(t, low, high);
        select_middle(t, axis, low, high - 1, middle);
        t->split[middle] = (uint8_t)axis;
        split_range(t, low, middle);
        low = middle + 1;
    }
}

static void make_tree(struct estimate_model *m)
{
    struct estimate_tree *t = mem_grow(NULL, sizeof(*t), 1);

    t->place = mem_grow(NULL, sizeof(*t->place), m->n);
    t->order = mem_grow(NULL, sizeof(*t->order), m->n);
    t->split = mem_grow(NULL, 1, m->n);
    memset(t->split, 0, m->n);
    for (uint32_t i = 0; i < m->n; i++) {
        place_of(&m->kriging, &m->points[i].work, t->place[i]);
        t->order[i] = i;
    }
    struct tree_order order = {(const double(*)[WORK_AXES])t->place, t->order, t->split};
    split_range(&order, 0, m->n);
    m->tree = t;
}

/* ---- fitting ---- */

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
    struct field_of f = {.kriging = k, .place = b->place, .rest = b->rest, .n = b->sample.n};
    double sum = 0, variance;

    for (size_t i = 0; i < b->sample.n; i++)
        place_of(k, &b->sample.points[b->sample.at[i]].work, b->place[i]);
    for (uint32_t i = 0; i < b->sample.n; i++) {
        struct near near = find_near(&f, b->place[i], i);
        double mean = krige(k, (const double(*)[WORK_AXES])b->place, b->rest, &near, &variance);
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
                       uint32_t without, const struct work *w)
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
static void try_point(const struct field_of *f, const struct estimate_point *points,
                      const struct fit *fit, uint32_t i, struct estimate_trial *out)
{
    double variance;
    struct near near = find_near(f, f->place[i], i);
    double mean =
        krige(f->kriging, (const double(*)[WORK_AXES])f->place, f->rest, &near, &variance);

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
            place_of(&fit.kriging, &points[i].work, place[i]);
            rest[i] = log(points[i].us / estimate_roof_us(&fit.roof, &points[i].work));
        }
        struct field_of f = {&fit.kriging, place, rest, is_block ? is_out : NULL, n, NULL};
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
    make_tree(m);
}

void estimate_free(struct estimate_model *m)
{
    if (m->tree != NULL) {
        mem_free(m->tree->place);
        mem_free(m->tree->order);
        mem_free(m->tree->split);
        mem_free(m->tree);
    }
    mem_free(m->rest);
    *m = (struct estimate_model){0};
}

void estimate_call(const struct estimate_model *m, const struct work *w, uint32_t without,
                   struct estimate *out)
{
    struct field_of f = {&m->kriging, m->tree->place, m->rest, NULL, m->n, m->tree};
    double place[WORK_AXES], variance;

    place_of(&m->kriging, w, place);
    struct near near = find_near(&f, place, without);
    double mean =
        krige(&m->kriging, (const double(*)[WORK_AXES])m->tree->place, m->rest, &near, &variance);
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
