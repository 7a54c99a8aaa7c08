/*
 * gz_write - a sink that packs what it is given with gzip and hands it on.
 *
 *     gz_write_open(&gz, file_sink);
 *     writer(gz_write_sink(&gz));
 *     ok = gz_write_close(&gz);
 *
 * One member, as some viewers read only the first; no name, no time and a fixed level. It is made
 * of blocks that know nothing of each other, so they can be packed side by side:
 *
 *     gz_pack(&pack, text, &block);      anywhere, with a pack of its own for each thread
 *     gz_write_block(&gz, &block);       in order
 */
#ifndef STRATA_BASE_FILES_GZ_WRITE_H
#define STRATA_BASE_FILES_GZ_WRITE_H

#include <stdint.h>
#include <zlib.h>

#include "base/files/sink.h"
#include "base/text/text.h"

/* What packs a block. */
struct gz_pack {
    z_stream z;
};

struct gz_block {
    struct text packed;
    size_t n;     /* bytes before packing */
    uint32_t crc; /* of those */
};

void gz_pack_init(struct gz_pack *pack);
void gz_pack_fini(struct gz_pack *pack);

/* Replaces the block's content; vec_free() its text in the end. */
void gz_pack(struct gz_pack *pack, struct str text, struct gz_block *block);

/* Memory of zlib's streams: zalloc and zfree. */
voidpf gz_allocate(voidpf ctx, uInt count, uInt size);
void gz_release(voidpf ctx, voidpf p);

struct gz_write {
    struct sink to;
    struct gz_pack pack;
    struct text waiting; /* of the sink, for the next block */
    struct gz_block block;
    uint32_t crc, size;
    bool has_failed;
};

void gz_write_open(struct gz_write *gz, struct sink to);
struct sink gz_write_sink(struct gz_write *gz);

/* Behind what the sink was given before; false when the target refused anything. */
bool gz_write_block(struct gz_write *gz, const struct gz_block *block);

/* Ends the member and releases everything; false when the target refused anything. */
bool gz_write_close(struct gz_write *gz);

#endif
