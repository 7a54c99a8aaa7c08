/*
 * page_cluster - what the views of a cluster share: which ranks are shown, and where.
 */
#ifndef STRATA_PAGE_PAGE_CLUSTER_H
#define STRATA_PAGE_PAGE_CLUSTER_H

#include "analysis/ranks/cluster.h"
#include "page/page_panel.h"

enum {
    CLUSTER_MATRIX = 64, /* ranks of a matrix, */
    CLUSTER_FEW = 16,    /* of one on the first screen */
};

struct ranked_rank {
    double value;
    size_t place;
};

struct cluster_page {
    struct page_file *page;
    const struct cluster *c;
    const struct cluster_model *m;
    double *awaited;                 /* by step and rank: others wait for it */
    bool *is_marked;                 /* by rank: a culprit */
    size_t slowest;                  /* step */
    const struct ranked_rank *lanes; /* ranks that are shown in it */
    size_t n_lanes;
    size_t *lane_of; /* by rank; SIZE_MAX: none */
};

struct wording page_cluster_rank(struct cluster_page *p, int64_t rank);

/* At most `most` ranks: culprits and those with the largest values; in their own order where they
 * are few. */
struct ranked_rank *page_cluster_choose(struct cluster_page *p, const double *value, size_t most,
                                        size_t *n);

/* The view of page_cluster_step.c. */
void page_cluster_choose_lanes(struct cluster_page *p);
void page_cluster_add_slowest(struct cluster_page *p);

/* The address of a rank in the slowest step. */
struct str page_cluster_lane(struct cluster_page *p, size_t rank);

static inline double page_cluster_steps(const struct cluster *c)
{
    return c->n_steps > 0 ? (double)c->n_steps : 1;
}

#endif
