/*
 * replay - a recorded schedule run again: queues of entries with durations, waits and signals.
 *
 * A recording is a CSV table with the columns queue, pos, duration, waits, signals (channel
 * numbers with | between them) and, for comparing, start and end. Each queue runs its entries in
 * order, one at a time. A channel counts signals from 0; an entry starts when all channels it
 * waits for are above 0 and takes one from each whose number is at least `sync_base`; lower ones
 * stay as they are once signalled. Signals come when an entry ends.
 */
#ifndef STRATA_KERNELS_PTO_JUDGE_REPLAY_H
#define STRATA_KERNELS_PTO_JUDGE_REPLAY_H

#include "base/diag.h"

struct schema;

enum { PTO_REPLAY_QUEUES = 11 };

struct pto_replay_entry {
    uint32_t queue, line;
    int64_t duration;
    uint32_t wait_first, wait_n, signal_first, signal_n; /* in `channels` */
    int64_t start, end;                                  /* as replayed; -1: it never ran */
    int64_t told_start, told_end;                        /* as recorded; -1: not told */
};

struct pto_replay {
    VEC_OF(struct pto_replay_entry) entries;
    VEC_OF(uint32_t) channels;
    VEC_OF(uint32_t) order[PTO_REPLAY_QUEUES]; /* entries of each queue */
    int64_t busy[PTO_REPLAY_QUEUES];
    int64_t total;
    uint64_t stuck;     /* entries that never ran */
    uint64_t different; /* entries whose times are not the recorded ones */
    const struct pto_replay_entry *first_different; /* NULL: none */
};

void pto_replay_init(struct pto_replay *r);
void pto_replay_free(struct pto_replay *r);

/* Reads a recording; a row that makes no sense is an error that names its line. */
enum status pto_replay_read(struct pto_replay *r, struct str text, const char *path,
                            struct diag *d);

void pto_replay_run(struct pto_replay *r, uint32_t sync_base);

const char *pto_replay_queue_name(uint32_t queue); /* "MTE2_AIV" */

extern const struct schema pto_replay_schema;

#endif
