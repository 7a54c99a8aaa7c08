/*
 * op_stats - device and host time by operator, module, shape, family, range or layer.
 *
 * A kernel's time goes to the innermost of these around its launch (self) and to everything around
 * that (total); what is launched outside of all of them is `outside`. Own times and `outside` add
 * up to the device time exactly. Rules: docs/analyses/ops.md.
 */
#ifndef STRATA_ANALYSIS_OPS_OP_STATS_H
#define STRATA_ANALYSIS_OPS_OP_STATS_H

#include "analysis/ops/kernel_work.h"
#include "analysis/ops/op_tree.h"

enum op_by {
    OP_BY_OP,
    OP_BY_MODULE,
    OP_BY_SHAPE,
    OP_BY_FAMILY,
    OP_BY_RANGE,
    OP_BY_LAYER,
    OP_BY_AUTO, /* by operator, or by family where no operator has device time; no result is */
};

enum { OP_BYS = OP_BY_AUTO };

enum op_order { OP_ORDER_DEVICE, OP_ORDER_HEADROOM };

/* Sums over the kernels of a row, as kernel_work.h has them. */
struct op_effort {
    double flops, bytes;
    double roof;        /* nanoseconds */
    nanos known, rated; /* device time of kernels whose work, whose roof is known */
};

struct op_stat {
    struct str name;
    struct str shapes, types; /* of its inputs; by shape */
    size_t calls;             /* host events; 0 where there are none */
    size_t kernels, own_kernels;
    nanos device, own_device;
    nanos host, own_host; /* own: without such events inside */
    double flops;         /* of its calls, else of its kernels; 0: not known */
    struct op_effort effort;
    double share; /* of all device time, by total */
    double own_share;
};

/* Work of a step over its time: shares of the device's peak (MFU) and bandwidth. */
struct op_step {
    struct str id;
    nanos duration;
    double flops, bytes;   /* of products, convolutions and attention; of all kernels */
    double mfu, bandwidth; /* 0: not known */
    double known;          /* share of its device time whose work is known */
};

struct op_stats {
    enum op_by by;
    struct op_stat *at; /* by device time or headroom, then host time, then name */
    size_t n;
    nanos device, outside; /* of all kernels; of those outside */
    size_t kernels, outside_kernels;
    size_t linked; /* kernels whose launch is recorded */
    double flops;  /* of all kernels, or of all operators where there are none; 0: none is known */
    const struct kernel_works *works;
    struct op_step *steps; /* the last one is all of them together, where there are several */
    size_t n_steps;
    size_t top;       /* rows that are shown; 0: as many as fit a screen */
    bool is_fallback; /* by family, since no operator is recorded around the launches */
};

struct op_options {
    enum op_by by;
    enum op_order order;
    const struct device *device; /* NULL: the one that the capture names */
    size_t top;
};

struct report;
struct schema;

const struct op_stats *op_stats_find(struct study *st, const struct op_options *o);

/* Time that a row would save at the roof; 0: not known. */
double op_stat_headroom(const struct op_stat *s);

/* Work of each step, then of all together if there are several, in the arena. */
struct op_step *op_steps_find(struct study *st, const struct kernel_works *works, size_t *n);

const char *op_by_name(enum op_by by);

extern const struct schema op_stats_schema;
extern const struct record op_stats_record; /* of a struct op_stats */

/* The table, in its report. */
void op_stats_describe(const struct op_stats *s, struct report *r);

/* The layer of each kernel as the architecture tells it, by number in its pass; OP_TREE_NONE:
 * none. `names` gets one name a layer. */
struct op_layers {
    uint32_t *of_kernel;
    struct str *names;
    size_t n;
};

struct op_layers op_layers_find(struct study *st);

#endif
