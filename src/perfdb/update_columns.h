/*
 * update_columns - the columns of a table after replayed durations are written back.
 */
#ifndef STRATA_PERFDB_UPDATE_COLUMNS_H
#define STRATA_PERFDB_UPDATE_COLUMNS_H

#include "perfdb/table.h"

/* Renames what older tools wrote and puts in the columns of a replay. */
void update_columns(struct table *t);

/* The columns of a table that was not there: block B, the four durations, and the counters of
 * replay and profile side by side. */
void update_columns_new(struct table *t);

#endif
