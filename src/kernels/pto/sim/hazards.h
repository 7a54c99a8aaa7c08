/*
 * hazards - who still reads or writes which bytes of one core.
 *
 * Each memory space is cut into segments at the borders of the accesses so far; a segment knows
 * when its last write is ready and, per pipe, when its last read is. The first iterations of a loop
 * cut, later ones only look. On the vector pipe of A2/A3 a reader of exactly the bytes that a long
 * instruction wrote follows it without waiting for its latency. Global memory is told apart by the
 * pointer argument an access goes through; there, accesses are windows (rows of bytes at a stride),
 * and only windows that share a byte wait for each other.
 */
#ifndef STRATA_KERNELS_PTO_SIM_HAZARDS_H
#define STRATA_KERNELS_PTO_SIM_HAZARDS_H

#include "kernels/pto/sim/queues.h"

struct pto_segment {
    int64_t lo, hi;
    struct pto_moment write;                /* .from is the pipe */
    struct pto_moment read[PTO_PIPE_COUNT]; /* .at == 0: none */
    uint32_t readers;                       /* bit per pipe */
    int64_t write_lo, write_hi;             /* bytes of the last write in program order */
    bool is_stream;                         /* it was a long one of the vector pipe */
};

/* The segments of some bytes, as long as nothing was cut. Zero-initialised knows nothing. */
struct pto_place {
    int64_t lo, hi;
    uint32_t version, first;
};

/* One access to a tile. */
struct pto_touch {
    enum pto_pipe pipe;
    enum pto_space space;
    int64_t lo, hi; /* bytes */
    bool is_write;
    struct pto_place *place; /* where the caller keeps the segments of these bytes; or NULL */
    bool is_stream; /* on the vector pipe: a write long enough to be read behind, or a read that may
                       follow one; never of scratch */
};

/* A rectangle of bytes behind a pointer: `rows` rows of `row_bytes` every `stride` bytes. */
struct pto_gm_window {
    int64_t at, rows, row_bytes, stride;
    int32_t root;  /* pointer argument; negative: may be any */
    bool is_exact; /* false: only [at, at + rows * stride) is known */
};

struct pto_gm_access {
    struct pto_gm_window window;
    struct pto_moment ready;
    bool is_write;
};

struct pto_hazards {
    struct {
        VEC_OF(struct pto_segment) at;
        uint32_t version; /* counts the cuts, from 1 */
    } space[PTO_SPACE_COUNT];
    VEC_OF(struct pto_gm_access) gm; /* those that may still be under way */
    bool keeps_vector_order;         /* A5: vector instructions see the results of earlier ones */
    bool ignore_reuse; /* WAR and WAW do not wait: as if every write had a buffer of its own */
};

void pto_hazards_init(struct pto_hazards *h);
void pto_hazards_free(struct pto_hazards *h);
void pto_hazards_reset(struct pto_hazards *h);

/* Adds to `wait` what an access must wait for. */
void pto_hazards_find(struct pto_hazards *h, const struct pto_touch *t, struct pto_moment *wait);

/* Notes the access that was looked up, once it is known when it is ready. */
void pto_hazards_note(struct pto_hazards *h, const struct pto_touch *t, struct pto_moment ready);

void pto_hazards_find_gm(struct pto_hazards *h, enum pto_pipe pipe, const struct pto_gm_window *w,
                         bool is_write, struct pto_moment *wait);

/* `settled` is a time that no queue can start before any more. */
void pto_hazards_note_gm(struct pto_hazards *h, enum pto_pipe pipe, const struct pto_gm_window *w,
                         bool is_write, struct pto_moment ready, int64_t settled);

/* When all accesses to the bytes are over: the time a FIFO slot is free again. */
struct pto_moment pto_hazards_quiet(struct pto_hazards *h, enum pto_space space, int64_t lo,
                                    int64_t hi);

/* True when two windows of one pointer may share a byte. */
bool pto_gm_windows_meet(const struct pto_gm_window *a, const struct pto_gm_window *b);

#endif
