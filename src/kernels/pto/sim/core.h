/*
 * core - one cube or vector core that executes a program, and what the cores of one AI core share.
 *
 * A core runs until its program ends, something is wrong, or it needs a token of another core: the
 * simulator then lets the others run (kernels/pto/sim/sim.h). Since each core sees only its own
 * program order and the tokens, in which order they take turns does not change any time.
 *
 * Timing alone needs no data. Values that steer the program come from arguments and inputs; one
 * that nobody supplied counts as zero and is listed when control flow uses it. With memory
 * (`--run`) every operation also computes.
 */
#ifndef STRATA_KERNELS_PTO_SIM_CORE_H
#define STRATA_KERNELS_PTO_SIM_CORE_H

#include "base/tables/hash.h"
#include "kernels/pto/cost/cost.h"
#include "kernels/pto/sim/fifo_ring.h"
#include "kernels/pto/sim/hazards.h"
#include "kernels/pto/sim/l2.h"
#include "kernels/pto/sim/program.h"
#include "kernels/pto/values/values.h"

enum { PTO_CORES = 3, PTO_AIC = 0, PTO_AIV0 = 1, PTO_AIV1 = 2 };

/* What an argument of the kernel is bound to. */
struct pto_binding {
    bool is_given;  /* by the user; else the default below is assumed */
    int64_t number; /* of a scalar; floats are the bits of a double in `real` */
    double real;
    unsigned char *data; /* of a pointer: its buffer, or NULL */
    size_t size;
};

/* Something nobody supplied that the program's way depends on. */
struct pto_assumption {
    uint32_t origin; /* argument + 1; PTO_ORIGIN_TILE | site for a value read from a tile */
    uint32_t line;   /* of the loop or branch */
    enum { PTO_ASSUMED_BRANCH, PTO_ASSUMED_BOUND, PTO_ASSUMED_DIVISOR, PTO_ASSUMED_WAIT } kind;
};

#define PTO_ORIGIN_TILE 0x80000000U

struct pto_fifo {
    bool is_set[PTO_CORES]; /* this core initialised it */
    struct pto_ring ring;
    int64_t local_slots;
    int64_t base;                                /* of the ring in the consumer's memory */
    VEC_OF(struct pto_moment) pushed[PTO_CORES]; /* by producer */
    VEC_OF(struct pto_moment) freed[PTO_CORES];  /* by consumer */
    size_t popped[PTO_CORES];                    /* by consumer */
    size_t allocated[PTO_CORES];                 /* by producer: slots handed out as views */
    struct pto_gm slots;                         /* in global memory; no dtype: none */
    bool has_views;                              /* entries are popped as views of slots */
};

struct pto_tokens {
    VEC_OF(struct pto_moment) set;
    size_t waited;
};

enum { PTO_SEMAPHORES = 35 }; /* the last three are syncall of aiv, aic, both */

struct pto_options {
    enum pto_arch arch;
    bool is_dep; /* bytes wait for bytes; else only for the flags in the program */
    bool has_memory;
    bool counts_steps; /* how often each step ran: pto_core.step_counts */
    int32_t cores;     /* AI cores that share the bandwidth */
    double
        l2_hit; /* part of the bytes in the L2; negative: as the addresses tell, empty at first */
    int64_t start; /* cycles from the start of the core to its first instruction */
    int64_t block, blocks;
    uint64_t max_steps;
    size_t max_records;
    int64_t unknown;         /* what a whole number that nobody supplied counts as */
    struct pto_races *races; /* told of everything that happens; or NULL */
    /* what if */
    bool no_reuse_waits;
    bool no_flags;   /* those of the text do nothing: with `is_dep` its bytes wait */
    bool no_latency; /* results, flags and tokens are there at once */
    double speed_up[PTO_PIPE_COUNT]; /* divides the occupied time; 0: 1 */
};

enum { PTO_PATHS = PTO_SPACE_COUNT * PTO_SPACE_COUNT };

