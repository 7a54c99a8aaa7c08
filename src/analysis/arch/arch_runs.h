/*
 * arch_runs - attention kernels of a pass that differ in form: an encoder and a decoder, several
 * towers. Forms that take turns (sliding and full attention) are one model.
 */
#ifndef STRATA_ANALYSIS_ARCH_ARCH_RUNS_H
#define STRATA_ANALYSIS_ARCH_ARCH_RUNS_H

#include "analysis/arch/arch_layers.h"

/* Sets runs of the layers: how many of a pass stand in a row whose attention has one form, or
 * forms that take turns. None when the passes disagree. */
void arch_runs_find(struct study *st, const struct arch_markers *markers, struct arch_layers *out);

/* Layers of one round, where the markers from `from` to `to` are of one form, or forms that take
 * turns, and a sequence of more than LOOP_LEAST of them runs again and again; 0: no loop. Shorter
 * ones are layers that take turns. `*begin` is the first marker of the first round. */
size_t arch_runs_loop(struct study *st, const struct arch_markers *markers,
                      const uint64_t *signatures, size_t from, size_t to, size_t *begin);

/* Joins markers of one layer: self-attention and cross-attention, with no feed-forward part
 * between the two. Gives how many were dropped. */
size_t arch_runs_join(struct study *st, const struct arch_ops *ops, struct arch_markers *markers);

/* Matrix products of a typical layer that is no MoE layer; 0 when unknown. */
size_t arch_runs_products(struct study *st, const struct arch_ops *ops,
                          const struct arch_layers *layers);

#endif
