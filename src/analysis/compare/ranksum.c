/*
 * The rank-sum test of Mann and Whitney.
 */
#include "analysis/compare/ranksum.h"

#include <math.h>

struct ranksum ranksum_of(struct arena *arena, size_t n_a, size_t n_b)
{
    struct ranksum r = {.n_a = n_a, .n_b = n_b};
    double all = 0, sum = 0;

    if (n_a == 0 || n_b == 0 || n_a > RANKSUM_EXACT || n_b > RANKSUM_EXACT ||
        n_a * n_b > RANKSUM_EXACT)
        return r;
    size_t top = n_a * n_b;
    double *chance = ARENA_ARRAY(arena, double, top + 1);
    /*
     * The numbers of orders of i and n samples by their U are the coefficients of the product of
     * (1 - q^(n+k)) / (1 - q^k) for k = 1 to i. They stay whole and below 2^53 at these sizes, so
     * doubles hold them exactly; beyond, the rounding is far below what is asked of p.
     */
    chance[0] = 1;
    for (size_t k = 1; k <= n_a; k++) {
        for (size_t u = top; u >= n_b + k; u--)
            chance[u] -= chance[u - n_b - k];
        for (size_t u = k; u <= top; u++)
            chance[u] += chance[u - k];
    }
    for (size_t u = 0; u <= top; u++)
        all += chance[u];
    for (size_t u = 0; u <= top; u++) {
        sum += chance[u];
        chance[u] = sum / all;
    }
    r.chance = chance;
    return r;
}

double ranksum_least(const struct ranksum *r)
{
    if (r->n_a == 0 || r->n_b == 0)
        return 1;
    return r->chance != NULL ? fmin(1, 2 * r->chance[0]) : 0;
}

double ranksum_p(const struct ranksum *r, const double *a, const double *b)
{
    double n_a = (double)r->n_a, n_b = (double)r->n_b, n = n_a + n_b;
    double u = 0, ties = 0; /* pairs in which A is larger, equal ones by half; sum of t^3 - t */
    size_t i = 0, j = 0;

    if (r->n_a == 0 || r->n_b == 0)
        return 1;
    while (i < r->n_a || j < r->n_b) {
        double value = j >= r->n_b || (i < r->n_a && a[i] < b[j]) ? a[i] : b[j];
        size_t same_a = 0, same_b = 0;
        for (; i < r->n_a && a[i] == value; i++)
            same_a++;
        for (; j < r->n_b && b[j] == value; j++)
            same_b++;
        u += (double)same_a * ((double)(j - same_b) + (double)same_b / 2);
        double t = (double)(same_a + same_b);
        ties += t * t * t - t;
    }
    u = fmin(u, n_a * n_b - u);
    if (r->chance != NULL)
        return fmin(1, 2 * r->chance[(size_t)ceil(u)]);
    double variance = n_a * n_b / 12 * (n + 1 - ties / (n * (n - 1)));
    double distance = n_a * n_b / 2 - u - 0.5; /* with the correction for continuity */
    return variance > 0 && distance > 0 ? erfc(distance / sqrt(2 * variance)) : 1;
}
