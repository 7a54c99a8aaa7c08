/*
 * How far a call lies outside of all that was measured: the distance to the convex hull of the
 * points, on the logarithms of the axes. In it every axis, and the work as well, lies between
 * that of some points; a corner of the box around them may be far outside.
 *
 * The nearest place of the hull is found by Wolfe's method: a simplex of points is kept, the point
 * furthest towards the target joins it, and those that do not carry the nearest place leave it.
 */
#include "opdb/predict/estimate_in.h"

#include <math.h>
#include <string.h>

enum { CORNERS = WORK_AXES + 1, STEPS = 64 };

struct simplex {
    uint32_t at[CORNERS + 1];
    double from[CORNERS + 1][WORK_AXES]; /* the points as seen from the target */
    double weight[CORNERS + 1];
    unsigned n;
};

static double dot(const double *a, const double *b)
{
    double sum = 0;

    for (unsigned i = 0; i < WORK_AXES; i++)
        sum += a[i] * b[i];
    return sum;
}

static void simplex_place(const struct simplex *s, double *out)
{
    memset(out, 0, sizeof(double) * WORK_AXES);
    for (unsigned k = 0; k < s->n; k++)
        for (unsigned i = 0; i < WORK_AXES; i++)
            out[i] += s->weight[k] * s->from[k][i];
}

static void simplex_add(struct simplex *s, const struct estimate_hull *h, uint32_t point,
                        const double *target)
{
    s->at[s->n] = point;
    for (unsigned i = 0; i < WORK_AXES; i++)
        s->from[s->n][i] = h->place[point][i] - target[i];
    s->weight[s->n] = s->n == 0 ? 1 : 0;
    s->n++;
}

/* Weights that sum up to 1 and bring the plane through the corners nearest to the target, by
 * elimination; false when the corners lie in a plane of fewer dimensions. */
static bool affine_weights(const struct simplex *s, double *out)
{
    double a[CORNERS + 2][CORNERS + 3] = {{0}};
    unsigned n = s->n + 1; /* the last unknown is the multiplier of the sum */

    for (unsigned i = 0; i < s->n; i++) {
        for (unsigned j = 0; j < s->n; j++)
            a[i][j] = dot(s->from[i], s->from[j]);
        a[i][s->n] = a[s->n][i] = 1;
    }
    a[s->n][n] = 1;
    for (unsigned k = 0; k < n; k++) {
        unsigned most = k;
        for (unsigned i = k + 1; i < n; i++)
            most = fabs(a[i][k]) > fabs(a[most][k]) ? i : most;
        if (fabs(a[most][k]) < 1e-12)
            return false;
        for (unsigned j = k; j <= n; j++) {
            double swap = a[k][j];
            a[k][j] = a[most][j];
            a[most][j] = swap;
        }
        for (unsigned i = 0; i < n; i++) {
            double by = i == k ? 0 : a[i][k] / a[k][k];
            for (unsigned j = k; j <= n && by != 0; j++)
                a[i][j] -= by * a[k][j];
        }
    }
    for (unsigned i = 0; i < s->n; i++)
        out[i] = a[i][n] / a[i][i];
    return true;
}

static void simplex_drop(struct simplex *s)
{
    unsigned kept = 0;

    for (unsigned k = 0; k < s->n; k++)
        if (s->weight[k] > 1e-12) {
            s->at[kept] = s->at[k];
            s->weight[kept] = s->weight[k];
            memcpy(s->from[kept], s->from[k], sizeof(s->from[k]));
            kept++;
        }
    s->n = kept;
}

/* Weights of the nearest place within the simplex; corners that it does not need leave. */
static void settle(struct simplex *s)
{
    double want[CORNERS + 1] = {0};

    while (s->n > 1) {
        double step = 1;
        if (!affine_weights(s, want)) { /* a corner too many: the last one that came */
            s->n--;
            return;
        }
        for (unsigned k = 0; k < s->n; k++)
            if (want[k] < 0)
                step = fmin(step, s->weight[k] / (s->weight[k] - want[k]));
        for (unsigned k = 0; k < s->n; k++)
            s->weight[k] += step * (want[k] - s->weight[k]);
        if (step == 1)
            return;
        simplex_drop(s);
    }
    s->weight[0] = 1;
}

/* The point of the hull furthest in a direction. */
static uint32_t furthest(const struct estimate_hull *h, const double *way, uint32_t without)
{
    uint32_t found = ESTIMATE_NONE;
    double least = INFINITY;

    for (size_t k = 0; k < h->n; k++) {
        double along = h->at[k] == without ? INFINITY : dot(h->place[h->at[k]], way);
        if (along < least) {
            least = along;
            found = h->at[k];
        }
    }
    return found;
}

/* Wolfe's method; a place nearer than ESTIMATE_TOUCH is in the hull. */
double estimate_hull_distance(const struct estimate_hull *h, const double *at, uint32_t without)
{
    struct simplex s = {.n = 0};
    double place[WORK_AXES] = {1};
    uint32_t next = furthest(h, place, without);

    if (next == ESTIMATE_NONE)
        return 0;
    simplex_add(&s, h, next, at);
    for (int i = 0; i < STEPS; i++) {
        simplex_place(&s, place);
        double far2 = dot(place, place);
        next = furthest(h, place, without);
        double gain = far2 - (dot(h->place[next], place) - dot(at, place));
        if (far2 < ESTIMATE_TOUCH * ESTIMATE_TOUCH || gain <= 1e-9 * fmax(far2, 1e-6) ||
            s.n > WORK_AXES)
            return sqrt(far2) < ESTIMATE_TOUCH ? 0 : sqrt(far2);
        simplex_add(&s, h, next, at);
        settle(&s);
    }
    return sqrt(dot(place, place));
}

/* A fixed set of directions, the same on every machine. */
static void direction(unsigned i, double *out)
{
    for (unsigned k = 0; k < WORK_AXES; k++) {
        uint32_t bits = (i * 2654435761U + k * 40503U) * 2246822519U;
        out[k] = (double)(bits >> 8) / (double)(1U << 23) - 1;
    }
}

/* Of many points those that lie furthest in some direction: a hull that is hardly smaller. */
void estimate_hull_make(struct estimate_hull *h, const double (*place)[WORK_AXES], size_t n,
                        const bool *is_out)
{
    enum { ALL = 1024, WAYS = 512 };
    struct estimate_hull all = {place, mem_grow(NULL, sizeof(*all.at), n + 1), 0};

    for (uint32_t i = 0; i < n; i++)
        if (is_out == NULL || !is_out[i])
            all.at[all.n++] = i;
    *h = all;
    if (all.n <= ALL)
        return;
    h->at = mem_grow(NULL, sizeof(*h->at), WAYS + 1);
    h->n = 0;
    for (unsigned w = 0; w < WAYS; w++) {
        double way[WORK_AXES];
        direction(w, way);
        h->at[h->n++] = furthest(&all, way, ESTIMATE_NONE);
    }
    mem_free(all.at);
}

void estimate_hull_free(struct estimate_hull *h)
{
    mem_free(h->at);
    h->at = NULL;
}
