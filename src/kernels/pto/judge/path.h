/*
 * path - the critical path of a run: from the last result back, at each instruction to what let it
 * start last.
 *
 * The path comes in pieces, the last one first, without gaps and overlaps: each is a part of one
 * instruction, or the time between a result and whoever waited for it. Two questions are answered
 * for each: what it was spent on (`sort`), and why the path leads through it, that is, why the
 * piece after it did not start earlier (`reason`).
 */
#ifndef STRATA_KERNELS_PTO_JUDGE_PATH_H
#define STRATA_KERNELS_PTO_JUDGE_PATH_H

#include "kernels/pto/sim/sim.h"

enum pto_path_sort {
    PTO_PATH_WORK,    /* an instruction held the pipe */
    PTO_PATH_LATENCY, /* its result was on the way */
    PTO_PATH_SYNC,    /* flags, barriers, tokens and what the scalar unit did in between */
};

enum pto_reason {
    PTO_REASON_BUSY,     /* the pipe works through its queue */
    PTO_REASON_DATA,     /* for bytes to be written (RAW) */
    PTO_REASON_REUSE,    /* for bytes to be read or written before they are overwritten */
    PTO_REASON_DISTANCE, /* for a flag or barrier that waits for more than the bytes ask for */
    PTO_REASON_CORE,     /* for another core */
    PTO_REASON_SCALAR,   /* for the scalar unit to dispatch it */
    PTO_REASON_LAUNCH,   /* for the core to start */
};

enum { PTO_REASON_COUNT = PTO_REASON_LAUNCH + 1 };

const char *pto_reason_name(enum pto_reason reason); /* "data" */

struct pto_path_piece {
    uint32_t core;
    uint32_t record; /* of that core; PTO_NO_RECORD: between instructions */
    enum pto_pipe pipe;
    enum pto_path_sort sort;
    enum pto_cause cause; /* of PTO_PATH_SYNC */
    enum pto_reason reason;
    int64_t begin, end;
};

typedef void pto_piece_fn(void *ctx, const struct pto_path_piece *piece);

void pto_path_walk(const struct pto_sim *sim, pto_piece_fn *take, void *ctx);

#endif
