/*
 * arch_stacks - the layers of a model as its module frames state them.
 *
 * A stack is a run of modules that one module calls one after the other: the layers of a decoder,
 * of an encoder, of a tower, the blocks of a diffusion model. Layers of several classes in one run
 * (sliding and full attention, double and single blocks) are one stack.
 */
#ifndef STRATA_ANALYSIS_ARCH_ARCH_STACKS_H
#define STRATA_ANALYSIS_ARCH_ARCH_STACKS_H

#include "analysis/arch/arch_layers.h"
#include "analysis/ops/module_tree.h"

enum { STACK_KINDS = 4, STACK_PARTS = 8 };

struct stack_kind {
    struct str class;
    size_t count;
};

struct arch_stack {
    struct str owner; /* class of the module that calls the layers; empty: none does */
    uint32_t module;  /* its number, or MODULE_NONE */
    struct stack_kind kinds[STACK_KINDS];
    size_t n_kinds;
    size_t layers;             /* in one call of the owner */
    size_t parts[STACK_PARTS]; /* layers of each stage, where there are stages */
    size_t n_parts;
    size_t calls;   /* of the owner that run the whole stack */
    size_t partial; /* calls that run a part of it */
    bool is_shared; /* one module, applied `layers` times */
    bool is_plain;  /* single operators: linear or convolution layers in sequence */
    bool has_attention;
    bool is_opaque; /* no frames inside: counted by attention kernels for each call */
    bool is_range;  /* stated by ranges of the user, not by modules */
    nanos device;   /* of its layers */
    double share;   /* of all device time */
};

struct arch_stacks {
    struct arch_stack *at; /* by device time, most first; by layers where there is none */
    size_t n;
    uint32_t *of_module; /* stack of each module that is a layer, or MODULE_NONE */
};

struct arch_stacks *arch_stacks_find(struct study *st);

/* Counts the calls and sums up the device time of stacks that have their layers. */
void arch_stacks_measure(struct study *st, struct arch_stacks *stacks);

/* ---- passes and layers cut where the frames say ---- */

/* Adds stacks for modules without frames inside (compiled ones): one layer for each attention
 * kernel of a call, where all calls agree. */
void arch_modules_add_opaque(struct study *st, const struct arch_markers *markers,
                             struct arch_stacks *stacks);

/* Adds stacks that ranges of the user state: one for each name with numbers from 0 or 1 on, one for
 * each range of attention that runs equally often in all steps. */
void arch_ranges_add(struct study *st, struct arch_stacks *stacks);

/* The stack of most device time, or NULL when other work may hide a larger one. */
const struct arch_stack *arch_modules_main(struct study *st, const struct arch_stacks *stacks);

/* The stack of most layers, where no kernels tell which is the largest; NULL without stacks. */
const struct arch_stack *arch_modules_stated(const struct arch_stacks *stacks);

/* Passes and layers of that stack; NULL when its kernels cannot be told apart. */
const struct arch_layers *arch_modules_layers(struct study *st, const struct arch_ops *ops,
                                              const struct arch_markers *markers,
                                              const struct arch_stacks *stacks,
                                              const struct arch_stack *main);

#endif
