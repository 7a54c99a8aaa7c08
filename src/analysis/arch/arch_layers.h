/*
 * arch_layers - passes through the model and the layers of each, from marker to marker.
 *
 * A layer holds its own attention, its feed-forward part, and the preparation of the next layer's
 * attention, because it is cut where attention begins. Kernels before the first marker of a pass
 * are its prologue; a training pass ends with an epilogue of everything that runs backward.
 */
#ifndef STRATA_ANALYSIS_ARCH_ARCH_LAYERS_H
#define STRATA_ANALYSIS_ARCH_ARCH_LAYERS_H

#include "analysis/arch/arch_markers.h"
#include "base/tables/interval.h"

enum arch_method {
    ARCH_MARKER,
    ARCH_REPEAT,
    ARCH_COLLECTIVE,
    ARCH_GAP,
    ARCH_NONE,
    ARCH_MODULE,
    ARCH_RANGE, /* stated by ranges of the user */
};

enum { ARCH_METHODS = ARCH_RANGE + 1 };

enum layer_kind {
    LAYER_DENSE,
    LAYER_MOE_DFC,
    LAYER_MOE_GMM,
    LAYER_MOE_MC2,
    LAYER_MOE_AG,
    LAYER_MOE,
    LAYER_BLOCK, /* a repeated block that is no transformer layer */
    LAYER_KINDS
};

struct arch_layer {
    size_t pass;  /* index into passes */
    size_t index; /* in its pass, all markers counted */
    enum arch_phase phase;
    enum layer_kind kind;
    bool has_sampling;
    bool is_mla;
    bool is_backward;  /* a repeated block of the backward pass */
    size_t first, end; /* kernels of study_kernels(), by begin */
    size_t marker;     /* kernel number; SIZE_MAX: none */
    struct interval at;
    nanos busy;         /* union of its kernels, all streams */
    uint64_t signature; /* ordered operators of the main stream, neighbours joined */
    size_t type;        /* index into types, set by arch_types_find() */
    char variant;       /* 'a', 'b', ... when the type's layers differ; 0 when not */
};

struct arch_pass {
    bool is_partial;
    size_t number;       /* among the complete or among the partial ones, from 0 */
    size_t marker_first; /* of all markers */
    size_t markers;
    size_t layer_first, layers; /* into arch_layers.at */
    size_t first, end;          /* kernels, prologue and epilogue included */
    size_t epilogue;            /* first kernel that runs backward; `end`: none */
    struct interval at;
    nanos busy;
};

/* Why two neighbouring markers are thought to be of different passes. */
enum border {
    BORDER_PHASE = 1,
    BORDER_EMBEDDING = 2,
    BORDER_GAP = 4,
    BORDER_STEP = 8,
    BORDER_GRAPH = 16,     /* another launch of a graph that holds many layers */
    BORDER_SAMPLING = 32,  /* looked for where nothing else holds */
    BORDER_LOOP = 64,      /* a long sequence of layers that runs again at once */
    BORDER_BACKWARD = 128, /* the backward pass of the layers before */
};
enum { BORDER_RULES = 8, BORDER_RULE_GAP = 2, BORDER_RULE_STEP = 3, BORDER_RULE_LOOP = 6 };

enum { ARCH_CANDIDATES = 8, ARCH_RUNS = 8 };

struct arch_layers {
    enum arch_method method;
    struct arch_layer *at;
    size_t n;
    struct arch_pass *passes; /* in time order, partial ones among them */
    size_t n_passes, complete, partial;
    size_t per_pass; /* layers of a complete pass */
    size_t prefill_per_pass, decode_per_pass;
    bool has_both_phases; /* in one pass */
    bool is_training;
    size_t forward_per_pass, backward_per_pass; /* blocks of a training run without markers */
    size_t fired[BORDER_RULES];                 /* how often each rule held, by bit */
    bool is_ignored[BORDER_RULES];              /* it held too often to mean anything */
    size_t runs[ARCH_RUNS], n_runs; /* layers in a row of one form of attention; 0: not known */
    bool is_one_pass;               /* one embedding or sampler spans all markers */
    bool is_period;                 /* passes are told by the period of layers alone */
    bool is_seamless;               /* nothing but layers between two passes */
    double period_match;            /* share of layers that look like the one a pass later; -1 */
    size_t candidates[ARCH_CANDIDATES], n_candidates; /* layers per pass, best first */
    /* of repetition */
    size_t period;     /* kernels of the main stream in one block */
    double coverage;   /* share of the main stream's kernels in blocks */
    bool is_open;      /* no steps bound it: blocks without attention may be iterations */
    double noise;      /* mean share of a block that differs */
    double confidence; /* of the borders, 0 to 1 */
};

/* Layers of a pass as a model's author counts them: prefill ones beside decode ones, forward ones
 * beside backward ones. */
static inline size_t arch_layers_of_model(const struct arch_layers *l)
{
    if (l->forward_per_pass > 0)
        return l->forward_per_pass;
    return l->has_both_phases ? l->prefill_per_pass : l->per_pass;
}

/* `choice` takes the first, second, ... candidate for the layers per pass. */
const struct arch_layers *arch_layers_find(struct study *st, struct arch_ops *ops,
                                           const struct arch_markers *markers, size_t choice);

/* Backward kernels for every second layer or more: one odd name is no training run. */
/* The first kernel from `from` on that is no forward work of a training run; or `end`. */
size_t arch_layers_epilogue(const struct arch_layers *layers, const struct arch_ops *ops,
                            size_t from, size_t end);
bool arch_layers_is_training(const struct arch_ops *ops, size_t markers);

/* Layers of each phase in a complete pass; of the first one when they differ. */
void arch_layers_count_phases(struct arch_layers *out);

const char *arch_method_name(enum arch_method method);
const char *layer_kind_name(enum layer_kind kind);

/* Fills in times, signature, kind and flags of layers whose kernels and pass are set. */
void arch_layers_measure(struct study *st, const struct arch_ops *ops, uint32_t main_lane,
                         struct arch_layer *layers, size_t n);

/* When kernels were launched, which is what step marks are compared with: the host marks steps when
 * it launches their kernels, which may run much later. */
struct arch_launches {
    struct study *st;
    const uint32_t *launch; /* launching slice of each kernel; NULL: steps are those of kernels */
    bool was_before;        /* kernels without a launch were launched before the recording began */
};
struct arch_launches arch_launches_find(struct study *st);
nanos arch_launch_time(const struct arch_launches *l, size_t kernel);

/* Length of a range; clocks may be absurd. */
static inline nanos arch_span(struct interval at)
{
    return nanos_sub(at.end, at.begin);
}

/* Hull and busy time of the kernels from `first` to `end`. */
struct interval arch_extent(struct study *st, size_t first, size_t end, nanos *busy);

#endif
