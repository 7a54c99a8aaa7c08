/*
 * cluster_links - communicators that transfer slower than their like, and the links that explain
 * it; what each communicator is for.
 */
#ifndef STRATA_ANALYSIS_RANKS_CLUSTER_LINKS_H
#define STRATA_ANALYSIS_RANKS_CLUSTER_LINKS_H

#include "analysis/ranks/cluster_model.h"

/* How the ranks are divided; 0: not known. */
struct cluster_layout {
    int64_t tp, pp, ep, dp;
};

const char *cluster_role_name(enum cluster_role role);

/* "TP 2, PP 4"; empty: not known. */
struct str cluster_layout_text(const struct cluster_layout *layout, struct arena *arena);

/* Sets the roles of all communicators. */
struct cluster_layout cluster_layout_find(struct cluster_model *m);

/* A pair of ranks as the profiler's matrices state it. */
struct cluster_pair {
    int64_t from, to;
    double megabytes, ms, gbps;
    double slow; /* against the median of its transport */
    struct str transport;
};

/* A slow link, or the members of a communicator one of whose links is slow. */
struct slow_link {
    int64_t from, to;  /* -1: which link is not known */
    uint32_t group;    /* the slowest that shows it; CLUSTER_NONE: by a matrix alone */
    double slow;       /* factor */
    bool is_by_matrix; /* a matrix of communication names the pair */
    size_t links;      /* that could be meant */
    bool *in_group;    /* by group: its transfers go over the link */
};

struct cluster_links {
    struct slow_link *slow;
    size_t n;
    struct cluster_pair *pairs; /* by ranks */
    size_t n_pairs;
    size_t compared; /* communicators that have their like */
    size_t apart;    /* slower ones that are too many to be outliers */
};

struct cluster_links *cluster_links_find(struct cluster_model *m);

#endif
