/*
 * Values between points: on a line, or on the simplex around the target.
 */
#include "opdb/predict/query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { ROWS = HULL_DIMS + 1 };

#define EPS 1e-9

/*
 * minimise sum w_j c_j  with  sum w_j (x_j - target) = 0,  sum w_j = 1,  w >= 0.
 * Columns at and past `n` are artificial: one for each row, there to begin with.
 */
struct program {
    size_t rows, n;
    const double *a; /* rows of column j at a[j * ROWS] */
    const double *cost;
    bool is_first_phase;
    size_t basis[ROWS];
    double inverse[ROWS][ROWS]; /* of the basis */
    double level[ROWS];         /* of the basic variables */
};

static double cost_of(const struct program *p, size_t j)
{
    if (j >= p->n)
        return p->is_first_phase ? 1 : 0;
    return p->is_first_phase ? 0 : p->cost[j];
}

/* The real column that lowers the cost most; by number, as soon as any does, when `by_number`:
 * that rule never runs in circles. p->n: none. */
static size_t entering(const struct program *p, bool by_number)
{
    double price[ROWS] = {0}, best = -EPS;
    size_t found = p->n;

    for (size_t i = 0; i < p->rows; i++)
        for (size_t k = 0; k < p->rows; k++)
            price[i] += cost_of(p, p->basis[k]) * p->inverse[k][i];
    for (size_t j = 0; j < p->n; j++) {
        double reduced = cost_of(p, j);
        for (size_t i = 0; i < p->rows; i++)
            reduced -= price[i] * p->a[j * ROWS + i];
        if (reduced < best) {
            found = j;
            best = reduced;
            if (by_number)
                break;
        }
    }
    return found;
}

/* The row whose variable reaches 0 first; p->rows: none does. */
static size_t leaving(const struct program *p, const double *step)
{
    size_t found = p->rows;
    double least = INFINITY;

    for (size_t i = 0; i < p->rows; i++) {
        /* An artificial variable that is out of use must not come back. */
        bool is_stuck = !p->is_first_phase && p->basis[i] >= p->n;
        if (is_stuck && fabs(step[i]) > EPS)
            return i;
        if (step[i] <= EPS)
            continue;
        double ratio = p->level[i] / step[i];
        if (ratio < least || (ratio == least && found < p->rows && p->basis[i] < p->basis[found])) {
            least = ratio;
            found = i;
        }
    }
    return found;
}

static void pivot(struct program *p, size_t row, size_t j, const double *step)
{
    double by = step[row];

    for (size_t k = 0; k < p->rows; k++)
        p->inverse[row][k] /= by;
    p->level[row] /= by;
    for (size_t i = 0; i < p->rows; i++) {
        if (i == row)
            continue;
        for (size_t k = 0; k < p->rows; k++)
            p->inverse[i][k] -= step[i] * p->inverse[row][k];
        p->level[i] -= step[i] * p->level[row];
        if (p->level[i] < 0 && p->level[i] > -EPS)
            p->level[i] = 0;
    }
    p->basis[row] = j;
}

/* False when the program cannot be solved in a sensible number of steps. */
static bool minimise(struct program *p)
{
    enum { STEPS_MAX = 10000, GREEDY_STEPS = 200 };

    for (size_t n = 0; n < STEPS_MAX; n++) {
        double step[ROWS] = {0};
        size_t j = entering(p, n > GREEDY_STEPS);
        if (j == p->n)
            return true;
        for (size_t i = 0; i < p->rows; i++)
            for (size_t k = 0; k < p->rows; k++)
                step[i] += p->inverse[i][k] * p->a[j * ROWS + k];
        size_t row = leaving(p, step);
        if (row == p->rows)
            return false;
        pivot(p, row, j, step);
    }
    return false;
}

/* The points span all dimensions: elimination finds a pivot for each. */
static bool spans(size_t dims, const double *points, size_t n, const double *scale)
{
    double kept[HULL_DIMS][HULL_DIMS];
    size_t rank = 0, lead[HULL_DIMS];

    for (size_t j = 1; j < n && rank < dims; j++) {
        double v[HULL_DIMS] = {0};
        for (size_t i = 0; i < dims; i++)
            v[i] = (points[j * dims + i] - points[i]) / scale[i];
        for (size_t r = 0; r < rank; r++) {
            double by = v[lead[r]] / kept[r][lead[r]];
            for (size_t i = 0; i < dims; i++)
                v[i] -= by * kept[r][i];
        }
        size_t most = 0;
        for (size_t i = 1; i < dims; i++)
            most = fabs(v[i]) > fabs(v[most]) ? i : most;
        if (fabs(v[most]) < EPS)
            continue;
        memcpy(kept[rank], v, sizeof(v));
        lead[rank++] = most;
    }
    return rank == dims;
}

static void set_up(struct program *p, size_t dims, const double *points, size_t n,
                   const double *target, const double *scale, double *a, double *cost)
{
    double largest = 0;

    for (size_t j = 0; j < n; j++) {
        cost[j] = 0;
        for (size_t i = 0; i < dims; i++) {
            double d = points[j * dims + i] - target[i];
            a[j * ROWS + i] = d / scale[i];
            cost[j] += d * d;
        }
        a[j * ROWS + dims] = 1;
        largest = cost[j] > largest ? cost[j] : largest;
    }
    for (size_t j = 0; j < n && largest > 0; j++)
        cost[j] /= largest;
    *p = (struct program){.rows = dims + 1, .n = n, .a = a, .cost = cost, .is_first_phase = true};
}

/* Simplex in two phases: when artificial variables stay after the first, no weights of at least
 * 0 that sum to 1 give the target, which lies outside of the points then. */