struct pto_machine {
    const struct pto_costs *costs;
    const struct pto_options *options;
    struct pto_binding *bindings; /* by argument position */
    uint32_t n_bindings;
    struct pto_fifo fifo[PTO_FIFOS][2];                            /* [1] to the vector cores */
    struct pto_tokens token[PTO_SEMAPHORES][PTO_CORES][PTO_CORES]; /* id, from, to */
    uint32_t present;                                              /* bit per core */
    struct pto_l2 l2;
    const char *path;
    struct diag *diag;
};

enum pto_core_state { PTO_RUNNING, PTO_WAITING, PTO_FINISHED, PTO_STOPPED, PTO_FAILED };

/* The costs of a site for the shapes of its last execution. */
struct pto_site_cache {
    uint64_t key[5];
    int64_t occupied[PTO_PHASES], latency[PTO_PHASES];
    struct pto_miss miss[PTO_PHASES];
    enum { PTO_GM_NONE, PTO_GM_READ, PTO_GM_WRITTEN } gm[PTO_PHASES];
    int64_t bytes, macs;
    uint32_t path;
    bool is_filled;
};

enum { PTO_LINES = 256 };

enum pto_held_kind { PTO_HELD_WAIT, PTO_HELD_SET, PTO_HELD_BARRIER, PTO_HELD_RUN };

/* Something a pipe will do once the wait in front of it lets go. */
struct pto_held {
    enum pto_held_kind kind;
    enum pto_pipe peer; /* of a set or wait: the pipe at the other end */
    uint32_t id;        /* of its event */
    uint32_t site;
    struct pto_issue issue;
    struct pto_moment issued; /* by the scalar unit */
    void *operands;           /* of an instruction, as they were then */
};

struct pto_core {
    struct pto_machine *machine;
    const struct pto_program *program;
    uint32_t number; /* PTO_AIC, PTO_AIV0, PTO_AIV1 */
    enum pto_core_state state;
    uint32_t at; /* next step */
    uint64_t steps;
    struct pto_slots slots;
    struct pto_number *arrays;
    struct pto_queues queues;
    struct pto_hazards hazards;
    struct pto_site_cache *caches;
    uint64_t *step_counts;                           /* by step; NULL: not counted */
    struct pto_place *places;                        /* by use */
    struct pto_touch *touches;                       /* by use, of the last execution */
    const struct pto_site *looked;                   /* the instruction that was looked up last */
    unsigned char *space[PTO_SPACE_COUNT];           /* with memory only */
    struct pto_moment buffer[32];                    /* get_buf, rls_buf */
    VEC_OF(struct pto_held) backlog[PTO_PIPE_COUNT]; /* behind waits that are not set yet */
    size_t backlog_next[PTO_PIPE_COUNT];
    uint32_t held_pipes; /* bit per pipe with a backlog */
    uint32_t n_held;
    bool is_in_sync_all;      /* has told the others, and waits for them */
    uint64_t line[PTO_LINES]; /* of the scalar data cache */
    struct hash stored; /* what store_scalar wrote where there is no buffer: index of `words` */
    VEC_OF(struct pto_number) words;
    VEC_OF(struct pto_assumption) assumptions;
    uint64_t bytes[PTO_PATHS]; /* moved, by source and destination space */
    uint64_t macs;
    uint64_t prints;
    int64_t plain, division, scalar_hit, scalar_miss; /* cycles */
};

/* Binds a core to a program; memory of an earlier run is kept. */
void pto_core_start(struct pto_core *c, struct pto_machine *m, const struct pto_program *p,
                    uint32_t number);
void pto_core_free(struct pto_core *c);

/* Executes until the state is no longer PTO_RUNNING. Returns true when at least one step was made.
 */
bool pto_core_run(struct pto_core *c);

/* ---- between core.c and its parts ---- */

/* One instruction; false leaves the core waiting or failed at it. */
bool pto_core_site(struct pto_core *c, uint32_t site);

/* The cost of a site for the shapes its operands have now. */
const struct pto_site_cache *pto_core_cost(struct pto_core *c, uint32_t site);

/* What a vector instruction makes of the pipe, for the shapes its operands have now. */
struct pto_vector_use {
    double lanes;     /* part of them that is not masked */
    int64_t conflict; /* cycles that its sources lose to each other in the banks */
};
struct pto_vector_use pto_core_vector_use(const struct pto_core *c, uint32_t site);

