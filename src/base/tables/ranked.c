/* Medians and quantiles: by sorting, and by quickselect where there are many values. */
#include "base/tables/ranked.h"

#include <assert.h>
#include <stdlib.h>

#include "base/tables/hash.h"

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    if (isnan(x) || isnan(y))
        return (isnan(x) != 0) - (isnan(y) != 0);
    return (x > y) - (x < y);
}

void ranked_sort(double *values, size_t n)
{
    if (n > 1)
        qsort(values, n, sizeof(*values), ascending);
}

double ranked_at(const double *sorted, size_t n, double q)
{
    double place = q * (double)(n - 1);
    size_t below = (size_t)place;

    if (below + 1 >= n)
        return sorted[n - 1];
    return sorted[below] + (sorted[below + 1] - sorted[below]) * (place - (double)below);
}

double ranked_nearest(const double *sorted, size_t n, double q)
{
    double rank = ceil(q * (double)n);
    size_t at = rank < 1 ? 1 : (size_t)rank;

    return sorted[(at > n ? n : at) - 1];
}

double ranked_middle(const double *sorted, size_t n)
{
    return n > 0 ? (sorted[(n - 1) / 2] + sorted[n / 2]) / 2 : NAN;
}

int ranked_order(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return ORDER(x, y);
}

size_t ranked_set(int64_t *values, size_t n)
{
    size_t kept = 0;

    if (n > 1)
        qsort(values, n, sizeof(*values), ranked_order);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || values[kept - 1] != values[i])
            values[kept++] = values[i];
    return kept;
}

static void swap(nanos *a, nanos *b)
{
    nanos t = *a;

    *a = *b;
    *b = t;
}

/* The middle one of three from scattered places, so that no order of the numbers is a bad one. */
static nanos pivot_of(const nanos *list, size_t lo, size_t hi, uint64_t *state)
{
    nanos at[3];

    for (size_t i = 0; i < 3; i++) {
        *state = hash_stable_mix(*state, i);
        at[i] = list[lo + *state % (hi - lo + 1)];
    }
    if (at[0] > at[1])
        swap(&at[0], &at[1]);
    return at[2] < at[0] ? at[0] : at[2] < at[1] ? at[2] : at[1];
}

nanos ranked_pick(nanos *list, size_t n, size_t k)
{
    size_t lo = 0, hi = n - 1;
    uint64_t state = n;

    assert(k < n);
    while (lo < hi) {
        /* Three parts: below, equal to and above the pivot; many equal numbers are common. */
        nanos pivot = pivot_of(list, lo, hi, &state);
        size_t below = lo, i = lo, above = hi + 1;
        while (i < above)
            if (list[i] < pivot)
                swap(&list[i++], &list[below++]);
            else if (list[i] > pivot)
                swap(&list[i], &list[--above]);
            else
                i++;
        if (k < below)
            hi = below - 1;
        else if (k >= above)
            lo = above;
        else
            return pivot;
    }
    return list[lo];
}

double ranked_pick_middle(nanos *list, size_t n)
{
    if (n == 0)
        return NAN;
    nanos high = ranked_pick(list, n, n / 2);
    if (n % 2 == 1)
        return (double)high;
    nanos low = list[0];
    for (size_t i = 1; i < n / 2; i++)
        low = list[i] > low ? list[i] : low;
    /* Halves first: the sum of two times may not fit. */
    return (double)low / 2 + (double)high / 2;
}

nanos ranked_pick_nearest(nanos *list, size_t n, unsigned percent)
{
    size_t rank = n / 100 * percent + (n % 100 * percent + 99) / 100;

    return ranked_pick(list, n, rank > 0 ? rank - 1 : 0);
}
