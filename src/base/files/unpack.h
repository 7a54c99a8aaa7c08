/*
 * unpack - compressed blocks inside files of others: Snappy, zlib and gzip, zstd.
 *
 * The sizes that a file states are hostile: output is never larger than the caller allows, and
 * never read before it was written.
 */
#ifndef STRATA_BASE_FILES_UNPACK_H
#define STRATA_BASE_FILES_UNPACK_H

#include "base/text/text.h"

enum unpack_codec { UNPACK_STORED, UNPACK_SNAPPY, UNPACK_ZLIB, UNPACK_ZSTD };

/* A block that must unpack to exactly `n` bytes; false when it does not. */
bool unpack_block(enum unpack_codec codec, struct str packed, char *out, size_t n);

/* Appends a block of unknown size, at most `most` bytes of it. False when it is damaged, cut short
 * or larger; what came before is there. Not for Snappy. */
bool unpack_append(enum unpack_codec codec, struct str packed, size_t most, struct text *out);

#endif
