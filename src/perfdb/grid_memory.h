/*
 * grid_memory - how much device memory the operands of a row take.
 */
#ifndef STRATA_PERFDB_GRID_MEMORY_H
#define STRATA_PERFDB_GRID_MEMORY_H

#include "perfdb/grid_shapes.h"

/* Bytes of one element; a type that is not known counts 2. */
int64_t grid_dtype_bytes(struct str dtype);

/* The data types of a cell, split at ';' and blanks. Empty parts are dropped, so an empty slot
 * shifts those behind it: sizes are to be the same as in other tools. */
struct grid_texts grid_dtype_list(struct arena *arena, struct str cell);

/* Sum over the slots that are not empty; one beyond the list of types counts 2 bytes an element.
 * A sum beyond 64 bits is the largest or the smallest number there is. */
int64_t grid_memory_bytes(struct grid_shapes shapes, struct grid_texts dtypes);
int64_t grid_memory_add(int64_t a, int64_t b);

/* "11.50 GiB", "1.50 KiB", "17 B"; lives in the arena. */
struct str grid_memory_text(struct arena *arena, int64_t bytes);

#endif
