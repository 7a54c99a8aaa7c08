/*
 * queues - the pipes of one core and the clock of each.
 *
 * Instructions arrive in program order. Each pipe is a queue that starts one instruction at a
 * time: start = max(the queue is free, the scalar unit has come this far, everything waited for is
 * there). An instruction holds its queue for `occupied` cycles; its result, its flags and whoever
 * it blocked see it `latency` cycles later ("ready"). So every time is a maximum of sums: one more
 * wait can move starts later, never earlier.
 *
 * Waits come from three sides: bytes that another instruction reads or writes
 * (kernels/pto/sim/hazards.h), flags and barriers of the program, tokens of FIFOs between cores.
 * For each instruction the queue keeps which of them was the last to let go, which is what stalls
 * and the critical path are made of.
 */
#ifndef STRATA_KERNELS_PTO_SIM_QUEUES_H
#define STRATA_KERNELS_PTO_SIM_QUEUES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/tables/vec.h"
#include "kernels/pto/text/types.h"

/* Why an instruction did not start when its queue was free. */
enum pto_cause {
    PTO_CAUSE_NONE,      /* it did; or it was the first */
    PTO_CAUSE_RAW,       /* reads what was not written yet */
    PTO_CAUSE_WAR,       /* overwrites what was still being read */
    PTO_CAUSE_WAW,       /* overwrites what was still being written */
    PTO_CAUSE_FLAG,      /* set_flag/wait_flag, written or inserted */
    PTO_CAUSE_BARRIER,   /* a barrier of this pipe or of all pipes */
    PTO_CAUSE_FIFO,      /* pop before the push, push into a full FIFO */
    PTO_CAUSE_SEMAPHORE, /* a flag of another core */
    PTO_CAUSE_SCALAR,    /* the scalar unit had not dispatched it */
    PTO_CAUSE_START,     /* the core had not begun: only on the critical path */
    PTO_CAUSE_COUNT,
};

const char *pto_cause_name(enum pto_cause cause); /* "raw", "flag" */

enum { PTO_NO_RECORD = UINT32_MAX };

/* One instruction that ran. */
struct pto_record {
    int64_t start, end, ready; /* queue time is [start, end) */
    int64_t stall;             /* cycles the queue stood still before it */
    uint32_t site;             /* static instruction of the program */
    uint32_t before;           /* record that let it start last; PTO_NO_RECORD */
    uint8_t pipe, cause;
    uint8_t from;     /* pipe of `before`, where cause tells of one */
    uint8_t is_sync;  /* enum pto_sync_mark: not an instruction of the kernel's work */
    uint8_t other;    /* `before` is of another core: its number + 1; 0: of this one */
    uint8_t peer, id; /* of a set and a wait: the pipe at the other end, the flag */
};

enum pto_sync_mark {
    PTO_MARK_NONE,
    PTO_MARK_SET,
    PTO_MARK_WAIT,
    PTO_MARK_BARRIER,
    PTO_MARK_SIGNAL, /* a flag for another core */
    PTO_MARK_AWAIT,  /* waits for one */
};

/* A moment to wait for, and who made it. */
struct pto_moment {
    int64_t at;
    uint32_t record;
    uint8_t cause, from;
    uint8_t other; /* as in pto_record */
};

#define PTO_NO_MOMENT ((struct pto_moment){.record = PTO_NO_RECORD})

/* Keeps the later of two moments; of equal ones the first. */
static inline void pto_moment_join(struct pto_moment *m, struct pto_moment other)
{
    if (other.at > m->at)
        *m = other;
}

struct pto_queue {
    int64_t free;           /* when the next instruction may start */
    int64_t done;           /* when everything started so far is ready */
    uint32_t last;          /* record that set `free` */
    uint32_t slowest;       /* record that set `done` */
    struct pto_moment held; /* a wait or barrier in front of the next instruction */
    int64_t busy;           /* occupied cycles, and of the vector queue the latency of each burst as
                               far as the queue stood still; that of the last one is below */
    uint64_t count;         /* instructions, without synchronisation */
    int64_t stall[PTO_CAUSE_COUNT];
    int64_t first, until;  /* active from .. to; first is INT64_MAX while unused */
    int64_t burst_latency; /* of the burst that runs */
};

