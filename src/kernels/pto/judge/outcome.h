/*
 * outcome - what a run of the simulator says, as plain data.
 *
 *     pto_outcome_init(&o);
 *     pto_outcome_fill(&o, &sim, &chip);      after pto_sim_run()
 *     ... o.total, o.units, o.path
 *     pto_outcome_free(&o);
 *
 * An outcome owns what it holds and outlives the sim. Lists are in a fixed order, so the same run
 * gives the same bytes.
 */
#ifndef STRATA_KERNELS_PTO_JUDGE_OUTCOME_H
#define STRATA_KERNELS_PTO_JUDGE_OUTCOME_H

#include "kernels/pto/cost/chips.h"
#include "kernels/pto/judge/path.h"
#include "report/limits.h"

struct record;

/* One pipe of one core. */
struct pto_unit {
    uint32_t core;
    enum pto_pipe pipe;
    int64_t busy;
    double share;   /* of all cycles */
    uint64_t count; /* instructions */
    int64_t stall[PTO_CAUSE_COUNT];
    int64_t first, until; /* active from .. to */
};

/* What one pipe waited for, and how long in all. */
struct pto_stall {
    uint32_t core;
    enum pto_pipe pipe;
    enum pto_cause cause;
    uint32_t from_core;
    enum pto_pipe from; /* it waited for */
    uint64_t count;
    int64_t cycles;
};

/* A part of the critical path: all its pieces on one pipe, of one sort. */
struct pto_path_part {
    uint32_t core;
    enum pto_pipe pipe;
    enum pto_path_sort sort;
    enum pto_cause cause; /* of PTO_PATH_SYNC */
    uint64_t count;
    int64_t cycles;
    bool is_sync;
    double share; /* of all cycles */
};

/* The critical path by what its pieces waited for. */
struct pto_path_reason {
    enum pto_reason reason;
    uint64_t count;
    int64_t cycles;
    double share; /* of all cycles */
};

struct pto_flow {
    enum pto_space src, dst;
    uint64_t bytes;
};

/* An input that nobody supplied and the program's way depends on. */
struct pto_assumed {
    struct str name; /* of the argument; empty for a value of a tile or a wait */
    bool is_pointer;
    bool is_data; /* bytes, not a number */
    int kind;     /* of struct pto_assumption */
    uint32_t line;
};

struct pto_outcome {
    struct arena arena;
    struct str kernel;
    struct pto_chip chip;
    enum pto_arch arch;
    const char *sync; /* who puts the flags: "source", "ptoas" or "dep": nobody */
    bool is_complete, is_degenerate;
    uint32_t present; /* bit per core */
    int64_t total;    /* cycles */
    int64_t start;    /* cycles of it before the first instruction */
    int64_t launch;   /* cycles of a launch, not in `total` */
    double us, us_with_launch;
    double l2_hit;      /* of the bytes read from global memory; not finite: none */
    bool is_l2_assumed; /* the share was given, not computed from the addresses */
    double gm_read;     /* bytes */
    int32_t cores;      /* AI cores that share the memory */
    uint64_t instructions, steps;
    uint64_t records, unrecorded; /* for stalls and path: kept, and not kept */
    struct limit_list limits;     /* what bounds it; judged by kernels/pto/pto_judge.h */
    bool is_judged;               /* every limit that can be the bound was tried */
    bool has_bound_pipe;
    uint32_t bound_core; /* the pipe with the largest part of what bounds it on the path */
    enum pto_pipe bound_pipe;
    double bound_share; /* of all cycles: all of what bounds it on the path */
    uint64_t macs;
    double peak_macs;           /* a cycle, for the types that were multiplied; 0: none */
    double peak_share;          /* of that; not finite: none */
    uint32_t inserted_barriers; /* events ran out */
    VEC_OF(struct pto_unit) units;
    VEC_OF(struct pto_stall) stalls;                  /* longest first */
    VEC_OF(struct pto_path_part) path;                /* longest first; adds up to `total` */
    struct pto_path_reason reasons[PTO_REASON_COUNT]; /* longest first; adds up, too */
    size_t n_reasons;
    VEC_OF(struct pto_flow) flows;
    VEC_OF(struct pto_assumed) assumed;
};

void pto_outcome_init(struct pto_outcome *o);
void pto_outcome_free(struct pto_outcome *o);
void pto_outcome_fill(struct pto_outcome *o, const struct pto_sim *sim,
                      const struct pto_chip *chip);

/* Names what bounds it once the limits are tried: sorts them and finds the pipe. */
void pto_outcome_judge(struct pto_outcome *o);

/* What stands behind a pipe. */
enum limit pto_pipe_limit(enum pto_pipe pipe);

/* Next to nothing was computed: no cube work and less than a thousand cycles of the vector pipe, as
 * the health check of traces has it. */
bool pto_outcome_is_idle(const struct pto_outcome *o);

static inline double pto_outcome_us(const struct pto_outcome *o, int64_t n)
{
    return (double)n / o->chip.mhz;
}

const char *pto_pipe_short(enum pto_pipe pipe); /* "MTE2", "CUBE", "VEC" */
const char *pto_assumed_kind(unsigned kind);    /* "loop bound" */

extern const struct record pto_outcome_record;

/* ---- between the parts of outcome ---- */

void pto_outcome_walk(struct pto_outcome *o, const struct pto_sim *sim);

#endif
