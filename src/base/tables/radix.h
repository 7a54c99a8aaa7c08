/*
 * radix - sorting numbers in time that grows with their count alone.
 *
 * For keys of 64 bits with a value each; equal keys keep their order. Digits that all keys
 * share cost nothing, so ids and times of one profile take some four passes; a few sorted lists,
 * one behind the other, are merged, and items near their places go there one by one.
 */
#ifndef STRATA_BASE_TABLES_RADIX_H
#define STRATA_BASE_TABLES_RADIX_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct radix_item {
    uint64_t key;
    uint32_t value;
};

/* Doubles as keys that sort alike; -0 is 0. */
static inline uint64_t radix_key(double value)
{
    uint64_t bits;

    value = value + 0.0;
    memcpy(&bits, &value, sizeof(bits));
    return bits >> 63 != 0 ? ~bits : bits | (uint64_t)1 << 63;
}

/* Sorts `n` items by key; `spare` has room for as many. */
void radix_sort(struct radix_item *items, struct radix_item *spare, size_t n);

#endif
