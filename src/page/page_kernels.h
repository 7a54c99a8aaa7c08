/*
 * page_kernels - a row for each kernel and shape: how often, how long, how far from the roof.
 */
#ifndef STRATA_PAGE_PAGE_KERNELS_H
#define STRATA_PAGE_PAGE_KERNELS_H

#include "base/text/num.h"
#include "device/device.h"

struct page_set;

enum { PAGE_KERNELS = 1000, PAGE_TREND = 32 };

struct page_kernel {
    uint32_t what;
    uint32_t longest; /* slice */
    size_t count;
    nanos total, mean, p95, max;
    nanos wait; /* -1: not recorded */
    nanos per_step;
    double share;        /* of all kernels */
    double roof;         /* share of its time that it needs at the roof; 0: not known */
    bool is_compute;     /* bound by the units, not by memory; where the roof is known */
    double headroom;     /* ns a step; below 0: not known */
    double flops, bytes; /* of a call, on average; 0: not known */
    struct str op;       /* that launched the longest one; empty: not recorded */
    nanos trend[PAGE_TREND];
    size_t n_trend;
};

struct page_kernels {
    struct page_kernel *at; /* by time that could be saved, then by time; at most PAGE_KERNELS */
    size_t n, all;
    const struct device *device; /* NULL: not in the table */
};

/* Lives in the set's study `apart`. */
struct page_kernels page_kernels_find(struct page_set *set);

#endif
