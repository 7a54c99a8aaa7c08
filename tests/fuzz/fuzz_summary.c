/*
 * Hostile summaries of ranks: the bytes behind a header that fits them. What is accepted is written
 * again to the same bytes, and three such ranks are analyzed together.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/ranks/cluster.h"
#include "analysis/ranks/summary_file.h"
#include "base/files/crc32c.h"

enum { HEAD = 28, RANKS = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The same bytes with their length and checksum. */
static struct str seal(const uint8_t *data, size_t size, struct arena *arena)
{
    size_t n = size > HEAD ? size - HEAD : 0;
    uint8_t *bytes = arena_alloc(arena, HEAD + n);
    uint32_t sum;

    memcpy(bytes, "strataRS", 8);
    bytes[8] = SUMMARY_VERSION;
    for (int i = 0; i < 8; i++)
        bytes[16 + i] = (uint8_t)((uint64_t)n >> (8 * i));
    if (n > 0)
        memcpy(bytes + HEAD, data + HEAD, n);
    sum = crc32c(0, bytes + HEAD, n);
    for (int i = 0; i < 4; i++)
        bytes[24 + i] = (uint8_t)(sum >> (8 * i));
    return (struct str){(const char *)bytes, HEAD + n};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct rank_summary ranks[RANKS];

    arena_init(&arena);
    if (size <= 1 << 16) {
        struct str bytes = seal(data, size, &arena);
        bool is_good = true;
        for (int i = 0; i < RANKS; i++) {
            is_good = is_good && summary_decode(bytes, &arena, &ranks[i]);
            ranks[i].rank = i;
        }
        if (is_good)
            cluster_find(&arena, ranks, RANKS);
    }
    arena_free(&arena);
    return 0;
}
