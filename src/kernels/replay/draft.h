/*
 * draft - the arguments of a kernel as its C++ source lets them be guessed.
 *
 * A slot that the source reads as a descriptor, or hands to a function of its own, is a tensor,
 * with the element type its address is cast to; every other one is a value. Where the source
 * computes the number of a slot, the first eight are tensors unless they are known. Shapes and
 * values are not in the source: tensors are `dim` x `dim`, values 1.
 */
#ifndef STRATA_KERNELS_REPLAY_DRAFT_H
#define STRATA_KERNELS_REPLAY_DRAFT_H

#include "kernels/replay/slots.h"

void draft_slots(struct str source, int64_t dim, struct arena *arena, struct slots *out);

/* One argument of a known type, "float" or "half"; `type` is that of the elements of a tensor. */
void draft_tensor(int64_t index, struct str name, struct str type, int64_t dim, struct arena *arena,
                  struct slots *out);
void draft_value(int64_t index, struct str name, struct str type, int64_t value,
                 struct arena *arena, struct slots *out);

#endif
