/*
 * race - accesses to the same bytes that nothing puts in order.
 *
 * A run of the simulator tells its events here: instructions with the bytes they touch, flags,
 * barriers, tokens of other cores. Each pipe of each core is a lane with a vector clock: entry j of
 * the clock of lane i is how many events of j are over for certain when the next one of i begins.
 * Events of a lane follow each other (queue order), a wait takes the clock of its set, a barrier of
 * all pipes joins those of its core, and what the scalar unit has waited for holds for everything
 * it dispatches later. Two accesses, one of them a write, that no clock orders are a race, however
 * the times of this run fell.
 *
 * What the scalar unit writes needs a flag; what it reads is there before it goes on.
 */
#ifndef STRATA_KERNELS_PTO_JUDGE_RACE_H
#define STRATA_KERNELS_PTO_JUDGE_RACE_H

#include "base/arena.h"
#include "kernels/pto/sim/hazards.h"
#include "kernels/pto/sim/program.h"

struct pto_core;

enum {
    PTO_RACE_CORES = 3,
    PTO_RACE_LANES = 40,   /* at least cores times pipes; whole vectors */
    PTO_RACE_PIECES = 128, /* most runs of bytes that one operand on the chip is cut into */
    PTO_RACE_MOST = 100,   /* findings that are kept */
};

struct pto_clock {
    uint32_t at[PTO_RACE_LANES];
};

enum pto_race_kind {
    PTO_RACE_RAW,    /* may read before the write is over */
    PTO_RACE_WAR,    /* may overwrite what is still read */
    PTO_RACE_WAW,    /* either write may be the last */
    PTO_RACE_ORDER,  /* the same on one pipe: a barrier is missing */
    PTO_RACE_UNSET,  /* a wait for a flag that nothing sets */
    PTO_RACE_UNUSED, /* a flag that is set and not waited for */
    PTO_RACE_REUSED, /* a flag that is set again before its wait */
    PTO_RACE_EMPTY,  /* reads bytes that nothing wrote */
    PTO_RACE_BLOCKS, /* two blocks of a launch write the same bytes, or one what the other reads */
};

/* One end of a finding: an instruction or a flag. */
struct pto_race_end {
    const struct pto_program *program; /* NULL: none */
    uint32_t site;
    uint8_t core, pipe;
};

struct pto_race {
    uint32_t use; /* of the second: the operand */
    enum pto_race_kind kind;
    struct pto_race_end first, second; /* in the order of the program */
    enum pto_space space;
    int32_t root;         /* of global memory: number of the pointer argument */
    int64_t lo, hi;       /* bytes that both touch */
    uint8_t from, to, id; /* of a flag */
    bool is_grave;        /* false: a warning */
};

/* The last accesses to some bytes of one core's memory. */
struct pto_race_piece {
    int64_t lo, hi;
    struct {
        uint32_t clock, site; /* clock 0: none */
    } write, read[PTO_PIPE_COUNT];
    uint8_t writer;             /* pipe of the last write */
    bool has_data;              /* something wrote it, or pushed it */
    bool is_stream;             /* it was a long one of the vector pipe */
    int64_t write_lo, write_hi; /* all it wrote */
};

/* An access to global memory. */
struct pto_race_gm {
    struct pto_gm_window window;
    struct pto_view view; /* ndim 0: the window says all */
    uint32_t clock, site;
    bool is_write, is_atomic;
};

/* Flags that were set and not waited for. */
struct pto_race_flag {
    VEC_OF(struct pto_clock) set;
    size_t waited;
    uint32_t site; /* of the last set */
};

struct pto_race_tokens {
    VEC_OF(struct pto_clock) at;
};

enum { PTO_RACE_SEMAPHORES = 35, PTO_RACE_ROOTS = 65 };

/* What a run told, in order, for who wants to judge it in another way. */
enum pto_race_event_kind {
    PTO_EVENT_READ,
    PTO_EVENT_WRITE,
    PTO_EVENT_RUN, /* an instruction begins on `pipe`; its accesses follow */
    PTO_EVENT_SET,
    PTO_EVENT_WAIT,
    PTO_EVENT_BARRIER,
};

struct pto_race_event {
    enum pto_race_event_kind kind;
    uint8_t core, pipe, peer, id;
    enum pto_space space;
    int64_t lo, hi;
    uint32_t site;
};

