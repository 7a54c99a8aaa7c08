/*
 * fifo_ring - the data in the slots of a FIFO between cube and vector cores.
 *
 * An entry lies row by row in its slot, whatever the layout of the tile it came from. With a split
 * each vector core has one half of it.
 */
#ifndef STRATA_KERNELS_PTO_SIM_FIFO_RING_H
#define STRATA_KERNELS_PTO_SIM_FIFO_RING_H

#include "kernels/pto/text/tile.h"

struct pto_ring {
    unsigned char *data; /* of the slots; NULL: not yet made */
    struct pto_tile *entries;
    int64_t slot_size, slots;
};

void pto_ring_free(struct pto_ring *r);

/* The `number`th push, from 0. `half` is 0 or 1 for a vector core, which pushes a part when `split`
 * is not 0; of undivided entries that of the first vector core counts. */
enum status pto_ring_push(struct pto_ring *r, size_t number, const struct pto_tile *from,
                          bool to_vector, int32_t split, int32_t half, struct where where,
                          struct diag *d);

/* The `number`th pop: what of the entry fits into `to`. */
enum status pto_ring_pop(struct pto_ring *r, size_t number, const struct pto_tile *to,
                         bool to_vector, int32_t split, int32_t half, struct where where,
                         struct diag *d);

#endif
