/*
 * json_scan - see json_scan.h.
 *
 * A block is classified by comparing 64 bytes at once; what needs to know the bytes before it
 * (is this quote escaped, is this comma inside a string) is worked out on the masks with carries.
 */
#include "base/json_scan.h"

#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define ALWAYS_INLINE static inline __attribute__((always_inline))

static const uint64_t even_bits = 0x5555555555555555;

struct masks {
    uint64_t quote, backslash, open, close, punct, space, odd;
};

/*
 * Which bytes a backslash escapes. In a run of backslashes every second byte is escaped, counted
 * from the run's start, and so is the byte behind a run of odd length. Adding the start bit of a
 * run carries through it, which tells runs that start at an even place from the others.
 */
ALWAYS_INLINE uint64_t escaped_bytes(uint64_t backslash, uint64_t *carry)
{
    uint64_t first = *carry;

    if (backslash == 0) {
        *carry = 0;
        return first;
    }
    backslash &= ~first;
    uint64_t start = backslash & ~(backslash << 1);
    uint64_t in_even = backslash & ~(backslash + (start & even_bits));
    uint64_t in_odd = backslash & ~in_even;
    *carry = in_odd >> 63;
    return first | (in_even << 1 & ~even_bits) | (in_odd << 1 & even_bits);
}

/* Writes the marks of one block, eight at a time: surplus ones are overwritten by the next. */
ALWAYS_INLINE void list_marks(struct json_scan *s, uint64_t marks, uint32_t place)
{
    uint16_t *out = s->mark + s->count;
    uint32_t n = (uint32_t)__builtin_popcountll(marks);

    s->count += n;
    for (uint32_t done = 0; done < n; done += 8) {
        for (int k = 0; k < 8; k++) {
            /* The guard bit only matters past the last mark, where the value is never used. */
            out[done + (uint32_t)k] =
                (uint16_t)(place + (uint32_t)__builtin_ctzll(marks | (uint64_t)1 << 63));
            marks &= marks - 1;
        }
    }
}

/* `inside` has a bit for every byte of a string but its closing quote. */
ALWAYS_INLINE void finish_block(struct json_scan *s, uint32_t b, const struct masks *m,
                                uint64_t quote, uint64_t inside)
{
    uint64_t op = (m->open | m->close | m->punct) & ~inside;
    uint64_t scalar = ~(inside | op | quote | m->space);
    uint64_t scalar_before = scalar << 1 | s->scalar;
    uint64_t quote_before = quote << 1 | s->quote;

    s->scalar = scalar >> 63;
    s->quote = quote >> 63;
    s->open[b] = m->open & ~inside;
    s->close[b] = m->close & ~inside;
    s->clash[b] = (scalar_before & quote) | (quote_before & scalar);
    s->odd[b] = m->odd;
    s->marks[b] = op | quote | (scalar & ~scalar_before);
    s->first[b] = s->count;
    list_marks(s, s->marks[b], b * 64);
}

/* Counts brackets of the batch from its byte `from` on until depth 0. */
ALWAYS_INLINE bool match_in_batch(struct json_scan *s, uint32_t *depth, uint32_t from,
                                  size_t *clash)
{
    uint64_t live = ~(uint64_t)0 << (from & 63);
    uint32_t level = *depth;

    for (uint32_t b = from >> 6; b < s->blocks; b++, live = ~(uint64_t)0) {
        uint64_t open = s->open[b] & live;
        uint64_t bad = s->clash[b] & live;
        uint32_t closed = 0;
        for (uint64_t close = s->close[b] & live; close != 0; close &= close - 1) {
            uint64_t upto = close ^ (close - 1);
            uint32_t opened = (uint32_t)__builtin_popcountll(open & upto);
            closed++;
            if (level + opened != closed)
                continue;
            if ((bad & upto) != 0 && *clash == SIZE_MAX)
                *clash = s->base + b * 64 + (size_t)__builtin_ctzll(bad);
            s->i = s->first[b] + (uint32_t)__builtin_popcountll(s->marks[b] & upto);
            return true;
        }
        if (bad != 0 && *clash == SIZE_MAX)
            *clash = s->base + b * 64 + (size_t)__builtin_ctzll(bad);
        level += (uint32_t)__builtin_popcountll(open) - closed;
    }
    *depth = level;
    return false;
}

