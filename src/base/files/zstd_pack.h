/*
 * zstd_pack - bytes as one frame of zstd.
 */
#ifndef STRATA_BASE_FILES_ZSTD_PACK_H
#define STRATA_BASE_FILES_ZSTD_PACK_H

#include "base/text/text.h"

/* Appends the frame; the same bytes give the same frame. */
void zstd_pack(struct text *out, struct str bytes);

#endif
