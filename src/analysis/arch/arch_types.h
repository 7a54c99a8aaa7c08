/*
 * arch_types - layers of one type put together, and what is inside a typical one.
 */
#ifndef STRATA_ANALYSIS_ARCH_ARCH_TYPES_H
#define STRATA_ANALYSIS_ARCH_ARCH_TYPES_H

#include "analysis/arch/arch_roles.h"
#include "report/message.h"

struct role_op {
    uint32_t op;
    struct str label, kernel; /* of the operator; its name where that is not the label */
    size_t count;
    nanos total;
};

struct arch_role {
    enum role role;
    const char *name;
    nanos wall;   /* union of its kernels */
    double share; /* of the layer's wall */
    size_t kernels;
    uint32_t *lanes;
    struct str *streams; /* the names of the lanes */
    size_t n_lanes;
    struct role_op *ops; /* in order of first appearance */
    size_t n_ops;
};

/* Neighbouring kernels of one operator in a layer's tree. */
struct tree_item {
    uint32_t op;
    uint32_t lane;
    size_t count;
    nanos duration;
    bool is_overlapped; /* half of it or more runs under other layers' work on the main stream */
};

/* Neighbouring kernels of one role; a role may come again. */
struct tree_branch {
    enum role role;
    struct tree_item *items;
    size_t n;
};

/* Order statistics of something over the layers of a type. */
struct arch_spread {
    double min, p10, median, p90, max, mean, deviation;
    double ratio; /* deviation to mean */
};

struct arch_variant {
    char name; /* 'a', 'b', ... */
    size_t count;
    struct str layers;
    uint64_t signature;
    size_t kernels;
};

struct arch_type {
    enum layer_kind kind;
    enum arch_phase phase;
    bool is_mla, is_backward, has_sampling; /* some layer of it samples */
    bool is_tail; /* decode layers right after the prefill layers of a pass */
    size_t count; /* in all complete passes */
    size_t count_per_pass;
    bool is_even;          /* the same count in every complete pass */
    struct str layers;     /* numbers in a pass: "0–1, 3–91" or "D0" */
    size_t representative; /* index into layers */
    struct arch_spread kernels, wall, attention_share, attention, dfc, post;
    uint32_t dominant;     /* operator of most time in the representative layer */
    double dominant_share; /* of the layer's kernel time */
    struct arch_role *roles;
    size_t n_roles;
    struct tree_branch *tree;
    size_t n_branches;
    struct arch_variant *variants;
    size_t n_variants; /* 0 or 1: all alike */
    struct wording *anomalies;
    size_t n_anomalies;
};

struct arch_types {
    struct arch_type *at;
    size_t n;
    size_t median_pass; /* index into passes; the one layers are taken from */
    /* The last prefill layer of that pass, with head and sampling; NULL when a type shows it. */
    const struct arch_type *last;
};

/* Sets the type and variant of each layer. */
const struct arch_types *arch_types_find(struct study *st, const struct arch_ops *ops,
                                         const struct arch_markers *markers,
                                         const struct arch_layers *layers);

/* "3–91" from numbers in ascending order; `prefix` goes before each. */
struct str arch_ranges(struct arena *arena, const size_t *numbers, size_t n, const char *prefix);

#endif
