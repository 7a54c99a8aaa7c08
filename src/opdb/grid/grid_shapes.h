/*
 * grid_shapes - the slots of a shape cell as lists of dimensions, and back to text.
 *
 * A cell reads "16,5120;768,5120" with the quotes as part of it; an absent operand is an empty
 * slot. Positions matter, so empty slots are kept.
 */
#ifndef STRATA_OPDB_GRID_GRID_SHAPES_H
#define STRATA_OPDB_GRID_GRID_SHAPES_H

#include <stdint.h>

#include "base/arena.h"

struct grid_shape {
    const int64_t *dim;
    size_t n; /* 0: an empty slot */
};

struct grid_shapes {
    struct grid_shape *at;
    size_t n;
};

/* The slots of a cell. The last one does not count when it is empty. False when a dimension is no
 * whole number; the slots are counted all the same. */
bool grid_shapes_parse(struct arena *arena, struct str cell, struct grid_shapes *out);

/* "16,5120;768,5120", without quotes. */
struct str grid_shapes_text(struct arena *arena, struct grid_shapes shapes);

/* Slot by slot, dimension by dimension; the shorter first. An empty last slot does not count. */
int grid_shapes_compare(struct grid_shapes a, struct grid_shapes b);

/* The parts of a cell of data types or formats, by slot; quotes around the cell are dropped. */
struct grid_texts {
    struct str *at;
    size_t n;
};
struct grid_texts grid_texts_split(struct arena *arena, struct str cell);

/* Whether a data type or a format says that there is no operand: empty, NULL, NONE, UNDEFINED. */
bool grid_text_is_absent(struct str text);

/* Takes the next top-level part that is not blank off the front of a comma-separated list, so
 * that "max(1, 2), 3" has two. False when there is none. */
bool grid_shape_part(struct str *rest, struct str *part);

/* The dimensions of a shape in a rule, without the parentheses around it: "(M, K)" gives "M, K". */
struct str grid_shape_inside(struct str shape);

/* Bytes of one element; a type that is not known counts 2. */
int64_t grid_dtype_bytes(struct str dtype);

/* The data types of a cell, split at ';' and blanks. Empty parts are dropped, so an empty slot
 * shifts those behind it: sizes are to be the same as in other tools. */
struct grid_texts grid_dtype_list(struct arena *arena, struct str cell);

/* Sum over the slots that are not empty; one beyond the list of types counts 2 bytes an element.
 * A sum beyond 64 bits is the largest or the smallest number there is. */
int64_t grid_memory_bytes(struct grid_shapes shapes, struct grid_texts dtypes);

/* "11.50 GiB", "1.50 KiB", "17 B"; lives in the arena. */
struct str grid_memory_text(struct arena *arena, int64_t bytes);

#endif