ALWAYS_INLINE void begin_batch(struct json_scan *s)
{
    s->base = s->next;
    s->count = s->i = s->blocks = 0;
}

/* The last block is read through a copy filled up with blanks, so nothing past the end is. */
ALWAYS_INLINE const char *block_at(const struct json_scan *s, char copy[64])
{
    size_t left = s->n - s->next;

    if (left >= 64)
        return s->text + s->next;
    memset(copy, ' ', 64);
    memcpy(copy, s->text + s->next, left);
    return copy;
}

/* Bit 7 of every byte of `v` that equals `c` (v ^ c is zero there and nowhere else). */
ALWAYS_INLINE uint64_t equal_bytes(uint64_t v, unsigned char c)
{
    const uint64_t low7 = 0x7f7f7f7f7f7f7f7f;
    uint64_t x = v ^ (0x0101010101010101 * (uint64_t)c);

    return ~(((x & low7) + low7) | x | low7);
}

/* Bits 7, 15, ... 63 moved together to bits 0 to 7. */
ALWAYS_INLINE uint64_t gather_bits(uint64_t v)
{
    return ((v >> 7) * 0x0102040810204080) >> 56;
}

static void classify_words(const char *at, struct masks *m)
{
    *m = (struct masks){0};
    for (int k = 0; k < 64; k += 8) {
        const uint64_t top = 0x8080808080808080;
        uint64_t v;
        memcpy(&v, at + k, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        v = __builtin_bswap64(v);
#endif
        uint64_t fold = v | 0x2020202020202020; /* [ becomes {, ] becomes } */
        uint64_t backslash = equal_bytes(v, '\\');
        /* A byte is below 0x20 when its top three bits are all clear. */
        uint64_t control = ~(v | v << 1 | v << 2) & top;
        m->quote |= gather_bits(equal_bytes(v, '"')) << k;
        m->backslash |= gather_bits(backslash) << k;
        m->open |= gather_bits(equal_bytes(fold, '{')) << k;
        m->close |= gather_bits(equal_bytes(fold, '}')) << k;
        m->punct |= gather_bits(equal_bytes(v, ':') | equal_bytes(v, ',')) << k;
        m->space |= gather_bits(equal_bytes(v, ' ') | equal_bytes(v, '\n') | equal_bytes(v, '\r') |
                                equal_bytes(v, '\t'))
                    << k;
        m->odd |= gather_bits(backslash | control | (v & top)) << k;
    }
}

/* Bit i of the result is the parity of bits 0 to i. */
static uint64_t prefix_parity(uint64_t v)
{
    for (int shift = 1; shift < 64; shift *= 2)
        v ^= v << shift;
    return v;
}

static void fill_portable(struct json_scan *s)
{
    begin_batch(s);
    for (; s->blocks < JSON_SCAN_BLOCKS && s->next < s->n; s->blocks++, s->next += 64) {
        char copy[64];
        struct masks m;
        classify_words(block_at(s, copy), &m);
        uint64_t quote = m.quote & ~escaped_bytes(m.backslash, &s->escape);
        uint64_t inside = prefix_parity(quote) ^ s->string;
        s->string = (uint64_t)((int64_t)inside >> 63);
        finish_block(s, s->blocks, &m, quote, inside);
    }
}

static bool match_portable(struct json_scan *s, uint32_t *depth, uint32_t from, size_t *clash)
{
    return match_in_batch(s, depth, from, clash);
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt,pclmul")))

AVX2 ALWAYS_INLINE uint64_t bits_of(__m256i low, __m256i high)
{
    return (uint64_t)(uint32_t)_mm256_movemask_epi8(low) |
           (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

AVX2 ALWAYS_INLINE uint64_t equal_bits(__m256i low, __m256i high, char c)
{
    __m256i want = _mm256_set1_epi8(c);

    return bits_of(_mm256_cmpeq_epi8(low, want), _mm256_cmpeq_epi8(high, want));
}

/* The four blanks differ in their low four bits, so the table holds each at its own place. The
 * rest is 0: NUL itself looks up the blank, and a byte from 0x80 on 0, which it is not. */
AVX2 ALWAYS_INLINE __m256i blanks(__m256i v)
{
    const __m256i table =
        _mm256_setr_epi8(' ', 0, 0, 0, 0, 0, 0, 0, 0, '\t', '\n', 0, 0, '\r', 0, 0, ' ', 0, 0, 0, 0,
                         0, 0, 0, 0, '\t', '\n', 0, 0, '\r', 0, 0);

    return _mm256_cmpeq_epi8(_mm256_shuffle_epi8(table, v), v);
}

/* Top bit set: backslash, control character or a byte from 0x80 on. */
AVX2 ALWAYS_INLINE __m256i odd_bytes(__m256i v)
{
    __m256i control = _mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8(0x1f)), v);

    return _mm256_or_si256(_mm256_or_si256(v, control),
                           _mm256_cmpeq_epi8(v, _mm256_set1_epi8('\\')));
}

AVX2 ALWAYS_INLINE void classify_avx2(const char *at, struct masks *m)
{
    __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)at);
    __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(at + 32));
    __m256i fold_bit = _mm256_set1_epi8(0x20);
    __m256i fa = _mm256_or_si256(a, fold_bit), fb = _mm256_or_si256(b, fold_bit);
    __m256i colon = _mm256_set1_epi8(':'), comma = _mm256_set1_epi8(',');

    m->quote = equal_bits(a, b, '"');
    m->backslash = equal_bits(a, b, '\\');
    m->open = equal_bits(fa, fb, '{');
    m->close = equal_bits(fa, fb, '}');
    m->punct = bits_of(_mm256_or_si256(_mm256_cmpeq_epi8(a, colon), _mm256_cmpeq_epi8(a, comma)),
                       _mm256_or_si256(_mm256_cmpeq_epi8(b, colon), _mm256_cmpeq_epi8(b, comma)));
    m->space = bits_of(blanks(a), blanks(b));
    m->odd = bits_of(odd_bytes(a), odd_bytes(b));
}

