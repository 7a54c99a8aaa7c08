/*
 * view_answers - what `strata view` answers about a set, as JSON.
 */
#ifndef STRATA_VIEW_VIEW_ANSWERS_H
#define STRATA_VIEW_VIEW_ANSWERS_H

#include "view/view_request.h"
#include "view/view_rows.h"

/* Over the slices of these lanes within [from, to): busy time, time and count by name and by
 * family, and idle time by cause where `has_gaps`. */
void view_range(const struct view_rows *rows, const struct view_list *lanes, nanos from, nanos to,
                bool has_gaps, struct text *out);

/* The first `most` slices, lane by lane, whose name holds `query` in any case. */
void view_search(const struct view_rows *rows, struct str query, size_t most, struct text *out);

/* Slice number `n` of a lane with its attributes; false when there is none. */
bool view_slice(const struct view_rows *rows, size_t lane, size_t n, struct text *out);

#endif