/* Fire times of one flag (source pipe, destination pipe, id), first in first out. */
struct pto_flag {
    VEC_OF(struct pto_moment) set;
    size_t waited;
};

enum { PTO_FLAG_IDS = 32 };

struct pto_races;

struct pto_queues {
    struct pto_queue pipe[PTO_PIPE_COUNT];
    struct pto_flag *flag[PTO_PIPE_COUNT][PTO_PIPE_COUNT]; /* PTO_FLAG_IDS each, made when used */
    VEC_OF(struct pto_record) records;
    size_t max_records;      /* beyond it records are counted only */
    uint64_t n_records;      /* all of them */
    struct pto_record aside; /* the last one that found no room */
    int64_t issue, flag_latency;
    bool no_latency;         /* what-if: results are there at once */
    int64_t memory_free;     /* when the core's share of memory has done what it was asked for */
    int64_t slack;           /* how far it may be behind, or ahead by what others did not use */
    struct pto_races *races; /* who is told of flags and barriers; or NULL */
    uint32_t core;           /* which one this is, for that */
    const struct pto_moment
        *late; /* when the instruction that runs now was dispatched; NULL: now */
};

void pto_queues_init(struct pto_queues *q, size_t max_records);
void pto_queues_free(struct pto_queues *q);

/* Starts over, keeping the memory; nothing runs before `start`. */
void pto_queues_reset(struct pto_queues *q, int64_t start);

struct pto_issue {
    uint32_t site;
    uint8_t pipe;
    bool is_blocking; /* the scalar unit goes on only when the result is there */
    int64_t occupied, latency;
    int64_t service; /* cycles of this core's share of the memory behind the L2 */
    bool is_write;   /* which the instruction does not wait for */
};

/* Runs one instruction that waits for `wait` (its bytes, its token) and what the queue is held by.
 * Returns the moment its result is ready. */
struct pto_moment pto_queues_run(struct pto_queues *q, const struct pto_issue *issue,
                                 struct pto_moment wait);

/* Cycles of the scalar unit on plain arithmetic. */
static inline void pto_queues_scalar(struct pto_queues *q, int64_t n)
{
    q->pipe[PTO_PIPE_S].free += n;
    q->pipe[PTO_PIPE_S].busy += n;
}

/* Flag `id` from pipe `a` to pipe `b` fires when all earlier instructions of `a` are ready. */
void pto_queues_set(struct pto_queues *q, uint32_t site, enum pto_pipe a, enum pto_pipe b,
                    uint32_t id);

/* Pipe `b` goes on when the flag has fired. False when no set is left to wait for. */
bool pto_queues_wait(struct pto_queues *q, uint32_t site, enum pto_pipe a, enum pto_pipe b,
                     uint32_t id);

/* Later instructions of the pipe (of every pipe for PTO_PIPE_ALL) start after all earlier ones are
 * ready. */
void pto_queues_barrier(struct pto_queues *q, uint32_t site, enum pto_pipe pipe);

/* A flag for another core takes its turn: the moment when all earlier instructions of the pipe (of
 * every pipe for PTO_PIPE_ALL) are ready. */
struct pto_moment pto_queues_signal(struct pto_queues *q, uint32_t site, enum pto_pipe pipe);

/* The pipe, or every pipe, takes its turn to wait for a flag of another core. */
void pto_queues_await(struct pto_queues *q, uint32_t site, enum pto_pipe pipe,
                      struct pto_moment until);

/* Holds a pipe until a moment that another core made. */
void pto_queues_hold(struct pto_queues *q, enum pto_pipe pipe, struct pto_moment until);

/* When everything is ready, and the record that is last; PTO_NO_RECORD for an empty core. */
struct pto_moment pto_queues_end(const struct pto_queues *q);

#endif
