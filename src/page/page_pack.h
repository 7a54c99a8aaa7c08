/*
 * page_pack - numbers and texts packed for a page: byte planes, raw DEFLATE.
 *
 * A chunk holds columns of numbers, each in planes of bytes of the smallest width that fits, least
 * significant first. Packed pieces are put one after the other into elements of bounded size.
 * docs/page-data.md has the layout.
 */
#ifndef STRATA_PAGE_PAGE_PACK_H
#define STRATA_PAGE_PAGE_PACK_H

#include <stdint.h>

#include "base/tables/vec.h"
#include "base/text/text.h"

enum {
    PAGE_CHUNK = 65536,     /* items of a chunk, at most */
    PAGE_ELEMENT = 3 << 20, /* bytes of an element before base64; a larger piece has its own */
    PAGE_COLUMNS = 15,      /* of a chunk, at most */
};

/* Where a packed piece is: `length` bytes from `offset` of an element. */
struct page_place {
    uint32_t element;
    uint64_t offset, length;
};

/* All packed pieces. Zero-initialised is empty. */
struct page_pack {
    struct text bytes;
    VEC_OF(size_t) elements; /* where each begins in `bytes` */
};

/* Columns on their way into a chunk: all of `n` numbers. */
struct page_columns {
    const uint64_t *at[PAGE_COLUMNS]; /* NULL: all zero */
    size_t n, columns;
    bool is_fast; /* packs in two thirds of the time, 5 % larger */
};

static inline uint64_t page_zigzag(int64_t v)
{
    return v < 0 ? ~((uint64_t)v << 1) : (uint64_t)v << 1;
}

/* Packs bytes, or columns and tells their widths; replaces what `out` holds. */
void page_deflate(struct str bytes, struct text *out);
void page_deflate_columns(const struct page_columns *columns, uint8_t widths[PAGE_COLUMNS],
                          struct text *out);

/* Puts a packed piece behind the others. */
struct page_place page_pack_add(struct page_pack *pack, struct str packed);
struct str page_pack_element(const struct page_pack *pack, size_t i);
void page_pack_free(struct page_pack *pack);

#endif
