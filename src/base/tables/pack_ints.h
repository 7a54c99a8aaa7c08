/*
 * pack_ints - whole numbers in few bytes, alone and in columns as Parquet encodes them.
 *
 * Results are appended to a text.
 */
#ifndef STRATA_BASE_TABLES_PACK_INTS_H
#define STRATA_BASE_TABLES_PACK_INTS_H

#include <stdint.h>

#include "base/text/text.h"

/* Bits that numbers up to `most` need. */
static inline unsigned pack_width(uint64_t most)
{
    return most == 0 ? 0 : 64 - (unsigned)__builtin_clzll(most);
}

/* LEB128 of a number without a sign. */
void pack_varint(struct text *out, uint64_t value);

/* Small numbers of either sign become small ones without. */
static inline uint64_t pack_zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

/* DELTA_BINARY_PACKED: differences to the number before, less the least of 128, in as many bits as
 * 32 of them need. */
void pack_delta(struct text *out, const int64_t *values, size_t n);

/* The hybrid of runs and packed numbers of `width` bits, at most 32. */
void pack_hybrid(struct text *out, const uint32_t *values, size_t n, unsigned width);

#endif
