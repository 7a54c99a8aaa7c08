/*
 * neon - 64 bytes at a time on aarch64, where every processor has NEON.
 *
 * A comparison yields 0xff or 0 for each byte; neon_bits() packs four of them into one bit a byte,
 * as the masks of AVX2 and AVX-512 are.
 */
#ifndef STRATA_BASE_TABLES_NEON_H
#define STRATA_BASE_TABLES_NEON_H

#if defined(__aarch64__)
#include <arm_neon.h>
#include <stdint.h>

static inline uint8x16x4_t neon_load(const void *at)
{
    const uint8_t *p = at;

    return (uint8x16x4_t){{vld1q_u8(p), vld1q_u8(p + 16), vld1q_u8(p + 32), vld1q_u8(p + 48)}};
}

static inline uint64_t neon_bits(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d)
{
    const uint8x16_t bit = vreinterpretq_u8_u64(vdupq_n_u64(UINT64_C(0x8040201008040201)));
    uint8x16_t low = vpaddq_u8(vandq_u8(a, bit), vandq_u8(b, bit));
    uint8x16_t high = vpaddq_u8(vandq_u8(c, bit), vandq_u8(d, bit));
    uint8x16_t quarters = vpaddq_u8(low, high);

    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(quarters, quarters)), 0);
}

/* The bits of the bytes that equal `c`. */
static inline uint64_t neon_equal(uint8x16x4_t v, char c)
{
    const uint8x16_t want = vdupq_n_u8((uint8_t)c);

    return neon_bits(vceqq_u8(v.val[0], want), vceqq_u8(v.val[1], want), vceqq_u8(v.val[2], want),
                     vceqq_u8(v.val[3], want));
}

/* The bits of the bytes from 0x20 to 0x7f. */
static inline uint64_t neon_printable(uint8x16x4_t v)
{
    const uint8x16_t blank = vdupq_n_u8(0x20), n = vdupq_n_u8(0x60);

    return neon_bits(vcltq_u8(vsubq_u8(v.val[0], blank), n), vcltq_u8(vsubq_u8(v.val[1], blank), n),
                     vcltq_u8(vsubq_u8(v.val[2], blank), n),
                     vcltq_u8(vsubq_u8(v.val[3], blank), n));
}
#endif

#endif
