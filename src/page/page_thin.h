/*
 * page_thin - fewer items where a page would be too large.
 *
 * A run of neighbours in a row of a lane, each shorter than q and less than q apart, becomes one
 * bundle that keeps their count and busy time by family and is named after its longest slice. Host
 * slices are thinned before parts of communication, and those before device slices.
 */
#ifndef STRATA_PAGE_PAGE_THIN_H
#define STRATA_PAGE_PAGE_THIN_H

#include "page/page_set.h"

enum page_thin_class { THIN_HOST, THIN_COMM, THIN_DEVICE };

enum { THIN_CLASSES = THIN_DEVICE + 1, THIN_PYTHON_DEPTH = 8 };

struct page_thinning {
    bool drops_python;     /* Python frames at depth THIN_PYTHON_DEPTH and below are left out */
    nanos q[THIN_CLASSES]; /* 0: complete */
};

/* The least thinning with at most `most` items, or the strongest there is. */
struct page_thinning page_thin_choose(const struct page_set *set, size_t most);

/* Makes the items of all lanes; sets first, n, depth and busy of each. */
void page_thin_apply(struct page_set *set, const struct page_thinning *thinning);

#endif
