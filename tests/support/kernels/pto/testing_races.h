/*
 * testing_races - another judge of races: every pair of accesses, by walks through a graph.
 *
 * The events of a run become nodes, begin and end of an instruction apart. Edges say what comes
 * before what: ends of a lane before its flags, sets before their waits, barriers between all. A
 * bit for each pair of nodes tells which can be reached; two accesses that share a byte, one of
 * them a write, need a path from the end of the first to the begin of the second.
 */
#ifndef STRATA_PTO_TESTING_RACES_H
#define STRATA_PTO_TESTING_RACES_H

#include <stdlib.h>
#include <string.h>

#include "kernels/pto/judge/race.h"

enum { JUDGE_NODES = 3000, JUDGE_LANES = PTO_RACE_CORES * PTO_PIPE_COUNT };

struct judge_access {
    uint32_t node; /* of the begin; the end follows it */
    struct pto_race_event e;
};

struct judge {
    enum pto_arch arch;
    uint32_t n; /* nodes */
    uint64_t before[JUDGE_NODES][JUDGE_NODES / 64 + 1];
    uint32_t last_begin[JUDGE_LANES]; /* node + 1 */
    uint32_t last_end[JUDGE_LANES];
    uint32_t last_held[JUDGE_LANES];     /* a wait or barrier that holds what begins later */
    uint32_t dispatched[PTO_RACE_CORES]; /* the same for all lanes of a core */
    VEC_OF(struct judge_access) accesses;
    VEC_OF(struct pto_race_event) sets; /* with their nodes in `lo` */
    bool is_over;                       /* more nodes than there is room for */
    bool has_race;
    uint32_t unused;
};

static inline void judge_edge(struct judge *j, uint32_t from_plus_1, uint32_t to)
{
    if (from_plus_1 == 0)
        return;
    uint32_t from = from_plus_1 - 1;
    for (size_t i = 0; i <= from / 64; i++)
        j->before[to][i] |= j->before[from][i];
    j->before[to][from / 64] |= UINT64_C(1) << from % 64;
}

static inline uint32_t judge_node(struct judge *j)
{
    if (j->n + 2 >= JUDGE_NODES) {
        j->is_over = true;
        j->n = 0;
    }
    memset(j->before[j->n], 0, sizeof(j->before[j->n]));
    return j->n++;
}

/* A node of its own in a lane: what comes later in it begins after what ended before. */
static inline uint32_t judge_point(struct judge *j, uint32_t core, uint32_t pipe, bool holds)
{
    uint32_t lane = core * PTO_PIPE_COUNT + pipe, node = judge_node(j);

    judge_edge(j, j->last_begin[lane], node);
    judge_edge(j, j->last_held[lane], node);
    judge_edge(j, j->dispatched[core], node);
    if (!holds)
        judge_edge(j, j->last_end[lane], node);
    if (holds)
        j->last_held[lane] = node + 1;
    return node;
}

static inline void judge_run(struct judge *j, const struct pto_race_event *e)
{
    uint32_t lane = (uint32_t)e->core * PTO_PIPE_COUNT + e->pipe, begin = judge_node(j);
    bool in_order = e->pipe != PTO_PIPE_V || j->arch == PTO_A5;

    judge_edge(j, in_order ? j->last_end[lane] : j->last_begin[lane], begin);
    judge_edge(j, j->last_held[lane], begin);
    judge_edge(j, j->dispatched[e->core], begin);
    uint32_t end = judge_node(j);
    judge_edge(j, begin + 1, end);
    judge_edge(j, j->last_end[lane], end);
    j->last_begin[lane] = begin + 1;
    j->last_end[lane] = end + 1;
}

