/*
 * arch_repeat - layers without attention markers: what the main stream repeats is a layer.
 *
 * The kernels of the main stream are a text whose letters are operators. Tandem repeats of it are
 * candidates for layers; a block may differ from its neighbour in a tenth of its kernels. When
 * nothing repeats, collectives and then idle gaps are taken as borders.
 */
#ifndef STRATA_ANALYSIS_ARCH_ARCH_REPEAT_H
#define STRATA_ANALYSIS_ARCH_ARCH_REPEAT_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct arch_layers;
struct arch_ops;
struct study;

/* Blocks of `text`, one after the other: block i begins at cut[i] and ends at cut[i + 1]. */
struct repeat {
    size_t period;
    size_t *cut; /* n + 1 of them */
    size_t n;
    double noise; /* mean edit distance to the first block, as a share of it */
};

struct repeats {
    struct repeat *at; /* in order of place */
    size_t n;
    size_t covered; /* letters inside blocks */
};

/* The repeats of a text, the best one first found, then those beside it. */
struct repeats repeats_find(struct arena *arena, const uint32_t *text, size_t n);

/* Fills passes and layers of a capture without markers. */
void arch_repeat_find(struct study *st, const struct arch_ops *ops, uint32_t main_lane,
                      struct arch_layers *out);

#endif
