/*
 * row - small judgements about the rows of a table.
 */
#ifndef STRATA_PERFDB_ROW_H
#define STRATA_PERFDB_ROW_H

#include "perfdb/cell.h"

/* A duration that counts: a number above 0, infinity included. */
bool row_is_duration(struct str cell);

/* The row has a valid duration: replayed or profiled. */
static inline bool row_is_measured(struct str average, struct str profiled)
{
    return row_is_duration(average) || row_is_duration(profiled);
}

/* The matrix behind a stored shape: (a,b,c,d) in FRACTAL_NZ is (b*c, a*d), other formats are as
 * they are. False for FRACTAL_NZ with another number of dimensions, or beyond 64 bits. */
bool row_logical(struct arena *arena, struct cell_dims dims, struct str format,
                 struct cell_dims *out);

/* A repeat count: 1 or more. */
static inline bool row_is_repeat_count(int64_t n)
{
    return n > 0;
}

#endif
