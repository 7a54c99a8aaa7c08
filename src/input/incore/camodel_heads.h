/*
 * camodel_heads - what happened to an instruction before it began: when it was fetched and when it
 * was issued, from the icache and ccu logs of the simulator's core model.
 * docs/formats/camodel-dump.md
 */
#ifndef STRATA_INPUT_INCORE_CAMODEL_HEADS_H
#define STRATA_INPUT_INCORE_CAMODEL_HEADS_H

#include "input/incore/camodel_log.h"

struct camodel_point {
    uint64_t pc;
    int64_t tick;
};

struct camodel_points {
    VEC_OF(struct camodel_point) list;
};

/* Adds the fetches of an icache log: a line of four instructions each. */
void camodel_fetches_read(struct camodel_points *p, struct str log);

/* Adds the issues of a ccu log. */
void camodel_issues_read(struct camodel_points *p, struct str log);

struct camodel_head {
    int64_t fetched, issued; /* -1: not known */
};

/* One head for each of `instrs`, in their order; `out` has room. The k-th issue of an address
 * belongs to its k-th run; where one would come after its run, the address is given up. The fetch
 * is the last one before the issue. Both lists of points are sorted. */
void camodel_heads_find(const struct camodel_instrs *instrs, const struct camodel_records *ends,
                        struct camodel_points *fetches, struct camodel_points *issues,
                        struct camodel_head *out);

#endif
