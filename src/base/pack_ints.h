/*
 * pack_ints - columns of whole numbers in few bytes, as Parquet encodes them.
 *
 * Results are appended to a text.
 */
#ifndef STRATA_BASE_PACK_INTS_H
#define STRATA_BASE_PACK_INTS_H

#include <stdint.h>

#include "base/text.h"

/* Bits that numbers up to `most` need. */
static inline unsigned pack_width(uint64_t most)
{
    return most == 0 ? 0 : 64 - (unsigned)__builtin_clzll(most);
}

/* DELTA_BINARY_PACKED: differences to the number before, less the least of 128, in as many bits as
 * 32 of them need. */
void pack_delta(struct text *out, const int64_t *values, size_t n);

/* The hybrid of runs and packed numbers of `width` bits, at most 32. */
void pack_hybrid(struct text *out, const uint32_t *values, size_t n, unsigned width);

#endif