static bool solve(struct program *p, const double *values, double *out)
{
    double outside = 0, total = 0, weights = 0;

    memset(p->inverse, 0, sizeof(p->inverse));
    for (size_t i = 0; i < p->rows; i++) {
        p->basis[i] = p->n + i;
        p->inverse[i][i] = 1;
        p->level[i] = i + 1 == p->rows ? 1 : 0;
    }
    if (!minimise(p))
        return false;
    for (size_t i = 0; i < p->rows; i++)
        outside += p->basis[i] >= p->n ? p->level[i] : 0;
    if (outside > 1e-7)
        return false;
    p->is_first_phase = false;
    if (!minimise(p))
        return false;
    for (size_t i = 0; i < p->rows; i++)
        if (p->basis[i] < p->n) {
            weights += p->level[i];
            total += p->level[i] * values[p->basis[i]];
        }
    if (!(fabs(weights - 1) < 1e-6))
        return false;
    *out = total;
    return true;
}

bool query_hull(size_t dims, const double *points, const double *values, size_t n,
                const double *target, double *out)
{
    double scale[HULL_DIMS] = {0};
    struct program p;

    if (dims < 1 || dims > HULL_DIMS || n < dims + 1)
        return false;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < dims; i++)
            scale[i] = fmax(scale[i], fabs(points[j * dims + i] - target[i]));
    for (size_t i = 0; i < dims; i++)
        if (!(scale[i] > 0 && isfinite(scale[i])))
            return false;
    if (!spans(dims, points, n, scale))
        return false;
    double *a = mem_grow(NULL, sizeof(double), n * ROWS);
    double *cost = mem_grow(NULL, sizeof(double), n);
    set_up(&p, dims, points, n, target, scale, a, cost);
    bool is_found = solve(&p, values, out);
    mem_free(a);
    mem_free(cost);
    return is_found;
}

/* A point on the chosen axes alone. */
struct spot {
    double at[HULL_DIMS];
    double latency;
};

struct spots {
    VEC_OF(struct spot) list;
    size_t dims;
};

static int by_place(const void *a, const void *b)
{
    const struct spot *x = a, *y = b;

    for (size_t i = 0; i < HULL_DIMS; i++)
        if (x->at[i] != y->at[i])
            return x->at[i] < y->at[i] ? -1 : 1;
    return (x->latency > y->latency) - (x->latency < y->latency);
}

static bool is_same_place(const struct spot *x, const struct spot *y)
{
    for (size_t i = 0; i < HULL_DIMS; i++)
        if (x->at[i] != y->at[i])
            return false;
    return true;
}

/* Spots at one place become their median. The list is sorted. */
static void join_doubles(struct spots *s)
{
    size_t kept = 0;

    for (size_t i = 0, end; i < s->list.n; i = end) {
        for (end = i + 1; end < s->list.n && is_same_place(&s->list.at[i], &s->list.at[end]);)
            end++;
        size_t n = end - i;
        struct spot one = s->list.at[i + n / 2];
        if (n % 2 == 0)
            one.latency = (s->list.at[i + n / 2 - 1].latency + one.latency) / 2;
        s->list.at[kept++] = one;
    }
    s->list.n = kept;
}

static void points_choose(const struct query_points *p, struct query_axes axes,
                          const double *target, struct spots *out, double *where)
{
    for (size_t i = 0; i < axes.n_axes; i++)
        if (axes.mask >> i & 1)
            where[out->dims++] = target[i];
    for (size_t k = 0; k < p->points.n; k++) {
        const struct query_point *point = &p->points.at[k];
        struct spot spot = {.latency = point->latency};
        bool fits = true;
        for (size_t i = 0, n = 0; i < axes.n_axes; i++)
            if (axes.mask >> i & 1)
                spot.at[n++] = point->at[i];
            else
                fits = fits && point->at[i] == target[i];
        if (fits)
            vec_push(&out->list, spot);
    }
    if (out->list.n > 0)
        qsort(out->list.at, out->list.n, sizeof(*out->list.at), by_place);
    join_doubles(out);
}

static bool on_line(const struct spots *s, double x, double *out)
{
    const struct spot *low = NULL, *high = NULL;

    for (size_t i = 0; i < s->list.n; i++) {
        const struct spot *p = &s->list.at[i];
        if (p->at[0] <= x)
            low = p;
        if (p->at[0] >= x && high == NULL)
            high = p;
    }
    if (low == NULL || high == NULL)
        return false;
    double width = high->at[0] - low->at[0];
    *out = width > 0 ? low->latency + (x - low->at[0]) / width * (high->latency - low->latency)
                     : low->latency;
    return true;
}

static bool in_hull(const struct spots *s, const double *where, double *out)
{
    double *points = mem_grow(NULL, sizeof(double), s->list.n * s->dims + 1);
    double *values = mem_grow(NULL, sizeof(double), s->list.n + 1);

    for (size_t k = 0; k < s->list.n; k++) {
        for (size_t i = 0; i < s->dims; i++)
            points[k * s->dims + i] = s->list.at[k].at[i];
        values[k] = s->list.at[k].latency;
    }
    bool is_found = query_hull(s->dims, points, values, s->list.n, where, out);
    mem_free(points);
    mem_free(values);
    return is_found;
}

bool query_points_value(const struct query_points *p, struct query_axes axes, const double *target,
                        double *out)
{
    struct spots spots = {0};
    double where[POINT_AXES] = {0};

    points_choose(p, axes, target, &spots, where);
    bool is_found = spots.dims == 1   ? spots.list.n >= 2 && on_line(&spots, where[0], out)
                    : spots.dims <= 3 ? in_hull(&spots, where, out)
                                      : false;
    vec_free(&spots.list);
    return is_found && isfinite(*out) && *out > 0;
}
