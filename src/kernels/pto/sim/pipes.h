/*
 * pipes - on which pipe an operation runs.
 *
 * Most operations run on one pipe, views and control flow on none, and a few in phases on several
 * pipes one after the other (a gather on A2/A3: scalar unit, then MTE2). Which one depends on the
 * architecture, on the spaces of source and destination and on optional operands; this module is
 * the only place that knows.
 */
#ifndef STRATA_KERNELS_PTO_SIM_PIPES_H
#define STRATA_KERNELS_PTO_SIM_PIPES_H

#include "kernels/pto/text/ir.h"

enum { PTO_MAX_PHASES = 4 };

struct pto_phases {
    enum pto_pipe at[PTO_MAX_PHASES]; /* PTO_PIPE_ALL: all pipes drain */
    uint32_t n;                       /* 0: runs on no pipe */
};

struct pto_phases pto_phases_of(const struct pto_module *m, const struct pto_function *f,
                                const struct pto_op *op);

/* Where an operation runs, in words: "V; mat MTE1"; empty when on no pipe. */
const char *pto_pipe_words(enum pto_opcode op);

/* The pipe of a sync op type (TLOAD is MTE2), as in record_event[<TLOAD>, ..]. */
enum pto_pipe pto_sync_pipe(int64_t sync_op_type);

/* The number of the FIFO that an operation initialises: its id, or for the lowered forms without
 * one which of them it is in its function. */
int64_t pto_fifo_number(const struct pto_module *m, const struct pto_op *op);

/* A flag has two: the one that sets and the one that waits. */
struct pto_phases pto_flag_pipes(const struct pto_module *m, const struct pto_op *op);

#endif
