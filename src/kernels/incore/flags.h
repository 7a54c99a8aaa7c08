/*
 * flags - which instruction released which: SET and WAIT flags matched, as arrows.
 *
 * The arrow of a matched pair begins at the last instruction of the producing pipe that had started
 * when the flag was set, and ends at the first one of the waiting pipe that starts after the wait.
 */
#ifndef STRATA_KERNELS_INCORE_FLAGS_H
#define STRATA_KERNELS_INCORE_FLAGS_H

#include "kernels/incore/lanes.h"

struct incore_arrow {
    uint32_t from, to; /* instructions */
    struct str label;  /* lives in the arena of the arrows */
    bool is_intra;     /* between cores */
    double waited;     /* length of the WAIT */
};

struct incore_arrows {
    struct arena arena;
    VEC_OF(struct incore_arrow) list;
    uint64_t skipped;   /* SETs without a WAIT or without an instruction to hold on to */
    uint64_t unmatched; /* of these: without a WAIT */
};

void incore_arrows_build(struct incore_arrows *arrows, const struct incore_trace *t,
                         const struct incore_lanes *lanes);
void incore_arrows_free(struct incore_arrows *arrows);

/* What the text of a flag says; absent parts have a NULL pointer. */
struct incore_detail {
    struct str producer, consumer, id;       /* as written */
    struct str producer_pipe, consumer_pipe; /* aliases resolved, never NULL */
};

struct incore_detail incore_detail_read(struct str text, bool is_compat);

#endif
