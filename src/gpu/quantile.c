#include "gpu/quantile.h"

#include <assert.h>
#include <math.h>

#include "base/hash.h"

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
        *state = hash_mix(*state, i);
        at[i] = list[lo + *state % (hi - lo + 1)];
    }
    if (at[0] > at[1])
        swap(&at[0], &at[1]);
    return at[2] < at[0] ? at[0] : at[2] < at[1] ? at[2] : at[1];
}

nanos quantile_at(nanos *list, size_t n, size_t k)
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

double quantile_median(nanos *list, size_t n)
{
    if (n == 0)
        return NAN;
    nanos high = quantile_at(list, n, n / 2);
    if (n % 2 == 1)
        return (double)high;
    nanos low = list[0];
    for (size_t i = 1; i < n / 2; i++)
        low = list[i] > low ? list[i] : low;
    /* Halves first: the sum of two times may not fit. */
    return (double)low / 2 + (double)high / 2;
}

nanos quantile_rank(nanos *list, size_t n, unsigned percent)
{
    size_t rank = n / 100 * percent + (n % 100 * percent + 99) / 100;

    return quantile_at(list, n, rank > 0 ? rank - 1 : 0);
}
