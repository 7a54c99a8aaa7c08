/*
 * page_testing - unpacks what pages hold, by the rules of docs/page-data.md.
 */
#ifndef STRATA_PAGE_PAGE_TESTING_H
#define STRATA_PAGE_PAGE_TESTING_H

#include <zlib.h>

#include "base/testing.h"
#include "page/page_pack.h"

/* Raw DEFLATE of at most `room` bytes; text_free() it. */
static inline struct text page_inflate(struct str packed, size_t room)
{
    struct text out = {0};
    z_stream z = {0};

    vec_reserve(&out, room + 1);
    inflateInit2(&z, -15);
    z.next_in = (z_const Bytef *)packed.at;
    z.avail_in = (uInt)packed.n;
    z.next_out = (Bytef *)out.at;
    z.avail_out = (uInt)(room + 1);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    out.n = z.total_out;
    inflateEnd(&z);
    return out;
}

static inline uint64_t page_value(const struct text *planes, size_t n, size_t from, unsigned width,
                                  size_t i)
{
    uint64_t v = 0;

    if (planes->at == NULL)
        return UINT64_MAX; /* nothing was unpacked */
    for (unsigned p = 0; p < width; p++)
        v |= (uint64_t)(unsigned char)planes->at[from + p * n + i] << (8 * p);
    return v;
}

static inline int64_t page_unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

#endif
