/*
 * How far the architecture can be relied on: what may be wrong bounds the confidence.
 */
#include "analysis/arch/arch.h"

/* Matrix products of one layer: a gate, five projections, three of the feed-forward part. */
enum { PRODUCTS_MOST = 9 };

/* What makes a count of markers unsafe bounds the confidence. */
static double doubt_markers(const struct arch *a, double confidence)
{
    const struct arch_layers *l = a->layers;
    bool only_gaps = true;
    double most = 1;

    for (size_t i = 0; i < BORDER_RULES; i++)
        only_gaps &= i == BORDER_RULE_GAP || l->fired[i] == 0 || l->is_ignored[i];
    if (l->n_runs > 1)
        most = 0.7;
    if ((only_gaps && !l->is_one_pass && l->complete < 3) || l->fired[BORDER_RULE_LOOP] > 0 ||
        a->products > PRODUCTS_MOST || l->is_seamless)
        most = 0.6;
    if (a->n_failed > 0 || a->disagrees || l->is_period ||
        (l->period_match >= 0 && l->period_match < 0.9) || l->partial > 2 || l->complete == 0)
        most = 0.5;
    return confidence < most ? confidence : most;
}

/* What ranges of the user state and kernels confirm. */
static bool is_confirmed(const struct arch *a)
{
    for (size_t i = 0; i < a->stacks->n; i++)
        if (a->stacks->at[i].is_range && a->stacks->at[i].layers == arch_layers_of_model(a->layers))
            return true;
    return false;
}

/* Certain markers are worth most; doubts about phases, periods, borders and counts cost. */
double arch_judge(const struct arch *a)
{
    const struct arch_layers *layers = a->layers;
    double confidence = 1;

    if (a->main != NULL) {
        /* Frames state layers; for a compiled module several calls that agree are nearly as good.
         */
        const struct arch_stack *s = a->main;
        confidence = s->is_range ? 0.85 : !s->is_opaque ? 0.95 : s->calls > 1 ? 0.8 : 0.6;
        return s->partial > 0 ? confidence - (s->is_opaque ? 0.3 : 0.1) : confidence;
    }
    if (layers->method != ARCH_MARKER) {
        /* A repeat may be several layers, a part of one, or a step of a recurrent network. */
        double most = layers->is_open ? 0.3 : 0.6;
        for (size_t i = 0; i < layers->n && most > 0.5; i++)
            if (layers->at[i].kind == LAYER_BLOCK)
                most = 0.5;
        if (layers->method == ARCH_NONE)
            return 0;
        return layers->confidence * 0.8 < most ? layers->confidence * 0.8 : most;
    }
    if (a->markers->unknown > 0 && a->markers->backward == 0)
        confidence -= 0.1;
    if (layers->complete == 0)
        confidence -= 0.4;
    else if (layers->complete == 1)
        confidence -= 0.15;
    confidence -= 0.05 * (double)(a->n_failed < 8 ? a->n_failed : 8);
    if (layers->partial > 0)
        confidence -= 0.05;
    confidence = is_confirmed(a) && a->n_failed == 0 ? 0.9 : doubt_markers(a, confidence);
    return confidence > 0 ? confidence : 0;
}
