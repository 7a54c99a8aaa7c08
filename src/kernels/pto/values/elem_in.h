/*
 * elem_in - what the two halves of elem share: elem.c moves elements, elem_convert.c converts them.
 */
#ifndef STRATA_KERNELS_PTO_VALUES_ELEM_IN_H
#define STRATA_KERNELS_PTO_VALUES_ELEM_IN_H

#include "kernels/pto/values/elem.h"

static inline bool elem_is_integer(enum pto_dtype t)
{
    return t >= PTO_I1 && t <= PTO_INDEX;
}

static inline bool elem_is_signed(enum pto_dtype t)
{
    return t == PTO_I8 || t == PTO_I16 || t == PTO_I32 || t == PTO_I64 || t == PTO_INDEX;
}

static inline uint32_t elem_int_bits(enum pto_dtype t)
{
    return t == PTO_I1 ? 1 : pto_dtype_size(t) * 8;
}

/* The low bits of `v` as an integer of type `t`. */
static inline uint64_t elem_wrap(uint64_t v, enum pto_dtype t)
{
    uint32_t bits = elem_int_bits(t);
    if (bits >= 64)
        return v;
    uint64_t low = v & ((1ull << bits) - 1);
    if (elem_is_signed(t) && low >> (bits - 1))
        low |= ~0ull << bits;
    return low;
}

static const struct pto_convert nearest = {PTO_ROUND_RINT, PTO_SATURATION_AUTO, false};
static const struct pto_convert toward_zero = {PTO_ROUND_TRUNC, PTO_SATURATION_ON, false};

#endif
