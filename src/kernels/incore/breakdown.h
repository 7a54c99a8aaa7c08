/*
 * breakdown - how long each pipe of each core was busy, how long it waited, what bounds the kernel.
 */
#ifndef STRATA_KERNELS_INCORE_BREAKDOWN_H
#define STRATA_KERNELS_INCORE_BREAKDOWN_H

#include "kernels/incore/flags.h"
#include "kernels/incore/metrics.h"
#include "kernels/pto/judge/outcome_file.h"
#include "report/limits.h"
#include "report/record.h"

enum { INCORE_DEFAULT_MHZ = 1850 };

struct incore_use {
    struct str core; /* empty: all cores together */
    struct str pipe;
    uint64_t executed;    /* instructions */
    uint64_t cycles;      /* sum of their lengths; more than the wall when they overlap */
    uint64_t busy_cycles; /* time with at least one of them */
    double busy;          /* of the core's span, 0 to 1 */
    uint64_t max_depth;   /* sub-lanes */
    uint64_t wait_cycles; /* waiting for flags */
    uint64_t bytes;       /* moved from or to global memory */
    int64_t told_cycles;  /* busy as the simulator counted it; -1: it does not tell */
};

struct incore_span {
    struct str core;
    double begin, end; /* microseconds, over all instructions */
    uint64_t cycles;   /* the same */
    const struct incore_use *pipes;
    size_t pipes_n;
};

struct incore_breakdown {
    struct arena arena;
    double mhz;
    bool is_assumed; /* nobody told the clock */
    VEC_OF(struct incore_span) cores;
    VEC_OF(struct incore_use) uses;   /* core by core, pipes in the order they are drawn */
    VEC_OF(struct incore_use) totals; /* the same pipes of all cores */
    double vector_use;                /* mean of the vector utilisation, 0 to 1; -1: unknown */
    double wait_share;                /* waits of waits and busy time */
    struct limit_list limits;         /* in picoseconds */
    int64_t run_cycles, start_cycles; /* as the simulator counted them; 0: the trace alone */
    struct str verdict, advice;       /* "read-bound" */
};

/* `arrows` and `m` may be NULL; `mhz` 0: not known. The texts live as long as the breakdown. */
void incore_breakdown_build(struct incore_breakdown *b, const struct incore_trace *t,
                            const struct incore_lanes *lanes, const struct incore_arrows *arrows,
                            const struct incore_metrics *m, double mhz);
void incore_breakdown_free(struct incore_breakdown *b);

/* What the simulator says of the run is what bounds it, in place of what the trace suggests. */
void incore_breakdown_take(struct incore_breakdown *b, const struct pto_outcome_kept *o);

/*
 * What bounds a recorded kernel, by the rule for simulated ones (report/limits.h), in picoseconds.
 *
 * The trace is replayed: an instruction starts when the one before it on its pipe has left room and
 * the flags it waited for are set, plus what else it was late in the trace. Without one resource
 * the replay is shorter, and that is what the resource costs. `arrows` may be NULL: no instruction
 * waited for another pipe.
 */
void incore_pace(const struct incore_trace *t, const struct incore_lanes *lanes,
                 const struct incore_arrows *arrows, struct limit_list *out);

/* "read-bound" */
struct str incore_verdict(const struct limit_list *limits, enum lang lang, struct arena *arena);

/* The object of pipe_breakdown.json and of `--json`. */
extern const struct record incore_breakdown_record, incore_use_record;

#endif
