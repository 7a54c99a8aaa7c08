/*
 * arch - what model ran, told from its kernels alone: passes, layers, layer types, what each does
 * and costs, how communication hides.
 *
 * Attention kernels mark layers; where there are none, repetition does. Every conclusion carries
 * its evidence and whether it was measured or inferred. Rules: docs/analyses/architecture.md.
 */
#ifndef STRATA_ANALYSIS_ARCH_ARCH_H
#define STRATA_ANALYSIS_ARCH_ARCH_H

#include "analysis/arch/arch_comm.h"
#include "analysis/arch/arch_config.h"
#include "analysis/arch/arch_layers.h"
#include "analysis/arch/arch_stacks.h"
#include "analysis/arch/arch_types.h"
#include "base/text/text.h"
#include "capture/kinds.h"
#include "report/message.h"

enum { ARCH_STACKS_TOLD = 8 }; /* stacks that are named one by one */

/* One line of the chain that leads to the model: what was seen and what it means. */
struct arch_evidence {
    struct wording what, value, meaning;
    enum origin origin; /* measured or inferred */
};

/* One operator counted in every complete pass, and what the layers say the count must be. */
struct arch_check {
    struct str op;
    const size_t *per_pass;
    size_t n;         /* passes */
    int64_t expected; /* -1: nothing is known of it */
    bool is_ok;
    struct wording note;
};

struct arch {
    struct arch_ops *ops;
    const struct arch_markers *markers;
    const struct arch_layers *layers;
    struct arch_stacks *stacks;    /* as module frames state them */
    const struct arch_stack *main; /* the one that `layers` holds; NULL: kernels alone tell */
    bool is_stated;                /* frames state the layers, no kernels are in them */
    size_t products;               /* matrix products of a typical layer without experts */
    bool disagrees;                /* kernels and module frames give different counts */
    const struct arch_types *types;
    const struct arch_comm *comm;
    const struct arch_config *config;
    struct arch_evidence *evidence;
    size_t n_evidence;
    struct arch_check *checks;
    size_t n_checks, n_failed;
    struct wording *notes;
    size_t n_notes;
    nanos origin;           /* relative times count from here: begin of the whole span */
    struct interval device; /* first kernel's begin to the latest end */
    double confidence;      /* 0 to 1 */
    bool was_retried;       /* the first choice of layers per pass failed the cross-check */
};

struct schema;

/* What a user may say beforehand. Zero-initialised is fine. */
struct arch_options {
    const struct arch_rules *rules;
    struct str name; /* of the capture's folder: "dp2_tp8_..." tells the parallelism */
};

/* Everything lives in the study. */
const struct arch *arch_find(struct study *st, const struct arch_options *options);

/* Duration of a layer's marker, -1 without one; and the average over those of a phase in a pass, in
 * nanoseconds, NAN when there are none. */
nanos arch_marker_duration(struct study *st, const struct arch_layer *layer);
double arch_marker_average(struct study *st, const struct arch *a, const struct arch_pass *pass,
                           enum arch_phase phase);

/* Confidence of what was found, 0 to 1. */
double arch_judge(const struct arch *a);

/* "19 × DoubleBlock + 38 × SingleBlock in FluxTransformer" */
struct str arch_stack_text(struct arena *arena, const struct arch_stack *s);

extern const struct schema arch_schema;

/* "4 passes, 3 layers each: dense 0–2 (by markers, confidence 0.95)" */
const char *arch_summary(struct arena *arena, const struct arch *a, enum lang lang);

/* The JSON document "strata.arch/1", false when the sink failed; and the ten Markdown sections. */
bool arch_write_json(struct study *st, const struct arch *a, struct sink out);
void arch_write_md(struct study *st, const struct arch *a, enum lang lang, struct text *out);

#endif
