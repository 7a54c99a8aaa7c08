/*
 * crc32c - the Castagnoli checksum, 32 bits.
 *
 * Allocates nothing and keeps no state, so it can be used inside other people's programs.
 */
#ifndef STRATA_BASE_FILES_CRC32C_H
#define STRATA_BASE_FILES_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of bytes that follow others: `crc` is theirs, 0 for none. "123456789" has
 * 0xe3069283. */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t n);

#endif
