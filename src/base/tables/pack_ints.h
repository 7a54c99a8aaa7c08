/*
 * pack_ints - whole numbers in few bytes, alone and in columns as Parquet encodes them.
 *
 * Results are appended to a text. What reads them again takes them from files of others: false
 * means that the bytes are not such numbers, or too few.
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

/* The same from the front of `in`, which becomes what follows. A number of more than ten bytes is
 * none; neither is one whose last byte is not there. */
bool pack_get_varint(struct str *in, uint64_t *value);

static inline int64_t pack_unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1 ^ (~(value & 1) + 1));
}

/* Exactly `n` numbers. A run of the hybrid may go on behind them, and the last group is filled up.
 */
bool pack_get_delta(struct str *in, int64_t *values, size_t n);
bool pack_get_hybrid(struct str *in, uint32_t *values, size_t n, unsigned width);

#endif
