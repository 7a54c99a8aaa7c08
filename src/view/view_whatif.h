/*
 * view_whatif - the what-if box of `strata view`: the step with changes that the reader ticks.
 */
#ifndef STRATA_VIEW_VIEW_WHATIF_H
#define STRATA_VIEW_VIEW_WHATIF_H

#include "base/text.h"

struct page_set;
struct view_call;
struct view_whatif;

/* The replay of the set's capture; the set outlives it. */
struct view_whatif *view_whatif_new(const struct page_set *set);
void view_whatif_free(struct view_whatif *v);

/* Parameters `c` are changes ("no_sync", "no_sync:aten::item"); none: all there are. As JSON: the
 * step as recorded, replayed and changed, and the device tasks of a step in both. False, with an
 * error as JSON, for a change that is not known. One call at a time. */
bool view_whatif_answer(struct view_whatif *v, const struct view_call *call, struct text *out);

#endif
