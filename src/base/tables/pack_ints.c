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

/* ---- reading ---- */

bool pack_get_varint(struct str *in, uint64_t *value)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < in->n && i < 10; i++) {
        uint8_t byte = (uint8_t)in->at[i];
        sum |= (uint64_t)(byte & 0x7f) << 7 * i;
        if (byte < 0x80) {
            *value = sum;
            *in = (struct str){in->at + i + 1, in->n - i - 1};
            return i < 9 || byte <= 1;
        }
    }
    return false;
}

/* Number `i` of those with `width` bits that begin at `in`. */
static uint64_t get_bits(struct str in, size_t i, unsigned width)
{
    size_t bit = i * width, at = bit / 8, end = (bit + width + 7) / 8;
    unsigned __int128 word = 0;

    for (size_t k = at; k < end; k++)
        word |= (unsigned __int128)(uint8_t)in.at[k] << 8 * (k - at);
    word >>= bit % 8;
    return width == 64 ? (uint64_t)word : (uint64_t)word & (((uint64_t)1 << width) - 1);
}

static bool get_take(struct str *in, size_t n, struct str *out)
{
    if (in->n < n)
        return false;
    *out = str_part(*in, 0, n);
    *in = str_part(*in, n, in->n);
    return true;
}

/* One block of differences; `*i` values are there. */
static bool get_block(struct str *in, size_t minis, size_t each, int64_t *values, size_t n,
                      size_t *i)
{
    struct str widths, bits;
    uint64_t least;

    if (!pack_get_varint(in, &least) || !get_take(in, minis, &widths))
        return false;
    for (size_t m = 0; m < minis && *i < n; m++) {
        unsigned width = (uint8_t)widths.at[m];
        if (width > 64 || !get_take(in, each / 8 * width, &bits))
            return false;
        for (size_t k = 0; k < each && *i < n; k++, ++*i)
            values[*i] = (int64_t)((uint64_t)values[*i - 1] + (uint64_t)pack_unzigzag(least) +
                                   get_bits(bits, k, width));
    }
    return true;
}

bool pack_get_delta(struct str *in, int64_t *values, size_t n)
{
    enum { BLOCK_MOST = 1 << 16 };
    uint64_t block, minis, count, first;

    if (!pack_get_varint(in, &block) || !pack_get_varint(in, &minis) ||
        !pack_get_varint(in, &count) || !pack_get_varint(in, &first) || count != n || minis == 0 ||
        block > BLOCK_MOST || minis > block || block % minis != 0 || block / minis % MINI != 0)
        return false;
    if (n > 0)
        values[0] = pack_unzigzag(first);
    for (size_t i = 1; i < n;)
        if (!get_block(in, minis, block / minis, values, n, &i))
            return false;
    return true;
}

/* Whole groups of packed numbers. */
static bool get_groups(struct str *in, uint64_t groups, uint32_t *values, size_t n, size_t *i,
                       unsigned width)
{
    struct str bits;

    if (groups > (n - *i) / GROUP + 1 || !get_take(in, groups * width, &bits))
        return false;
    size_t end = groups * GROUP < n - *i ? *i + groups * GROUP : n;
    if (width == 0)
        for (; *i < end; ++*i)
            values[*i] = 0;
    else
        for (size_t k = 0; *i < end; k++, ++*i)
            values[*i] = (uint32_t)get_bits(bits, k, width);
    return true;
}

/* A head with its last bit set begins groups, another one a run. */
bool pack_get_hybrid(struct str *in, uint32_t *values, size_t n, unsigned width)
{
    uint64_t head;

    for (size_t i = 0; i < n;) {
        if (width > 32 || !pack_get_varint(in, &head))
            return false;
        if ((head & 1) != 0) {
            if (!get_groups(in, head >> 1, values, n, &i, width))
                return false;
            continue;
        }
        struct str word;
        uint64_t run = head >> 1;
        if (run == 0 || !get_take(in, (width + 7) / 8, &word))
            return false;
        uint32_t value = width == 0 ? 0 : (uint32_t)get_bits(word, 0, (unsigned)word.n * 8);
        for (; run > 0 && i < n; run--)
            values[i++] = value;
    }
    return true;
}
