/*
 * view_answers - what `strata view` answers as JSON: about a set, to SQL, and about changes.
 */
#ifndef STRATA_VIEW_VIEW_ANSWERS_H
#define STRATA_VIEW_VIEW_ANSWERS_H

#include "base/diag.h"
#include "base/text/text.h"
#include "view/view_request.h"
#include "view/view_rows.h"

/* Over the slices of these lanes within [from, to): busy time, time and count by name and by
 * family, and idle time by cause where `has_gaps`. */
void view_range(const struct view_rows *rows, const struct view_list *lanes, nanos from, nanos to,
                bool has_gaps, struct text *out);

/* The first `most` slices, lane by lane, whose name holds `query` in any case. */
void view_search(const struct view_rows *rows, struct str query, size_t most, struct text *out);

/* Number in a lane of the slice that is this entry of the dictionary and begins nearest to a time;
 * SIZE_MAX: none around it. */
size_t view_slice_near(const struct view_rows *rows, size_t lane, nanos begin, uint32_t what);

/* Slice number `n` of a lane with its attributes; false when there is none. */
bool view_slice(const struct view_rows *rows, size_t lane, size_t n, struct text *out);

/* ---- SQL: one statement at a time, read-only, with limits ---- */

struct sql;

enum { VIEW_SQL_ROWS = 10000, VIEW_SQL_BYTES = 8 << 20 };

/* Columns and rows as JSON, with "truncated" when a limit was reached; or {"error": text} and
 * false. The caller sees to it that one statement runs at a time. */
bool view_sql_run(struct sql *sql, struct str statement, struct text *out);

/* Tables and their columns. */
void view_sql_tables(struct text *out);

/* ---- what-if: the step with changes that the reader ticks ---- */

struct page_set;
struct view_call;
struct view_whatif;

/* The replay of the set's capture; the set outlives it. */
struct view_whatif *view_whatif_new(const struct page_set *set);
void view_whatif_free(struct view_whatif *v);

/* Parameters `c` are changes ("no_sync", "no_sync:aten::item"); none: all there are. As JSON: the
 * step as recorded, replayed and changed, and the device's timelines in both: of `step` (else one
 * in the middle) by task, of the run in buckets. False, with an error as JSON, for a change that is
 * not known. One call at a time. */
bool view_whatif_answer(struct view_whatif *v, const struct view_call *call, struct text *out);

#endif
