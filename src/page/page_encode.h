/*
 * page_encode - the items, arrows, gaps and dictionary of a set, packed.
 */
#ifndef STRATA_PAGE_PAGE_ENCODE_H
#define STRATA_PAGE_PAGE_ENCODE_H

#include "page/page_set.h"

enum { PAGE_BUCKETS = 512 };

/* After page_thin_apply(). */
void page_encode(struct page_set *set, struct page_pack *pack);

/* Bytes that the items of the set will take in a page, by a sample of them. */
double page_encode_estimate(const struct page_set *set);

/* Shares of the families in PAGE_BUCKETS parts of the time, for each lane that is open. */
void page_overview(const struct page_set *set, struct text *out);

/* Shares of a lane that are busy, and that it waits; gives the family with most of the time. */
int page_lane_shares(const struct page_set *set, size_t lane, double busy[PAGE_BUCKETS],
                     double waits[PAGE_BUCKETS]);

#endif
