/* Packs in pieces, so that memory does not grow with the output. */
#include "base/gz_write.h"

#include <limits.h>

#include "base/arena.h"

enum {
    LEVEL = 4,           /* within 10 % of level 6 on traces, at nearly twice its speed */
    WINDOW_AND_GZIP = 31 /* 15 bits, plus 16 for a gzip header instead of zlib's */
};

static voidpf allocate(voidpf ctx, uInt count, uInt size)
{
    (void)ctx;
    return mem_grow(NULL, size, count);
}

static void release(voidpf ctx, voidpf p)
{
    (void)ctx;
    mem_free(p);
}

/* Packs what is in the stream's input, and with Z_FINISH the end of the member. */
static void pack(struct gz_write *gz, int flush)
{
    int result;

    do {
        gz->z.next_out = (Bytef *)gz->buffer;
        gz->z.avail_out = GZ_WRITE_BUFFER;
        result = deflate(&gz->z, flush);
        struct str packed = {gz->buffer, GZ_WRITE_BUFFER - gz->z.avail_out};
        if (packed.n > 0 && !gz->has_failed)
            gz->has_failed = !gz->to.write(gz->to.ctx, packed);
    } while (!gz->has_failed && gz->z.avail_out == 0 && result == Z_OK);
}

static bool write_packed(void *ctx, struct str text)
{
    struct gz_write *gz = ctx;

    while (text.n > 0 && !gz->has_failed) {
        size_t n = text.n < INT_MAX ? text.n : INT_MAX;
        gz->z.next_in = (z_const Bytef *)text.at;
        gz->z.avail_in = (uInt)n;
        pack(gz, Z_NO_FLUSH);
        text = str_part(text, n, text.n);
    }
    return !gz->has_failed;
}

void gz_write_open(struct gz_write *gz, struct sink to)
{
    *gz = (struct gz_write){
        .to = to,
        .z = {.zalloc = allocate, .zfree = release},
        .header = {.os = 255}, /* unknown: the same on every system */
        .buffer = mem_grow(NULL, 1, GZ_WRITE_BUFFER),
    };
    /* Memory cannot run out (base/arena.h) and the numbers are in range, so these succeed. */
    gz->has_failed =
        deflateInit2(&gz->z, LEVEL, Z_DEFLATED, WINDOW_AND_GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
        deflateSetHeader(&gz->z, &gz->header) != Z_OK;
}

struct sink gz_write_sink(struct gz_write *gz)
{
    return (struct sink){write_packed, gz};
}

bool gz_write_close(struct gz_write *gz)
{
    gz->z.next_in = NULL;
    gz->z.avail_in = 0;
    if (!gz->has_failed)
        pack(gz, Z_FINISH);
    deflateEnd(&gz->z);
    mem_free(gz->buffer);
    gz->buffer = NULL;
    return !gz->has_failed;
}
