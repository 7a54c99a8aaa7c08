/*
 * A checksum is the remainder of a long polynomial, and a block of 16 bytes may be replaced by
 * another one further on with the same remainder: each half of it times x to the power of the
 * distance, of which only the remainder is needed. So all blocks are folded into the last one, four
 * at a time as they do not depend on each other, and zlib does the rest.
 */
#include "base/crc32.h"

#include <zlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#include <stdbool.h>

#define CLMUL __attribute__((target("pclmul")))

enum { BLOCK = 16, LANES = 4, STRIDE = LANES * BLOCK };

/* `block` further on, added to what stands there. The halves of `powers` are for those of it. */
CLMUL static inline __m128i fold(__m128i block, __m128i powers, __m128i there)
{
    __m128i low = _mm_clmulepi64_si128(block, powers, 0x00);
    __m128i high = _mm_clmulepi64_si128(block, powers, 0x11);

    return _mm_xor_si128(_mm_xor_si128(low, high), there);
}

/* For at least STRIDE bytes in whole blocks. */
CLMUL static uint32_t add_blocks(uint32_t crc, const unsigned char *at, size_t n)
{
    /* x^(d+32) and x^(d-32) modulo the polynomial, bits reversed, for d bits: a stride, a block. */
    const __m128i by_stride = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
    const __m128i by_block = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
    const __m128i *from = (const void *)at, *end = (const void *)(at + n);
    unsigned char last[BLOCK];
    __m128i lane[LANES];

    for (int i = 0; i < LANES; i++)
        lane[i] = _mm_loadu_si128(from + i);
    lane[0] = _mm_xor_si128(lane[0], _mm_cvtsi32_si128((int)~crc));
    for (from += LANES; end - from >= LANES; from += LANES)
        for (int i = 0; i < LANES; i++)
            lane[i] = fold(lane[i], by_stride, _mm_loadu_si128(from + i));
    for (int i = 1; i < LANES; i++)
        lane[i] = fold(lane[i - 1], by_block, lane[i]);
    __m128i all = lane[LANES - 1];
    for (; from < end; from++)
        all = fold(all, by_block, _mm_loadu_si128(from));
    _mm_storeu_si128((__m128i *)(void *)last, all);
    return (uint32_t)crc32(UINT32_MAX, last, BLOCK); /* which begins with a remainder of 0 */
}

static bool has_clmul(void)
{
    return __builtin_cpu_supports("pclmul");
}
#endif

uint32_t crc32_add(uint32_t crc, const void *at, size_t n)
{
    const unsigned char *bytes = at;

#if defined(__x86_64__)
    if (n >= STRIDE && has_clmul()) {
        size_t whole = n / BLOCK * BLOCK;
        crc = add_blocks(crc, bytes, whole);
        bytes += whole;
        n -= whole;
    }
#endif
    return n > 0 ? (uint32_t)crc32_z(crc, bytes, n) : crc;
}
