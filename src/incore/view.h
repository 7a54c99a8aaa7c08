/*
 * view - a trace of one kernel in numbers and letters: which instructions take the time, who waits
 * for whom, when each pipe was busy; and what differs between two runs.
 */
#ifndef STRATA_INCORE_VIEW_H
#define STRATA_INCORE_VIEW_H

#include "incore/breakdown.h"
#include "incore/flags.h"

/* Instructions of one name on one pipe, over all cores; microseconds. */
struct incore_top {
    struct str pipe, name;
    uint64_t count;
    double total, longest;
    double first; /* when the first began, from the start of its core */
};

/* Waits of one pipe for another, over all cores; microseconds. */
struct incore_stall {
    struct str producer, consumer, id;
    uint64_t count;
    double total, longest;
};

/* One pipe of one core, a letter for each piece of time: '#' busy for most of it, '+' for some,
 * 'w' waiting, '.' neither. */
struct incore_strip {
    struct str core, pipe;
    char *cells;
};

struct incore_view {
    struct arena arena;
    VEC_OF(struct incore_top) tops;     /* most time first */
    VEC_OF(struct incore_stall) stalls; /* most time first */
    VEC_OF(struct incore_strip) strips; /* by core and pipe */
    double begin, end;                  /* of the whole trace */
};

/* `columns` 0: no strips. Texts live as long as the view. */
void incore_view_build(struct incore_view *v, const struct incore_trace *t,
                       const struct incore_lanes *lanes, size_t columns);
void incore_view_free(struct incore_view *v);

/* The strips as member "timeline" of the object that is open. */
void incore_timeline_json(const struct incore_view *v, struct json_writer *w);

/* What changed from `a` to `b`; the side that is missing has a count of 0. */
struct incore_top_change {
    struct incore_top a, b;
};

struct incore_stall_change {
    struct incore_stall a, b;
};

struct incore_changes {
    VEC_OF(struct incore_top_change) tops;     /* largest change of time first */
    VEC_OF(struct incore_stall_change) stalls; /* likewise */
};

void incore_changes_build(struct incore_changes *c, const struct incore_view *a,
                          const struct incore_view *b);
void incore_changes_free(struct incore_changes *c);

#endif
