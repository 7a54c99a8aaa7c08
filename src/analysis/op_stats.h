/*
 * op_stats - device and host time by operator, module, shape, family, range or layer.
 *
 * A kernel's time goes to the innermost of these around its launch (self) and to everything around
 * that (total); what is launched outside of all of them is `outside`. Own times and `outside` add
 * up to the device time exactly. Rules: docs/analyses/ops.md.
 */
#ifndef STRATA_ANALYSIS_OP_STATS_H
#define STRATA_ANALYSIS_OP_STATS_H

#include "analysis/op_tree.h"

enum op_by { OP_BY_OP, OP_BY_MODULE, OP_BY_SHAPE, OP_BY_FAMILY, OP_BY_RANGE, OP_BY_LAYER };

enum { OP_BYS = OP_BY_LAYER + 1 };

struct op_stat {
    struct str name;
    struct str shapes, types; /* of its inputs; by shape */
    size_t calls;             /* host events; 0 where there are none */
    size_t kernels, own_kernels;
    nanos device, own_device;
    nanos host, own_host; /* own: without such events inside */
    double flops;         /* of its calls, by shape and operator; 0: not known */
    double share;         /* of all device time, by total */
    double own_share;
};

struct op_stats {
    enum op_by by;
    struct op_stat *at; /* by device time, then host time, then name */
    size_t n;
    nanos device, outside; /* of all kernels; of those outside */
    size_t kernels, outside_kernels;
    size_t linked; /* kernels whose launch is recorded */
    double flops;  /* of all operators whose work is known, each once; 0: none is */
};

struct report;
struct schema;

const struct op_stats *op_stats_find(struct study *st, enum op_by by);

const char *op_by_name(enum op_by by);

extern const struct schema op_stats_schema;

/* The table, at most `top` rows; 0: as many as fit. */
void op_stats_describe(const struct op_stats *s, size_t top, struct report *r);

/* The layer of each kernel as the architecture tells it, by number in its pass; OP_TREE_NONE:
 * none. `names` gets one name a layer. */
struct op_layers {
    uint32_t *of_kernel;
    struct str *names;
    size_t n;
};

struct op_layers op_layers_find(struct study *st);

/* Floating-point operations of a host operator, from the shapes of its inputs, counted as PyTorch
 * counts them: two for a multiplication and addition, one an element of a sum or product, attention
 * without regard to its mask. */
struct op_work {
    double flops; /* 0: none, or not known */
    bool is_leaf; /* no operator inside has the same work: these add up */
};

/* `shapes` as tensor_shapes.h reads them; `values` are the inputs that are no tensors:
 * ["", "", "", "[2, 2]"]. */
struct op_work op_work_of(struct str op, struct str shapes, struct str values);

#endif
