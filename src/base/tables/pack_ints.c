/*
 * Whole numbers packed into bits, least significant first.
 */
#include "base/tables/pack_ints.h"

#include <endian.h>

#include "base/tables/vec.h"

enum { BLOCK = 128, MINI = 32, MINIS = BLOCK / MINI };
enum { GROUP = 8, RUN = 16 }; /* of the hybrid: numbers that are packed together, a run's least */

void pack_varint(struct text *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        text_char(out, (char)(value | 0x80));
    text_char(out, (char)value);
}

/* `n` numbers, a multiple of eight, of `width` bits each. */
static void put_bits(struct text *out, const uint64_t *values, size_t n, unsigned width)
{
    unsigned __int128 waiting = 0;
    unsigned bits = 0;

    vec_reserve(out, out->n + n * width / 8 + 16);
    char *at = out->at + out->n;
    for (size_t i = 0; i < n; i++) {
        waiting |= (unsigned __int128)values[i] << bits;
        bits += width;
        if (bits >= 64) {
            uint64_t word = htole64((uint64_t)waiting);
            memcpy(at, &word, sizeof(word));
            at += sizeof(word);
            waiting >>= 64;
            bits -= 64;
        }
    }
    for (; bits > 0; bits = bits > 8 ? bits - 8 : 0) {
        *at++ = (char)waiting;
        waiting >>= 8;
    }
    out->n = (size_t)(at - out->at);
}

/* Up to 128 differences from number `first` on. */
static void put_block(struct text *out, const int64_t *values, size_t first, size_t n)
{
    uint64_t deltas[BLOCK] = {0};
    char widths[MINIS] = {0};
    int64_t least = INT64_MAX;
    size_t minis = (n + MINI - 1) / MINI;

    for (size_t i = 0; i < n; i++) {
        /* Differences wrap around, and so does the reader's sum. */
        deltas[i] = (uint64_t)values[first + i] - (uint64_t)values[first + i - 1];
        least = (int64_t)deltas[i] < least ? (int64_t)deltas[i] : least;
    }
    for (size_t m = 0; m < minis; m++) {
        uint64_t all = 0;
        for (size_t i = m * MINI; i < (m + 1) * MINI && i < n; i++) {
            deltas[i] -= (uint64_t)least;
            all |= deltas[i];
        }
        widths[m] = (char)pack_width(all);
    }
    pack_varint(out, pack_zigzag(least));
    text_put(out, (struct str){widths, MINIS});
    for (size_t m = 0; m < minis; m++)
        put_bits(out, &deltas[m * MINI], MINI, (unsigned)widths[m]);
}

void pack_delta(struct text *out, const int64_t *values, size_t n)
{
    pack_varint(out, BLOCK);
    pack_varint(out, MINIS);
    pack_varint(out, n);
    pack_varint(out, pack_zigzag(n > 0 ? values[0] : 0));
    for (size_t i = 1; i < n; i += BLOCK)
        put_block(out, values, i, n - i < BLOCK ? n - i : BLOCK);
}

/* Numbers that are no run, in whole groups; the last group of all may be filled up with zeros. */
static void put_groups(struct text *out, const uint32_t *values, size_t n, unsigned width)
{
    size_t groups = (n + GROUP - 1) / GROUP;

    pack_varint(out, (uint64_t)groups << 1 | 1);
    for (size_t g = 0; g < groups; g++) {
        uint64_t part[GROUP] = {0};
        for (size_t i = 0; i < GROUP && g * GROUP + i < n; i++)
            part[i] = values[g * GROUP + i];
        put_bits(out, part, GROUP, width);
    }
}

void pack_hybrid(struct text *out, const uint32_t *values, size_t n, unsigned width)
{
    size_t from = 0; /* of the numbers not yet written */

    for (size_t i = 0; i < n;) {
        size_t run = 1;
        while (i + run < n && values[i + run] == values[i])
            run++;
        size_t fill = (GROUP - (i - from) % GROUP) % GROUP; /* to a whole group before the run */
        if (run < RUN + fill) {
            i += run;
            continue;
        }
        if (i + fill > from)
            put_groups(out, values + from, i + fill - from, width);
        uint32_t word = htole32(values[i]);
        pack_varint(out, (uint64_t)(run - fill) << 1);
        text_put(out, (struct str){(const char *)&word, (width + 7) / 8});
        i += run;
        from = i;
    }
    if (from < n)
        put_groups(out, values + from, n - from, width);
}
