/*
 * whatif_changes - what each change does to the durations and edges of a replay.
 */
#ifndef STRATA_ANALYSIS_DIAGNOSE_WHATIF_CHANGES_H
#define STRATA_ANALYSIS_DIAGNOSE_WHATIF_CHANGES_H

#include "analysis/diagnose/whatif.h"

typedef void whatif_edit(const struct whatif *w, struct str site, struct replay_change *c);

struct whatif_kind {
    const char *name, *summary;
    whatif_edit *edit;
    const char *bound; /* why its result is an upper bound; NULL: it is none */
};

extern const struct whatif_kind whatif_kinds[WHATIFS];

/* Those that need shapes or bytes. */
whatif_edit whatif_pinned_copies, whatif_gemm_at_roof, whatif_fuse_optimizer;

/* A node's call or task goes, with the host time that launches it. */
void whatif_drop_task(const struct whatif *w, struct replay_change *c, uint32_t task);

/* Whether a call or its operators have this name; an empty name fits all. */
bool whatif_fits(const struct whatif *w, const struct host_call *call, struct str site);

#endif