/* What the bytes of a transfer find in the L2. */
void pto_core_memory(struct pto_core *c, const struct pto_site *s, uint8_t phase,
                     const struct pto_site_cache *cost, struct pto_issue *issue);

/* One phase of an instruction. */
static inline struct pto_issue pto_core_issue(struct pto_core *c, uint32_t site, uint8_t phase,
                                              const struct pto_site_cache *cost)
{
    const struct pto_site *s = &c->program->sites.at[site];
    struct pto_issue issue = {.site = site,
                              .pipe = s->phases[phase],
                              .is_blocking = s->phases[phase] == PTO_PIPE_S,
                              .occupied = cost->occupied[phase],
                              .latency = cost->latency[phase]};

    if (cost->gm[phase] != PTO_GM_NONE)
        pto_core_memory(c, s, phase, cost, &issue);
    return issue;
}

/* A view as rows of bytes; anything with more than one outer dimension is known by its hull. */
struct pto_gm_window pto_core_window(const struct pto_gm *g);

enum { PTO_EVENT_IDS = 8 }; /* of set_flag and its kin */

/* Cycles that a token takes from one core to another. */
/* Flags inside a block on A5 belong to one pair of cores: the cube core counts those that it shares
 * with AIV1 from 16 on, vector cores count theirs from 0. The number of the cube core, and the core
 * at the other end. */
uint32_t pto_paired_flag(uint32_t core, uint32_t id, uint32_t *peer);
int64_t pto_core_cross_latency(const struct pto_core *c);

/* Notes that control flow used something assumed. */
void pto_core_assume(struct pto_core *c, uint32_t origin, uint32_t line, int kind);

/* Cycles as the queues count them: whole, not negative, bounded so that sums fit. */
int64_t pto_whole_cycles(double cycles);

/* Ends the run with an error at a line. */
bool pto_core_fail(struct pto_core *c, uint32_t line, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Puts something behind the wait at which a pipe stands. */
bool pto_core_hold_back(struct pto_core *c, enum pto_pipe pipe, struct pto_held h);

/* Lets every pipe go on whose flag is set by now. */
bool pto_core_settle(struct pto_core *c);

/* Fails with an error for each pipe that stands at a wait. */
bool pto_core_report_blocked(struct pto_core *c);
void pto_core_drop_backlog(struct pto_core *c);

static inline const struct pto_use *pto_core_uses(const struct pto_core *c,
                                                  const struct pto_site *s)
{
    return c->program->uses.at + s->use_first;
}

/* Joins what the bytes of an instruction wait for. */
void pto_core_find_hazards(struct pto_core *c, const struct pto_site *s, enum pto_pipe pipe,
                           struct pto_moment *wait);

/* Notes the bytes that an instruction touched until it was ready. */
void pto_core_note(struct pto_core *c, const struct pto_site *s, enum pto_pipe pipe,
                   struct pto_moment ready);

/* Synchronisation of the text stands for itself: no bytes wait then. */
bool pto_core_bytes_wait(const struct pto_core *c);

/* Accesses through this pointer may depend on each other. */
bool pto_core_is_shared(const struct pto_core *c, int32_t root);

/* A time before which nothing of this core can start any more. */
int64_t pto_core_settled(const struct pto_core *c);

/* The phases of an instruction, one after the other. `wait` is what the first waits for. */
struct pto_moment pto_core_run_phases(struct pto_core *c, uint32_t site, struct pto_moment wait);

/* An instruction that waits for its bytes and computes. */
bool pto_core_plain_site(struct pto_core *c, uint32_t site);

/* The number with that role among the operands; NULL when there is none. */
struct pto_number *pto_core_operand(struct pto_core *c, const struct pto_site *s,
                                    enum pto_role role);

bool pto_core_fifo_site(struct pto_core *c, uint32_t site);
bool pto_core_load_scalar(struct pto_core *c, uint32_t site);
bool pto_core_store_scalar(struct pto_core *c, uint32_t site);
bool pto_core_get_value(struct pto_core *c, uint32_t site);

/* The operation on the data of its operands. */
bool pto_core_compute(struct pto_core *c, const struct pto_site *s);

#endif
