/*
 * The nearest points, and kriging between them.
 */
#include "opdb/predict/estimate_in.h"

#include <math.h>
#include <string.h>

enum { LEAF = 12 };

void estimate_place(const struct call_work *w, double *out)
{
    for (unsigned i = 0; i < WORK_AXES; i++)
        out[i] = i < w->n_axes ? log(w->axis[i]) : 0;
}

/* In lengths of the kriging, squared. */
static double distance2(const struct estimate_kriging *k, const double *a, const double *b)
{
    double sum = 0;

    for (unsigned i = 0; i < WORK_AXES; i++) {
        double side = (a[i] - b[i]) * k->scale[i];
        sum += side * side;
    }
    return sum;
}

/* Equal distances go by number, so that the order in which points come does not matter. */
static void near_add(struct estimate_near *near, uint32_t point, double far)
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

static double near_kernel(const struct estimate_kriging *k, double far2)
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

static double rest_of(const struct estimate_field *f, uint32_t point)
{
    const struct estimate_point *p;

    if (f->rest != NULL)
        return f->rest[point];
    p = &f->points[point];
    return log(p->us / estimate_roof_us(f->roof, &p->work));
}

/* Simple kriging: weights K^-1 k of what the trend leaves, variance 1 - w k + noise, where k is
 * how alike the place and each point are. */
double estimate_krige(const struct estimate_field *f, const struct estimate_near *near,
                      double *variance)
{
    const struct estimate_kriging *k = f->kriging;
    double a[ESTIMATE_NEAR][ESTIMATE_NEAR], weight[ESTIMATE_NEAR];
    double like[ESTIMATE_NEAR] = {0};
    double mean = 0, known = 0;

    for (unsigned i = 0; i < near->n; i++) {
        weight[i] = like[i] = near_kernel(k, near->far[i]);
        for (unsigned j = 0; j < i; j++)
            a[i][j] = near_kernel(k, distance2(k, f->place[near->at[i]], f->place[near->at[j]]));
        a[i][i] = 1 + k->noise;
    }
    solve(a, weight, near->n);
    for (unsigned i = 0; i < near->n; i++) {
        mean += weight[i] * rest_of(f, near->at[i]);
        known += weight[i] * like[i];
    }
    *variance = fmax(1 - known, 0) + k->noise;
    return mean;
}

static void visit_point(const struct estimate_field *f, const double *at, uint32_t without,
                        uint32_t point, struct estimate_near *near)
{
    if (point != without && (f->is_out == NULL || !f->is_out[point]))
        near_add(near, point, distance2(f->kriging, f->place[point], at));
}

/* How far a place is from a box of points: along each axis, and squared in all. */
struct box_far {
    double side[WORK_AXES];
    double all;
};

static void search(const struct estimate_field *f, const double *at, uint32_t without, size_t low,
                   size_t high, struct box_far far, struct estimate_near *near)
{
    const struct estimate_tree *t = f->tree;

    /* Sums in another order than distance2() may differ in their last digits. */
    if (near->n == ESTIMATE_NEAR && far.all * (1 - 1e-14) > near->far[ESTIMATE_NEAR - 1])
        return;
    if (high - low <= LEAF) {
        for (size_t i = low; i < high; i++)
            visit_point(f, at, without, t->order[i], near);
        return;
    }
    size_t middle = low + (high - low) / 2;
    uint32_t point = t->order[middle];
    unsigned axis = t->split[middle];
    double side = (at[axis] - f->place[point][axis]) * f->kriging->scale[axis];
    struct box_far other = far;
    if (fabs(side) > fabs(far.side[axis])) {
        other.all += side * side - far.side[axis] * far.side[axis];
        other.side[axis] = side;
    }
    visit_point(f, at, without, point, near);
    search(f, at, without, side < 0 ? low : middle + 1, side < 0 ? middle : high, far, near);
    search(f, at, without, side < 0 ? middle + 1 : low, side < 0 ? high : middle, other, near);
}

struct estimate_near estimate_nearest(const struct estimate_field *f, const double *at,
                                      uint32_t without)
{
    struct estimate_near near = {.n = 0};
    struct box_far far = {.all = 0};

    if (f->tree == NULL) {
        for (uint32_t i = 0; i < f->n; i++)
            visit_point(f, at, without, i, &near);
        return near;
    }
    for (unsigned i = 0; i < WORK_AXES; i++) {
        double beyond = fmax(f->tree->low[i] - at[i], at[i] - f->tree->high[i]);
        far.side[i] = fmax(beyond, 0) * f->kriging->scale[i];
        far.all += far.side[i] * far.side[i];
    }
    search(f, at, without, 0, f->n, far, &near);
    return near;
}

/* ---- the tree ---- */

struct tree_order {
    const struct estimate_kriging *kriging;
    const double (*place)[WORK_AXES];
    uint32_t *order;
    uint8_t *split;
};

/* The least and the greatest of what was seen. Comparisons, for fmin() is a call. */
static void stretch(double *low, double *high, const double *place)
{
    for (unsigned i = 0; i < WORK_AXES; i++) {
        low[i] = place[i] < low[i] ? place[i] : low[i];
        high[i] = place[i] > high[i] ? place[i] : high[i];
    }
}

static unsigned widest(const struct tree_order *t, size_t begin, size_t end)
{
    double low[WORK_AXES], high[WORK_AXES], widest = -1;
    unsigned axis = 0;

    memcpy(low, t->place[t->order[begin]], sizeof(low));
    memcpy(high, low, sizeof(high));
    for (size_t k = begin + 1; k < end; k++)
        stretch(low, high, t->place[t->order[k]]);
    for (unsigned i = 0; i < WORK_AXES; i++) {
        double width = (high[i] - low[i]) * t->kriging->scale[i];
        if (width > widest) {
            widest = width;
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

struct estimate_tree *estimate_tree_new(const struct estimate_kriging *k,
                                        const struct estimate_point *points, size_t n)
{
    struct estimate_tree *t = mem_grow(NULL, sizeof(*t), 1);

    t->place = mem_grow(NULL, sizeof(*t->place), n + 1);
    t->order = mem_grow(NULL, sizeof(*t->order), n + 1);
    t->split = mem_grow(NULL, 1, n + 1);
    memset(t->split, 0, n + 1);
    for (unsigned axis = 0; axis < WORK_AXES; axis++) {
        t->low[axis] = INFINITY;
        t->high[axis] = -INFINITY;
    }
    for (uint32_t i = 0; i < n; i++) {
        estimate_place(&points[i].work, t->place[i]);
        t->order[i] = i;
        stretch(t->low, t->high, t->place[i]);
    }
    struct tree_order order = {k, (const double(*)[WORK_AXES])t->place, t->order, t->split};
    split_range(&order, 0, n);
    return t;
}

void estimate_tree_free(struct estimate_tree *t)
{
    if (t == NULL)
        return;
    mem_free(t->place);
    mem_free(t->order);
    mem_free(t->split);
    mem_free(t);
}
