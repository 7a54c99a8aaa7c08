/*
 * Packs the data of a page.
 */
#include "page/page_pack.h"

#include <limits.h>
#include <string.h>

#include "base/files/gz_write.h"

enum {
    LEVEL = 4, /* 6 saves 2 % and takes twice as long */
    FAST_LEVEL = 1,
    RAW_WINDOW = -15, /* 15 bits, without a header of zlib's */
};

static void pack(struct str bytes, int level, struct text *out)
{
    z_stream z = {.zalloc = gz_allocate, .zfree = gz_release};

    /* Memory cannot run out (base/run/mem.h) and the numbers are in range, so this succeeds. */
    deflateInit2(&z, level, Z_DEFLATED, RAW_WINDOW, 8, Z_DEFAULT_STRATEGY);
    out->n = 0;
    do {
        size_t n = bytes.n < INT_MAX ? bytes.n : INT_MAX;
        z.next_in = (z_const Bytef *)bytes.at;
        z.avail_in = (uInt)n;
        bytes = str_part(bytes, n, bytes.n);
        do {
            vec_reserve(out, out->n + n / 4 + 64);
            size_t room = out->cap - out->n;
            unsigned space = room < INT_MAX ? (unsigned)room : INT_MAX;
            z.next_out = (Bytef *)out->at + out->n;
            z.avail_out = space;
            deflate(&z, bytes.n > 0 ? Z_NO_FLUSH : Z_FINISH);
            out->n += space - z.avail_out;
        } while (z.avail_out == 0);
    } while (bytes.n > 0);
    deflateEnd(&z);
}

void page_deflate(struct str bytes, struct text *out)
{
    pack(bytes, LEVEL, out);
}

/* Lowest bytes of a column first, then the next ones: bytes of one weight are alike, which
 * deflate shortens most. A column has as many planes as its largest value has bytes. */
void page_deflate_columns(const struct page_columns *columns, uint8_t widths[PAGE_COLUMNS],
                          struct text *out)
{
    struct text planes = {0};
    size_t n = columns->n;

    for (size_t c = 0; c < columns->columns; c++) {
        uint64_t all = 0;
        uint8_t width = 0;
        for (size_t i = 0; columns->at[c] != NULL && i < n; i++)
            all |= columns->at[c][i];
        for (; all > 0; all >>= 8)
            width++;
        widths[c] = width;
        vec_reserve(&planes, planes.n + widths[c] * n);
        for (unsigned plane = 0; planes.at != NULL && plane < widths[c]; plane++) {
            unsigned char *to = (unsigned char *)planes.at + planes.n;
            for (size_t i = 0; i < n; i++)
                to[i] = (unsigned char)(columns->at[c][i] >> (8 * plane));
            planes.n += n;
        }
    }
    pack(text_view(&planes), columns->is_fast ? FAST_LEVEL : LEVEL, out);
    text_free(&planes);
}

struct page_place page_pack_add(struct page_pack *pack, struct str packed)
{
    size_t begin = pack->elements.n > 0 ? pack->elements.at[pack->elements.n - 1] : 0;

    if (pack->elements.n == 0 || pack->bytes.n - begin + packed.n > PAGE_ELEMENT) {
        begin = pack->bytes.n;
        vec_push(&pack->elements, begin);
    }
    struct page_place place = {(uint32_t)(pack->elements.n - 1), pack->bytes.n - begin, packed.n};
    text_put(&pack->bytes, packed);
    return place;
}

struct str page_pack_element(const struct page_pack *pack, size_t i)
{
    size_t begin = pack->elements.at[i];
    size_t end = i + 1 < pack->elements.n ? pack->elements.at[i + 1] : pack->bytes.n;

    return str_part(text_view(&pack->bytes), begin, end - begin);
}

void page_pack_free(struct page_pack *pack)
{
    text_free(&pack->bytes);
    vec_free(&pack->elements);
}
