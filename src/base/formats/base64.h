/*
 * base64 - bytes as text.
 */
#ifndef STRATA_BASE_FORMATS_BASE64_H
#define STRATA_BASE_FORMATS_BASE64_H

#include <stdint.h>

#include "base/files/sink.h"

/* False when the sink failed. */
bool base64_write(struct str bytes, struct sink out);

static inline uint64_t base64_size(uint64_t bytes)
{
    return (bytes + 2) / 3 * 4;
}

#endif
