/*
 * Processors with the instruction for it do 8 bytes at once; the others go by nibbles, whose table
 * is small enough to be written down as its rule: the remainder of the nibble by the polynomial.
 */
#include "base/files/crc32c.h"

#include <string.h>

enum { NIBBLES = 16 };

/* By nibbles of the reflected polynomial 0x82f63b78. */
static const uint32_t table[NIBBLES] = {
    0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
    0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

#if defined(__x86_64__)
#define CRC_CODE            __attribute__((target("sse4.2")))
#define CRC_WORD(crc, word) ((uint32_t)__builtin_ia32_crc32di(crc, word))
#define CRC_BYTE            __builtin_ia32_crc32qi
#define HAS_CRC             __builtin_cpu_supports("sse4.2")
#elif defined(__aarch64__) && !defined(__clang__) /* whose names and targets differ by version */
#include <arm_acle.h>
#include <sys/auxv.h>
#define CRC_CODE __attribute__((target("+crc")))
#define CRC_WORD __crc32cd
#define CRC_BYTE __crc32cb
#define HAS_CRC  ((getauxval(AT_HWCAP) & HWCAP_CRC32) != 0)
#endif

#if defined(CRC_CODE)
CRC_CODE static uint32_t by_instruction(uint32_t crc, const uint8_t *at, size_t n)
{
    uint64_t word;

    for (; n >= sizeof(word); n -= sizeof(word), at += sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        crc = CRC_WORD(crc, word);
    }
    for (; n > 0; n--)
        crc = CRC_BYTE(crc, *at++);
    return crc;
}
#endif

uint32_t crc32c(uint32_t crc, const void *bytes, size_t n)
{
#if defined(CRC_CODE)
    if (HAS_CRC)
        return ~by_instruction(~crc, bytes, n);
#endif
    crc = ~crc;
    for (const uint8_t *at = bytes; n > 0; n--) {
        crc ^= *at++;
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}
