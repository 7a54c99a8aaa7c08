#include "perfdb/query_points.h"

#include <math.h>
#include <stdlib.h>

#include "perfdb/hull.h"

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

static void choose(const struct query_points *p, struct query_axes axes, const double *target,
                   struct spots *out, double *where)
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
    bool is_found = hull_interpolate(s->dims, points, values, s->list.n, where, out);
    mem_free(points);
    mem_free(values);
    return is_found;
}

bool query_points_value(const struct query_points *p, struct query_axes axes, const double *target,
                        double *out)
{
    struct spots spots = {0};
    double where[POINT_AXES] = {0};

    choose(p, axes, target, &spots, where);
    bool is_found = spots.dims == 1   ? spots.list.n >= 2 && on_line(&spots, where[0], out)
                    : spots.dims <= 3 ? in_hull(&spots, where, out)
                                      : false;
    vec_free(&spots.list);
    return is_found && isfinite(*out) && *out > 0;
}
