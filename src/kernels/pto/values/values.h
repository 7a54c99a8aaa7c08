/*
 * values - steps that make views and tiles of numbers, for the compiler (when it knows all numbers)
 * and for the cores alike.
 */
#ifndef STRATA_KERNELS_PTO_VALUES_VALUES_H
#define STRATA_KERNELS_PTO_VALUES_VALUES_H

#include "kernels/pto/sim/program.h"

/* What the steps of one core work on. */
struct pto_slots {
    struct pto_number *numbers;
    struct pto_tile *tiles;
    struct pto_gm *gms;
};

/* make_tensor_view, partition_view, addptr, castptr: false when a number is negative or too large
 * to be an offset. */
bool pto_step_view(const struct pto_program *p, const struct pto_step *s, struct pto_slots v);

/* alloc_tile, subview, multi_tile_get, treshape, bitcast, tassign, set_validshape: false when the
 * result leaves its tile or its space. */
bool pto_step_tile(const struct pto_program *p, const struct pto_step *s, struct pto_slots v);

#endif
