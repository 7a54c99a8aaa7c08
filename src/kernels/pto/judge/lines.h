/*
 * lines - where the cycles of a run went, line by line of the text; and what lay in the memory of
 * the cores meanwhile.
 *
 *     pto_lines_init(&l);
 *     pto_lines_fill(&l, &sim);     after pto_sim_run() with options.counts_steps and all records
 *     pto_lines_free(&l);
 *
 * Two vector cores run the same lines: the one that was busy for longer counts.
 */
#ifndef STRATA_KERNELS_PTO_JUDGE_LINES_H
#define STRATA_KERNELS_PTO_JUDGE_LINES_H

#include "kernels/pto/judge/path.h"

struct record;

/* One operation of the text on one pipe. */
struct pto_line {
    uint32_t line;
    unsigned is_cube; /* it runs on the cube core: 1, else 0 */
    enum pto_opcode code;
    enum pto_pipe pipe;
    uint64_t count; /* instructions */
    int64_t busy;   /* cycles they held the pipe */
    int64_t stall;  /* cycles the pipe stood still before them, their flags and barriers included */
    int64_t path;   /* cycles of the critical path on them: work, latency, synchronisation */
    enum pto_cause cause; /* of most of the stall */
    double busy_share, stall_share, path_share;
    double lanes;     /* of a vector operation: part of the lanes that are used; else NaN */
    int64_t conflict; /* cycles of bank conflicts, of all instructions; -1: not a vector one */
};

/* Arithmetic and control flow of the scalar unit. */
struct pto_scalar_line {
    uint32_t line;
    unsigned is_cube;
    uint64_t count;
    int64_t cycles;
};

/* All lines with one operation on one pipe. */
struct pto_op_total {
    enum pto_opcode code;
    enum pto_pipe pipe;
    uint32_t lines;
    uint64_t count;
    int64_t busy, stall, path, conflict;
    double busy_share;
};

/* Bytes of one memory, from the first instruction that touches them to the last. */
struct pto_tile_life {
    struct str name; /* "%a_l1" */
    unsigned is_cube;
    uint32_t line; /* of the first instruction */
    enum pto_space space;
    int64_t lo, hi;
    int64_t first, last; /* cycles */
    uint64_t count;      /* instructions that touched it */
};

struct pto_memory_peak {
    unsigned is_cube;
    enum pto_space space;
    int64_t size, peak; /* bytes */
    int64_t at;         /* the cycle */
    double share;
};

struct pto_lines {
    struct arena arena;
    VEC_OF(struct pto_line) lines; /* by line */
    VEC_OF(struct pto_scalar_line) scalar;
    VEC_OF(struct pto_op_total) ops;      /* busiest first */
    VEC_OF(struct pto_tile_life) tiles;   /* by space and address */
    VEC_OF(struct pto_memory_peak) peaks; /* by space */
};

void pto_lines_init(struct pto_lines *l);
void pto_lines_free(struct pto_lines *l);
void pto_lines_fill(struct pto_lines *l, const struct pto_sim *sim);

/* Fields for programs: "lines", "scalar_lines", "operations", "tiles", "memory". */
extern const struct record pto_lines_record;

#endif
