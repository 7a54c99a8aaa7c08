/*
 * gz_write - packs block by block, so that memory does not grow with the output. A block ends on a
 * byte and refers to nothing before it; put one behind the other they are one stream.
 */
#include "base/files/gz_write.h"

#include <endian.h>
#include <limits.h>
#include <string.h>

#include "base/tables/vec.h"

enum {
    LEVEL = 2,        /* 0.9 of the ratio of level 4 on traces, in half the time */
    RAW_WINDOW = -15, /* 15 bits, without a header of zlib's */
    BLOCK = 1 << 20,  /* from here on larger ones gain less than 1 % */
};

voidpf gz_allocate(voidpf ctx, uInt count, uInt size)
{
    (void)ctx;
    return mem_grow(NULL, size, count);
}

void gz_release(voidpf ctx, voidpf p)
{
    (void)ctx;
    mem_free(p);
}

void gz_pack_init(struct gz_pack *pack)
{
    *pack = (struct gz_pack){.z = {.zalloc = gz_allocate, .zfree = gz_release}};
    /* Memory cannot run out (base/arena.h) and the numbers are in range, so this succeeds. */
    deflateInit2(&pack->z, LEVEL, Z_DEFLATED, RAW_WINDOW, 8, Z_DEFAULT_STRATEGY);
}

void gz_pack_fini(struct gz_pack *pack)
{
    deflateEnd(&pack->z);
}

void gz_pack(struct gz_pack *pack, struct str text, struct gz_block *block)
{
    block->packed.n = 0;
    block->n = text.n;
    block->crc = (uint32_t)crc32_z(0, (const Bytef *)text.at, text.n);
    deflateReset(&pack->z);
    while (text.n > 0) {
        size_t n = text.n < INT_MAX ? text.n : INT_MAX;
        pack->z.next_in = (z_const Bytef *)text.at;
        pack->z.avail_in = (uInt)n;
        do {
            struct text *packed = &block->packed;
            vec_reserve(packed, packed->n + BLOCK / 8);
            size_t room = packed->cap - packed->n;
            unsigned space = room < INT_MAX ? (unsigned)room : INT_MAX;
            pack->z.next_out = (Bytef *)packed->at + packed->n;
            pack->z.avail_out = space;
            deflate(&pack->z, Z_SYNC_FLUSH);
            packed->n += space - pack->z.avail_out;
        } while (pack->z.avail_out == 0);
        text = str_part(text, n, text.n);
    }
}

static void hand_on(struct gz_write *gz, struct str bytes)
{
    if (bytes.n > 0 && !gz->has_failed)
        gz->has_failed = !gz->to.write(gz->to.ctx, bytes);
}

static void write_append(struct gz_write *gz, const struct gz_block *block)
{
    hand_on(gz, text_view(&block->packed));
    gz->crc = (uint32_t)crc32_combine(gz->crc, block->crc, (z_off_t)block->n);
    gz->size += (uint32_t)block->n;
}

/* Packs what waits. */
static void write_flush(struct gz_write *gz)
{
    if (gz->waiting.n == 0 || gz->has_failed)
        return;
    gz_pack(&gz->pack, text_view(&gz->waiting), &gz->block);
    gz->waiting.n = 0;
    write_append(gz, &gz->block);
}

static bool write_packed(void *ctx, struct str text)
{
    struct gz_write *gz = ctx;

    while (text.n > 0 && !gz->has_failed) {
        struct str part = str_part(text, 0, BLOCK - gz->waiting.n);
        text_put(&gz->waiting, part);
        text = str_part(text, part.n, text.n);
        if (gz->waiting.n == BLOCK)
            write_flush(gz);
    }
    return !gz->has_failed;
}

void gz_write_open(struct gz_write *gz, struct sink to)
{
    /* Signature, deflate, no flags, no time, no hint, system unknown: the same everywhere. */
    *gz = (struct gz_write){.to = to};
    gz_pack_init(&gz->pack);
    hand_on(gz, S("\x1f\x8b\x08\0\0\0\0\0\0\xff"));
}

struct sink gz_write_sink(struct gz_write *gz)
{
    return (struct sink){write_packed, gz};
}

bool gz_write_block(struct gz_write *gz, const struct gz_block *block)
{
    write_flush(gz);
    write_append(gz, block);
    return !gz->has_failed;
}

bool gz_write_close(struct gz_write *gz)
{
    write_flush(gz);
    uint32_t trailer[] = {htole32(gz->crc), htole32(gz->size)};
    hand_on(gz, S("\x03\0")); /* a last block, with nothing in it */
    hand_on(gz, (struct str){(const char *)trailer, sizeof(trailer)});
    gz_pack_fini(&gz->pack);
    vec_free(&gz->waiting);
    vec_free(&gz->block.packed);
    return !gz->has_failed;
}
