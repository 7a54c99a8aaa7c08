/*
 * grid_number - the numbers of shape rules: whole numbers of 64 bits, truth values that count as
 * 0 and 1, and reals.
 *
 * Each operation puts its result in place of the left operand and returns NULL, or the reason why
 * there is none (a literal).
 */
#ifndef STRATA_PERFDB_GRID_NUMBER_H
#define STRATA_PERFDB_GRID_NUMBER_H

#include "perfdb/grid_expr.h"

const char *grid_negate(struct grid_value *a);
const char *grid_add(struct grid_value *a, struct grid_value b);
const char *grid_sub(struct grid_value *a, struct grid_value b);
const char *grid_mul(struct grid_value *a, struct grid_value b);
const char *grid_divide(struct grid_value *a, struct grid_value b); /* always a real */
const char *grid_floor_divide(struct grid_value *a,
                              struct grid_value b);                 /* toward minus infinity */
const char *grid_modulo(struct grid_value *a, struct grid_value b); /* sign of the divisor */
const char *grid_power(struct grid_value *a, struct grid_value b);
const char *grid_align(struct grid_value *a, struct grid_value b); /* up to a multiple of b */

/* Less than, equal to or greater than zero, exactly, also between whole numbers and reals. */
int grid_compare(struct grid_value a, struct grid_value b);

#endif
