/*
 * view - a trace of one kernel in numbers and letters: which instructions take the time, who waits
 * for whom, when each pipe was busy; and what differs between two runs.
 */
#ifndef STRATA_KERNELS_INCORE_VIEW_H
#define STRATA_KERNELS_INCORE_VIEW_H

#include "kernels/incore/breakdown.h"
#include "kernels/incore/flags.h"

/* Runs of one key over all cores, in microseconds: instructions by pipe and name, or waits by
 * producer, consumer and flag. */
struct incore_sum {
    struct str key[3];
    uint64_t count;
    double total, longest;
    double first; /* of instructions: when the first began, from the start of its core */
};

struct incore_sums {
    struct incore_sum *at;
    size_t n, cap;
};

/* One pipe of one core, a letter for each piece of time: '#' busy for most of it, '+' for some,
 * 'w' waiting, '.' neither. */
struct incore_strip {
    struct str core, pipe;
    char *cells;
};

struct incore_view {
    struct arena arena;
    struct incore_sums tops, stalls;    /* instructions and waits, most time first */
    VEC_OF(struct incore_strip) strips; /* by core and pipe */
    double begin, end;                  /* of the whole trace */
};

/* `columns` 0: no strips. Texts live as long as the view. */
void incore_view_build(struct incore_view *v, const struct incore_trace *t,
                       const struct incore_lanes *lanes, size_t columns);
void incore_view_free(struct incore_view *v);

extern const struct record incore_top_record, incore_stall_record, incore_strip_record;

/* A key whose sums differ between two runs; a side without it has a count of 0. */
struct incore_change {
    struct str key[3]; /* as in the sums */
    uint64_t count[2];
    double total[2], first[2];
    double moved; /* how much later the first begins; not finite: it is new or gone */
};

struct incore_change_list {
    struct incore_change *at;
    size_t n, cap;
};

struct incore_pipe_change {
    struct str pipe;
    uint64_t busy[2], wait[2]; /* cycles */
};

struct incore_changes {
    double span[2]; /* microseconds */
    struct str verdict[2];
    bool is_same;
    VEC_OF(struct incore_pipe_change) pipes; /* of both; those of the first before new ones */
    struct incore_change_list tops, stalls;  /* largest change of time first */
};

struct incore_side {
    const struct incore_view *view;
    const struct incore_breakdown *breakdown;
};

/* What changed from `a` to `b`, which must stay. */
void incore_changes_build(struct incore_changes *c, const struct incore_side *a,
                          const struct incore_side *b);
void incore_changes_free(struct incore_changes *c);

extern const struct record incore_pipe_change_record, incore_top_change_record,
    incore_stall_change_record;
extern const struct schema incore_changes_schema;

#endif
