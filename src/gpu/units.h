/*
 * units - values as Nsight Compute prints them: with separators between thousands, in scaled units.
 */
#ifndef STRATA_GPU_UNITS_H
#define STRATA_GPU_UNITS_H

#include "base/arena.h"

/* Which sign parts whole numbers from fractions; found out per file. */
enum gpu_number_style { GPU_NUMBERS_ENGLISH, GPU_NUMBERS_CONTINENTAL };

/* What a value says about that: 1 English ("1,234.5"), -1 continental ("1.234,5"), 0 either. */
int gpu_number_evidence(struct str text);

/* False for "n/a", "nan", "-", empty cells and anything else that is no finite number. */
bool gpu_number(struct str text, enum gpu_number_style style, double *out);

/* The base unit of `unit` ("Mbyte/s" gives "byte/s", "us" gives "ns") and the factor to it.
 * Unknown units pass through with factor 1. A literal, or `unit` itself. */
struct str gpu_base_unit(struct arena *arena, struct str unit, double *factor);

#endif
