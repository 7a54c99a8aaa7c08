/*
 * arch_family - what a kernel is for, told by its name: attention, matmul, norm, collective.
 *
 * Profilers name kernels in many ways; each distinct one is looked at once, gets a canonical name,
 * a short label for trees and a family. A user's rules are tried before the built-in tables.
 */
#ifndef STRATA_ANALYSIS_ARCH_KERNEL_ROLE_H
#define STRATA_ANALYSIS_ARCH_KERNEL_ROLE_H

#include <stdint.h>

#include "base/diag.h"
#include "base/text/num.h"
#include "ops/kernel_family.h"

struct arch_rules;
struct study;

enum arch_phase { PHASE_UNKNOWN, PHASE_PREFILL, PHASE_DECODE };

/* Attention kernels that mark a layer, in order of preference. */
enum marker_class {
    MARKER_NONE,
    MARKER_USER,
    MARKER_FIA,
    MARKER_PROMPT_INCRE,
    MARKER_SPARSE,
    MARKER_PAGED,
    MARKER_FLASH_SCORE,
    MARKER_GPU,
    MARKER_OTHER, /* latent and ring attention */
    MARKER_CLASSES
};

/* What collectives are used for, as their names tell. */
enum comm_use { COMM_NONE, COMM_TENSOR, COMM_EXPERT, COMM_TRANSFER, COMM_OTHER };

struct arch_op {
    struct str name;  /* canonical: operator type, or name without its trailing number */
    struct str label; /* short enough for a tree */
    enum kernel_role family;
    enum marker_class marker;
    enum arch_phase hint; /* phase its name tells */
    enum comm_use comm;
    bool is_backward;           /* of a training step */
    bool is_backward_attention; /* the twin of a marker */
    bool is_aicpu;
    bool is_mla;
    bool is_dfc, is_gmm, is_mc2, is_alltoall, is_allgather; /* what tells layer types apart */
    bool is_topk;      /* a plain top-k: a router when most layers have it, else sampling */
    bool is_optimizer; /* of a training step */
    size_t calls;
    nanos duration;
    uint32_t example; /* slice number of its first kernel */
};

struct arch_ops {
    struct arch_op *at;
    size_t n;
    uint32_t *of_kernel; /* for each kernel of study_kernels() */
};

/* The operators of all kernels. `rules` (arch_rules.h) may be NULL. */
struct arch_ops *arch_ops_find(struct study *st, const struct arch_rules *rules);

const char *arch_phase_name(enum arch_phase phase);

/* Canonical name of a kernel by its name and operator type. */
struct str arch_canonical(struct str name, struct str type);

#endif
