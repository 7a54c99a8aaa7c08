/*
 * func - what tile operations do to the bytes of tiles and GM views.
 *
 * pto_func() executes one operation. Operands come in the order of the text, `ins(..)` and
 * `outs(..)`; optional operands that the text leaves out (tmp tiles) are left out here too.
 * Only valid rectangles are read and written, unless the operation says otherwise. Operands may
 * overlap: sources are read before anything is written.
 *
 * f16 and bf16 arithmetic is done in f32 and rounded once, to nearest even; integers wrap. Sums
 * run over ascending indices, one rounding a step, so results are the same on every machine.
 */
#ifndef STRATA_KERNELS_PTO_VALUES_FUNC_H
#define STRATA_KERNELS_PTO_VALUES_FUNC_H

#include "base/diag.h"
#include "kernels/pto/text/tile.h"
#include "kernels/pto/values/elem.h"

enum pto_operand_kind { PTO_OPERAND_NONE, PTO_OPERAND_TILE, PTO_OPERAND_VIEW, PTO_OPERAND_VALUE };

/* Borrowed: the caller keeps what it points to. */
struct pto_arg {
    enum pto_operand_kind kind;
    union {
        struct pto_tile *tile;
        struct pto_view *view;
        struct pto_scalar *value; /* a result among the outs is stored here */
    } u;
};

/* The enumerations of the dialect, with its numbers. */
enum pto_cmp { PTO_CMP_EQ, PTO_CMP_NE, PTO_CMP_LT, PTO_CMP_LE, PTO_CMP_GT, PTO_CMP_GE };
enum pto_gather_oob { PTO_GATHER_UNDEFINED, PTO_GATHER_CLAMP, PTO_GATHER_WRAP, PTO_GATHER_ZERO };
enum pto_scatter_oob {
    PTO_SCATTER_UNDEFINED,
    PTO_SCATTER_SKIP,
    PTO_SCATTER_CLAMP,
    PTO_SCATTER_WRAP
};
enum pto_scatter_op { PTO_SCATTER_SET, PTO_SCATTER_ADD, PTO_SCATTER_MAX, PTO_SCATTER_MIN };
enum pto_relu { PTO_RELU_NONE, PTO_RELU_NORMAL, PTO_RELU_SCALAR, PTO_RELU_VECTOR, PTO_RELU_PWL };
enum pto_notify { PTO_NOTIFY_ADD, PTO_NOTIFY_SET };
enum pto_wait_cmp { PTO_WAIT_EQ, PTO_WAIT_NE, PTO_WAIT_GT, PTO_WAIT_GE, PTO_WAIT_LT, PTO_WAIT_LE };
enum pto_reduce { PTO_REDUCE_SUM, PTO_REDUCE_MAX, PTO_REDUCE_MIN };

enum pto_coalesce { PTO_COALESCE_AUTO = -1, PTO_COALESCE_ROW, PTO_COALESCE_ELEM };
enum pto_pad_mode { PTO_PAD_NULL, PTO_PAD_FIRST, PTO_PAD_VALUE }; /* of tload */

/* Start from PTO_ATTRS and set what the operation carries. */
struct pto_attrs {
#define PTO_ATTR(member, type, key) type member;
#include "kernels/pto/text/attrs.def"
#undef PTO_ATTR
};

extern const struct pto_attrs PTO_ATTRS;

struct pto_args {
    const struct pto_arg *ins, *outs;
    size_t n_ins, n_outs;
    const struct pto_attrs *attrs; /* NULL: PTO_ATTRS */
    bool reference;                /* tcvt rounds as the public functional model does */
    struct where where;            /* of the operation, for diagnostics */
};

/* The operation computes or moves data, so that pto_func() executes it. */
bool pto_func_knows(enum pto_opcode op);

/*
 * Executes `op`. Fails with a diagnostic and leaves the destination as it was, but for rows written
 * before an element could not be computed (a division by zero, an index out of range):
 * ST_UNSUPPORTED (pto-run.func-unknown, pto-run.func-dtype), ST_FORMAT (pto-run.func-operand,
 * pto-run.func-shape, pto-run.tile-shape, pto-run.tile-range, pto-run.view-shape, pto-run.gm-range,
 * pto-run.index-range, pto-run.div-zero).
 */
enum status pto_func(enum pto_opcode op, const struct pto_args *args, struct diag *d);

/* Copies the valid rectangle of `src` to `dst` (of any layouts), converting as a move from acc
 * does: the data part of FIFO push and pop. */
enum status pto_func_copy(const struct pto_tile *src, const struct pto_tile *dst,
                          struct where where, struct diag *d);

#endif
