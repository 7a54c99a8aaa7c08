/*
 * structures - the layers of each step as blocks with four clocks.
 *
 * A structure is a layer, or what stands before the first and after the last one of a pass. Its
 * kernels are split in the block (the main stream's work) and the sides that accompany it:
 * communication, AICPU, small kernels, other streams. Four clocks are always kept together, since
 * each alone misleads: wall, busy (union), sum of durations, and cost (sum of duration and wait).
 */
#ifndef STRATA_ANALYSIS_ARCH_STRUCTURES_H
#define STRATA_ANALYSIS_ARCH_STRUCTURES_H

#include "base/tables/interval.h"

struct arch;
struct study;

enum structure_type {
    STRUCTURE_TRANSFORMER_BLOCK,
    STRUCTURE_PROLOGUE,
    STRUCTURE_EPILOGUE,
    STRUCTURE_UNKNOWN,
};

enum structure_part { PART_BLOCK, PART_COMM, PART_AICPU, PART_SMALL, PART_OTHER, PARTS };

struct clocks {
    size_t kernels;
    nanos wall, busy, sum, cost;
};

/* What the clocks say beside each other, as a mask. */
enum clocks_meaning {
    CLOCKS_OVERLAP = 1,    /* sum above 1.2 walls: streams overlap */
    CLOCKS_GAPS = 2,       /* wall above 1.2 busy: gaps inside */
    CLOCKS_WAIT_HEAVY = 4, /* cost above 1.5 sums: wait heavy, check anchors */
    CLOCKS_SEQUENTIAL = 8, /* all within 5 % */
};

struct structure {
    size_t number; /* block_<number> in its step */
    enum structure_type type;
    size_t step;       /* index into steps; SIZE_MAX: in none */
    size_t first, end; /* kernels of study_kernels(); they begin in it */
    struct interval at;
    struct clocks all, parts[PARTS];
    nanos core, aicpu, comm; /* sums of durations; shares are of all.sum */
    double share;            /* of the step's service time */
    nanos gap_before;        /* idle time of the device since the structure before */
    size_t bubbles;          /* gaps inside */
    nanos bubble_total, bubble_largest;
    nanos comm_under_block; /* communication that runs while the block does */
};

struct structures {
    struct structure *at; /* by step, then by time */
    size_t n;
    const char *source; /* "marker", "repeat", "collective", "gap" or "step" */
    /* Of the dominant step: indexes, largest first. */
    size_t dominant_step;
    size_t *by_wall, n_ranked;
};

/* Cuts the steps of a study along the layers of `a`; a step without layers is one structure. */
const struct structures *structures_find(struct study *st, const struct arch *a);

/* The structure of a step in which time `t` lies, or the last one before it; NULL: none. */
const struct structure *structures_at(const struct structures *all, size_t step, nanos t);

unsigned clocks_read(const struct clocks *clocks);
const char *clocks_meaning_text(enum clocks_meaning meaning);
const char *structure_type_name(enum structure_type type);
const char *structure_part_name(enum structure_part part);

#endif