static inline void judge_all(struct judge *j, uint32_t core)
{
    uint32_t node = judge_node(j);

    for (uint32_t p = 0; p < PTO_PIPE_COUNT; p++) {
        judge_edge(j, j->last_end[core * PTO_PIPE_COUNT + p], node);
        judge_edge(j, j->last_held[core * PTO_PIPE_COUNT + p], node);
    }
    judge_edge(j, j->dispatched[core], node);
    j->dispatched[core] = node + 1;
}

static inline void judge_wait(struct judge *j, const struct pto_race_event *e)
{
    for (size_t i = 0; i < j->sets.n; i++) {
        struct pto_race_event s = j->sets.at[i];
        if (s.core != e->core || s.pipe != e->peer || s.peer != e->pipe || s.id != e->id)
            continue;
        uint32_t node = judge_point(j, e->core, e->pipe, true);
        judge_edge(j, (uint32_t)s.lo + 1, node);
        if (e->pipe == PTO_PIPE_S)
            j->dispatched[e->core] = node + 1;
        memmove(&j->sets.at[i], &j->sets.at[i + 1], (j->sets.n - i - 1) * sizeof(s));
        j->sets.n--;
        return;
    }
}

static inline void judge_tap(void *user, const struct pto_race_event *e)
{
    struct judge *j = user;
    struct pto_race_event kept = *e;

    if (j->is_over)
        return;
    switch (e->kind) {
    case PTO_EVENT_RUN:
        judge_run(j, e);
        break;
    case PTO_EVENT_READ:
    case PTO_EVENT_WRITE:
        vec_push(&j->accesses,
                 ((struct judge_access){
                     j->last_begin[(uint32_t)e->core * PTO_PIPE_COUNT + e->pipe] - 1, kept}));
        break;
    case PTO_EVENT_SET:
        kept.lo = judge_point(j, e->core, e->pipe, false);
        vec_push(&j->sets, kept);
        break;
    case PTO_EVENT_WAIT:
        judge_wait(j, e);
        break;
    case PTO_EVENT_BARRIER:
        if (e->pipe == PTO_PIPE_ALL)
            judge_all(j, e->core);
        else {
            uint32_t lane = (uint32_t)e->core * PTO_PIPE_COUNT + e->pipe;
            uint32_t node = judge_point(j, e->core, e->pipe, true);
            judge_edge(j, j->last_end[lane], node);
        }
        break;
    }
}

static inline bool judge_conflict(const struct judge *j, const struct judge_access *a,
                                  const struct judge_access *b)
{
    bool is_same = a->e.core == b->e.core && a->e.pipe == b->e.pipe;

    if (a->node == b->node || a->e.space != b->e.space || a->e.lo >= b->e.hi || b->e.lo >= a->e.hi)
        return false;
    if (a->e.space != PTO_GM && a->e.core != b->e.core)
        return false;
    if (a->e.kind == PTO_EVENT_READ && b->e.kind == PTO_EVENT_READ)
        return false;
    if (a->e.pipe == PTO_PIPE_S && a->e.kind == PTO_EVENT_READ)
        return false; /* it had its value before it went on */
    if (is_same)      /* a later reader of the vector pipe */
        return false;
    uint32_t end = a->node + 1;
    return (j->before[b->node][end / 64] >> end % 64 & 1) == 0;
}

/* True when two accesses are not in order. */
static inline bool judge_finds(struct judge *j)
{
    for (size_t b = 0; b < j->accesses.n; b++) {
        for (size_t a = 0; a < b; a++) {
            if (judge_conflict(j, &j->accesses.at[a], &j->accesses.at[b]))
                return true;
        }
    }
    return false;
}

static inline void judge_start(struct judge *j, enum pto_arch arch)
{
    j->arch = arch;
    j->n = 0;
    j->is_over = false;
    memset(j->last_begin, 0, sizeof(j->last_begin));
    memset(j->last_end, 0, sizeof(j->last_end));
    memset(j->last_held, 0, sizeof(j->last_held));
    memset(j->dispatched, 0, sizeof(j->dispatched));
    j->accesses.n = j->sets.n = 0;
}

#endif