/* Multiplying by all ones without carries is the parity of every prefix. */
AVX2 ALWAYS_INLINE uint64_t prefix_parity_clmul(uint64_t v)
{
    __m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, (int64_t)v), _mm_set1_epi8(-1), 0);

    return (uint64_t)_mm_cvtsi128_si64(product);
}

AVX2 static void fill_avx2(struct json_scan *s)
{
    begin_batch(s);
    for (; s->blocks < JSON_SCAN_BLOCKS && s->next < s->n; s->blocks++, s->next += 64) {
        char copy[64];
        struct masks m;
        classify_avx2(block_at(s, copy), &m);
        uint64_t quote = m.quote & ~escaped_bytes(m.backslash, &s->escape);
        uint64_t inside = prefix_parity_clmul(quote) ^ s->string;
        s->string = (uint64_t)((int64_t)inside >> 63);
        finish_block(s, s->blocks, &m, quote, inside);
    }
}

AVX2 static bool match_avx2(struct json_scan *s, uint32_t *depth, uint32_t from, size_t *clash)
{
    return match_in_batch(s, depth, from, clash);
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt") &&
           __builtin_cpu_supports("pclmul");
}
#endif

void json_scan_init(struct json_scan *s, bool is_portable)
{
    s->fill = fill_portable;
    s->match = match_portable;
#if defined(__x86_64__)
    if (!is_portable && has_avx2()) {
        s->fill = fill_avx2;
        s->match = match_avx2;
    }
#else
    (void)is_portable;
#endif
}

void json_scan_start(struct json_scan *s, const char *text, size_t n, size_t from)
{
    s->text = text;
    s->n = n;
    s->next = s->base = from;
    s->count = s->i = s->blocks = 0;
    s->escape = s->string = s->scalar = s->quote = 0;
}

bool json_scan_more(struct json_scan *s)
{
    while (s->i == s->count)
        if (!json_scan_fill(s))
            return false;
    return true;
}

bool json_scan_skip(struct json_scan *s, size_t open, size_t *close, size_t *clash)
{
    uint32_t depth = 1;
    size_t from = open + 1;

    *clash = SIZE_MAX;
    /* A bracket at the very end of the batch leaves nothing of it to look at. */
    while (!s->match(s, &depth, (uint32_t)(from - s->base), clash)) {
        if (!json_scan_fill(s)) {
            s->i = s->count;
            return false;
        }
        from = s->base;
    }
    *close = s->base + s->mark[s->i - 1];
    return true;
}
