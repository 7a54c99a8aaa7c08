/*
 * png: header, palette, and the rows packed by zlib, each without a filter.
 */
#include "base/formats/png.h"

#include <assert.h>
#include <zlib.h>

#include "base/files/gz_write.h"
#include "base/text/text.h"

enum { LEVEL = 6, PALETTED = 3, BITS = 8 };

static void put_u32(struct text *to, uint32_t value)
{
    const char bytes[] = {(char)(value >> 24), (char)(value >> 16), (char)(value >> 8),
                          (char)value};

    text_put(to, (struct str){bytes, sizeof(bytes)});
}

/* Length, type, data and the checksum of the last two; frees the data. */
static bool put_chunk(struct sink out, const char *type, struct text *data)
{
    struct text chunk = {0};

    put_u32(&chunk, (uint32_t)data->n);
    text_put(&chunk, str_of(type));
    text_put(&chunk, text_view(data));
    put_u32(&chunk, (uint32_t)crc32(0, (const Bytef *)chunk.at + 4, (uInt)(data->n + 4)));
    bool is_ok = out.write(out.ctx, text_view(&chunk));
    text_free(&chunk);
    text_free(data);
    return is_ok;
}

static bool put_header(const struct png *png, struct sink out)
{
    static const char tail[] = {BITS, PALETTED, 0, 0, 0};
    struct text data = {0};

    put_u32(&data, png->width);
    put_u32(&data, png->height);
    text_put(&data, (struct str){tail, sizeof(tail)});
    return put_chunk(out, "IHDR", &data);
}

static bool put_palette(const struct png *png, struct sink out)
{
    struct text data = {0};

    for (size_t i = 0; i < png->n_colors; i++) {
        const char rgb[] = {(char)(png->colors[i] >> 16), (char)(png->colors[i] >> 8),
                            (char)png->colors[i]};
        text_put(&data, (struct str){rgb, sizeof(rgb)});
    }
    return put_chunk(out, "PLTE", &data);
}

/* Packs `bytes` behind what is in `to`; all of it, and the end of the stream, when `is_last`. */
static void png_pack(z_stream *z, struct str bytes, bool is_last, struct text *to)
{
    char room[1 << 14];
    int rc = Z_OK;

    z->next_in = (Bytef *)(uintptr_t)bytes.at;
    z->avail_in = (uInt)bytes.n;
    do {
        z->next_out = (Bytef *)room;
        z->avail_out = sizeof(room);
        rc = deflate(z, is_last ? Z_FINISH : Z_NO_FLUSH);
        text_put(to, (struct str){room, sizeof(room) - z->avail_out});
    } while (z->avail_out == 0 || (is_last && rc != Z_STREAM_END));
}

static bool put_rows(const struct png *png, struct sink out)
{
    z_stream z = {.zalloc = gz_allocate, .zfree = gz_release};
    struct text data = {0};

    if (deflateInit(&z, LEVEL) != Z_OK)
        return false;
    for (uint32_t y = 0; y < png->height; y++) {
        const char *row = (const char *)png->at + (size_t)y * png->width;
        png_pack(&z, S("\0"), false, &data); /* no filter */
        png_pack(&z, (struct str){row, png->width}, false, &data);
    }
    png_pack(&z, S(""), true, &data);
    deflateEnd(&z);
    return put_chunk(out, "IDAT", &data);
}

bool png_write(const struct png *png, struct sink out)
{
    assert(png->width >= 1 && png->width <= PNG_SIDE);
    assert(png->height >= 1 && png->height <= PNG_SIDE);
    assert(png->n_colors >= 1 && png->n_colors <= 256);
    return out.write(out.ctx, S("\x89PNG\r\n\x1a\n")) && put_header(png, out) &&
           put_palette(png, out) && put_rows(png, out) && put_chunk(out, "IEND", &(struct text){0});
}