struct pto_races {
    struct arena arena;
    enum pto_arch arch;
    struct pto_clock lane[PTO_RACE_LANES];
    struct pto_clock dispatched[PTO_RACE_CORES]; /* what the scalar unit has waited for */
    uint32_t over[PTO_RACE_LANES]; /* events of the lane itself that are over, not only begun */
    const struct pto_program *program[PTO_RACE_CORES];
    bool has_barriers[PTO_RACE_CORES]; /* of the vector pipe, in the text */
    bool are_twins;                    /* both vector cores do the same */
    struct {
        VEC_OF(struct pto_race_piece) at;
    } space[PTO_RACE_CORES][PTO_SPACE_COUNT];
    struct {
        VEC_OF(struct pto_race_gm) at;
    } * gm[PTO_RACE_ROOTS]; /* by lane, made when used; the last is of pointers nobody knows */
    uint64_t written;       /* bit per pointer argument that something writes */
    struct pto_race_flag *flag[PTO_RACE_CORES][PTO_PIPE_COUNT][PTO_PIPE_COUNT];
    struct pto_race_tokens token[PTO_RACE_SEMAPHORES][PTO_RACE_CORES][PTO_RACE_CORES];
    struct pto_race_tokens pushed[PTO_FIFOS][2][PTO_RACE_CORES],
        freed[PTO_FIFOS][2][PTO_RACE_CORES];
    struct pto_clock buffer[PTO_RACE_CORES][32];
    VEC_OF(struct pto_race) found;
    uint64_t count;                                          /* also those not kept */
    void (*tap)(void *user, const struct pto_race_event *e); /* or NULL */
    void *user;
};

void pto_races_init(struct pto_races *r);
void pto_races_free(struct pto_races *r);

/* Forgets the clocks and bytes of the last run; what was found stays. */
void pto_races_restart(struct pto_races *r, enum pto_arch arch,
                       const struct pto_program *const programs[PTO_RACE_CORES]);

/* At the end of a run that came to its end: flags that nobody waited for. */
void pto_races_finish(struct pto_races *r);

/* ---- told by the simulator ---- */

void pto_race_set(struct pto_races *r, uint32_t core, uint32_t site, enum pto_pipe a,
                  enum pto_pipe b, uint32_t id);
void pto_race_wait(struct pto_races *r, uint32_t core, uint32_t site, enum pto_pipe a,
                   enum pto_pipe b, uint32_t id);

/* A wait that nothing can end. */
void pto_race_unset(struct pto_races *r, uint32_t core, uint32_t site, enum pto_pipe a,
                    enum pto_pipe b, uint32_t id);
void pto_race_barrier(struct pto_races *r, uint32_t core, enum pto_pipe pipe);

/* An instruction with the operands it has now. */
void pto_race_run(struct pto_races *r, struct pto_core *c, const struct pto_site *s);

/* An element that the scalar unit reads or writes. */
void pto_race_scalar(struct pto_races *r, const struct pto_core *c, const struct pto_site *s,
                     const struct pto_gm_window *w, bool is_write);

/* A flag for other cores, and one taken from another. */
void pto_race_give(struct pto_races *r, uint32_t core, enum pto_pipe pipe, uint32_t id,
                   uint32_t cores);
void pto_race_token_wait(struct pto_races *r, uint32_t core, enum pto_pipe pipe, uint32_t id,
                         uint32_t from, size_t nth);

/* FIFOs: an entry that is pushed or given back, and token `nth` of a core at the other end. */
void pto_race_pushed(struct pto_races *r, uint32_t core, const struct pto_site *s);
void pto_race_freed(struct pto_races *r, uint32_t core, const struct pto_site *s, int64_t lo,
                    int64_t hi);
void pto_race_freed_view(struct pto_races *r, uint32_t core, const struct pto_site *s);
void pto_race_fifo_wait(struct pto_races *r, uint32_t core, const struct pto_site *s, uint32_t from,
                        bool is_freed, size_t nth);

/* The entry a pop yields. */
void pto_race_popped(struct pto_races *r, const struct pto_core *c, const struct pto_site *s,
                     const struct pto_touch *t);

void pto_race_get_buffer(struct pto_races *r, uint32_t core, enum pto_pipe pipe, uint32_t id);
void pto_race_rls_buffer(struct pto_races *r, uint32_t core, enum pto_pipe pipe, uint32_t id);

/* ---- what was found, in words ---- */

/* "pto-race.raw" */
const char *pto_race_code(enum pto_race_kind kind);

/* One sentence: who, which bytes of which buffer, what is missing. */
const char *pto_race_text(const struct pto_race *f, struct arena *arena);

/* The line to show it at: of the second end. */
uint32_t pto_race_line(const struct pto_race *f);

/* ---- between race.c and race_bytes.c ---- */

static inline uint32_t pto_race_lane(uint32_t core, enum pto_pipe pipe)
{
    return core * PTO_PIPE_COUNT + (uint32_t)pipe;
}

/* Pipe `to` goes on with what pipe `from` has finished. */
void pto_race_follow(struct pto_races *r, uint32_t core, enum pto_pipe from, enum pto_pipe to);

/* The next event of a lane; returns its clock. */
uint32_t pto_race_next(struct pto_races *r, uint32_t core, enum pto_pipe pipe);

void pto_race_add(struct pto_races *r, const struct pto_race *f);

#endif
