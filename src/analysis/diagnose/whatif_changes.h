/*
 * whatif_changes - what each change does to the durations and edges of a replay.
 */
#ifndef STRATA_ANALYSIS_DIAGNOSE_WHATIF_CHANGES_H
#define STRATA_ANALYSIS_DIAGNOSE_WHATIF_CHANGES_H

#include "analysis/diagnose/roof.h"
#include "analysis/diagnose/whatif.h"

typedef void whatif_edit(struct whatif *w, struct str site, struct replay_change *c);

struct whatif_kind {
    const char *name, *summary;
    whatif_edit *edit;
    const char *bound; /* why its result is an upper bound; NULL: it is none */
};

extern const struct whatif_kind whatif_kinds[WHATIFS];

/* By what they need: bytes of copies, shapes of operators. */
whatif_edit whatif_pinned_copies, whatif_no_copies;
whatif_edit whatif_no_nonzero;
whatif_edit whatif_gemm_at_roof, whatif_family_at_roof, whatif_no_fp64;
whatif_edit whatif_fuse_elementwise, whatif_fuse_optimizer, whatif_fuse_attention;

/* Copies to the host right before the stretches of calls marked in `before` go. */
void whatif_drop_reads(struct whatif *w, struct replay_change *c, const uint8_t *before);

/* A node's call or task goes, with the host time that launches it. */
void whatif_drop_task(const struct whatif *w, struct replay_change *c, uint32_t task);

/* Classes of host work that a site of input_ready may name; NULL behind the last. */
const char *whatif_work_class(size_t i);

/* The operator of a call, with its kernel. */
static inline struct operator_ref whatif_operator(const struct whatif *w,
                                                  const struct host_call *call)
{
    return (struct operator_ref){call->op, call->tasks > 0 ? w->a->tasks.at[call->first_task].slice
                                                           : UINT32_MAX};
}

/* Whether a call or its operators have this name; an empty name fits all. */
bool whatif_fits(const struct whatif *w, const struct host_call *call, struct str site);

#endif
