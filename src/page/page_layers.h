/*
 * page_layers - passes, layers and types of layers as a page shows them.
 *
 * Plain data: analysis/arch.h and analysis/diagnose name their families alike, so one file of this
 * folder knows the former and the others the latter.
 */
#ifndef STRATA_PAGE_PAGE_LAYERS_H
#define STRATA_PAGE_PAGE_LAYERS_H

#include "base/interval.h"
#include "report/message.h"

struct study;

enum { PAGE_PASSES = 256, PAGE_LAYERS = 2000 }; /* layers of all passes */

struct page_layer {
    size_t index;
    size_t type; /* SIZE_MAX: none */
    const char *phase;
    struct interval at;
    nanos busy;
    bool is_outlier; /* longer than nine in ten of its type */
};

struct page_pass {
    size_t number;
    bool is_partial;
    struct interval at;
    nanos busy;
    struct page_layer *layers;
    size_t n;
};

struct page_layer_op {
    struct str name;
    size_t count;
    nanos total;
};

struct page_role {
    const char *name;
    nanos wall;
    double share;
    size_t kernels;
    struct page_layer_op *ops;
    size_t n;
};

struct page_layer_type {
    const char *name, *phase;
    struct str layers; /* their numbers in a pass */
    size_t count;
    double median, p90;
    struct page_role *roles;
    size_t n;
};

struct page_layers {
    const char *summary[LANGS];
    struct page_pass *passes; /* at most PAGE_PASSES, with at most PAGE_LAYERS */
    size_t n_passes, all_passes;
    struct page_layer_type *types;
    size_t n_types;
};

/* As long as the study; NULL when no layers were found. */
const struct page_layers *page_layers_find(struct study *st);

#endif
