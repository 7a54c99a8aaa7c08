/*
 * arch_config - a model's sizes and the run's parallelism, as far as shapes and names tell.
 *
 * A size read from a tensor's shape is measured; one that follows from several of them, or from
 * the name of a folder, is inferred. Each item says what it rests on.
 */
#ifndef STRATA_ANALYSIS_ARCH_ARCH_CONFIG_H
#define STRATA_ANALYSIS_ARCH_ARCH_CONFIG_H

#include "analysis/arch/arch_family.h"
#include "capture/kinds.h"
#include "report/message.h"

struct arch_layers;
struct arch_markers;
struct study;

struct config_item {
    const char *name;  /* "hidden_size" */
    const char *title; /* "hidden size" */
    int64_t number;    /* -1: `text` holds the value */
    struct str text;
    enum origin origin; /* measured or inferred */
    double confidence;
    struct wording evidence;
};

enum { CONFIG_ITEMS = 24 };

struct arch_config {
    struct config_item at[CONFIG_ITEMS];
    size_t n;
    struct str parallelism; /* "DP2×TP8"; empty when nothing tells */
};

const struct arch_config *arch_config_find(struct study *st, const struct arch_ops *ops,
                                           const struct arch_layers *layers, struct str name);

/* The item of that name, or NULL. */
const struct config_item *arch_config_get(const struct arch_config *config, const char *name);

#endif
