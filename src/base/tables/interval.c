/* Sorting and merging ranges, and walks over two merged lists at once. */
#include "base/tables/interval.h"

#include <assert.h>
#include <stdlib.h>

#include "base/tables/vec.h"

ORDER_BY(by_begin, struct interval, ORDER(x->begin, y->begin) ?: ORDER(x->end, y->end));

#ifndef NDEBUG
static bool is_merged(struct interval_set set)
{
    for (size_t i = 0; i < set.n; i++)
        if (set.at[i].end <= set.at[i].begin || (i > 0 && set.at[i].begin <= set.at[i - 1].end))
            return false;
    return true;
}
#endif

void interval_merge(struct interval_set *set)
{
    size_t kept = 0;

    for (size_t i = 1; i < set->n; i++)
        if (set->at[i].begin < set->at[i - 1].begin) {
            qsort(set->at, set->n, sizeof(*set->at), by_begin);
            break;
        }
    for (size_t i = 0; i < set->n; i++) {
        struct interval r = set->at[i];
        if (r.end <= r.begin)
            continue;
        if (kept > 0 && r.begin <= set->at[kept - 1].end) {
            if (r.end > set->at[kept - 1].end)
                set->at[kept - 1].end = r.end;
        } else {
            set->at[kept++] = r;
        }
    }
    set->n = kept;
}

nanos interval_length(struct interval_set merged)
{
    nanos sum = 0;

    assert(is_merged(merged));
    for (size_t i = 0; i < merged.n; i++)
        sum = nanos_add(sum, nanos_sub(merged.at[i].end, merged.at[i].begin));
    return sum;
}

/* Index of the first range that ends after `t`. */
static size_t first_after(struct interval_set merged, nanos t)
{
    size_t first;

    vec_bisect(first, merged.n, i, merged.at[i].end <= t);
    return first;
}

/* Looked at where the ranges are used: all of a set for each of many others would cost more than
 * the answer. */
#define ASSERT_MERGED(set, i) assert((i) == 0 || (set).at[i].begin > (set).at[(i)-1].end)

nanos interval_overlap(struct interval_set a, struct interval_set b)
{
    nanos sum = 0;

    if (a.n == 0 || b.n == 0)
        return 0;
    for (size_t i = first_after(a, b.at[0].begin), k = first_after(b, a.at[0].begin);
         i < a.n && k < b.n;) {
        ASSERT_MERGED(a, i);
        ASSERT_MERGED(b, k);
        nanos begin = a.at[i].begin > b.at[k].begin ? a.at[i].begin : b.at[k].begin;
        nanos end = a.at[i].end < b.at[k].end ? a.at[i].end : b.at[k].end;
        if (end > begin)
            sum = nanos_add(sum, nanos_sub(end, begin));
        if (a.at[i].end < b.at[k].end)
            i++;
        else
            k++;
    }
    return sum;
}

struct interval_set interval_clip(struct interval_set a, struct interval window,
                                  struct interval *out)
{
    struct interval_set cut = {out, 0};

    for (size_t i = first_after(a, window.begin); i < a.n && a.at[i].begin < window.end; i++) {
        ASSERT_MERGED(a, i);
        struct interval r = a.at[i];
        if (r.begin < window.begin)
            r.begin = window.begin;
        if (r.end > window.end)
            r.end = window.end;
        if (r.end > r.begin)
            out[cut.n++] = r;
    }
    return cut;
}
