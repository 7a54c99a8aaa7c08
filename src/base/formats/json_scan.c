/*
 * json_scan - see json_scan.h.
 *
 * A block is classified by comparing 64 bytes at once; what needs to know the bytes before it
 * (is this quote escaped, is this comma inside a string) is worked out on the masks with carries.
 */
#include "base/formats/json_scan.h"

#include "base/tables/neon.h"

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

/* A bit behind every run of `inside` that has an odd byte in it: adding the byte's bit carries out
 * of the run, however many there are. The carry is for a run that goes on in the next block. */
ALWAYS_INLINE uint64_t odd_ends(uint64_t odd, uint64_t inside, uint64_t *carry)
{
    unsigned long long sum;

    *carry = __builtin_uaddll_overflow(inside, (odd & inside) | *carry, &sum);
    return sum;
}

/* Lists the marks of one block, more than there are: the next block overwrites the surplus. A
 * block of a trace has about ten, so a fixed number first keeps the branches predictable. LOWEST
 * is the place of the lowest bit; past the last mark it may give anything. */
#define PUT_MARK(LOWEST, k)                                                                        \
    do {                                                                                           \
        out[k] = (uint16_t)(place + (uint32_t)LOWEST(marks));                                      \
        marks &= marks - 1;                                                                        \
    } while (0)
#define PUT_4_MARKS(LOWEST, k)                                                                     \
    do {                                                                                           \
        PUT_MARK(LOWEST, k);                                                                       \
        PUT_MARK(LOWEST, (k) + 1);                                                                 \
        PUT_MARK(LOWEST, (k) + 2);                                                                 \
        PUT_MARK(LOWEST, (k) + 3);                                                                 \
    } while (0)
#define LIST_MARKS(LOWEST)                                                                         \
    do {                                                                                           \
        uint16_t *end = out + __builtin_popcountll(marks);                                         \
        PUT_4_MARKS(LOWEST, 0);                                                                    \
        PUT_4_MARKS(LOWEST, 4);                                                                    \
        if (end - out > 8) {                                                                       \
            PUT_4_MARKS(LOWEST, 8);                                                                \
            PUT_4_MARKS(LOWEST, 12);                                                               \
        }                                                                                          \
        for (out += 16; __builtin_expect(out < end, 0); out += 8) {                                \
            PUT_4_MARKS(LOWEST, 0);                                                                \
            PUT_4_MARKS(LOWEST, 4);                                                                \
        }                                                                                          \
        return end;                                                                                \
    } while (0)

/* All of a block but its list of marks. `inside` has a bit for every byte of a string but its
 * closing quote. */
ALWAYS_INLINE uint64_t finish_block(struct json_scan *s, struct json_carry *carry, uint32_t b,
                                    const struct masks *m, uint64_t quote, uint64_t inside)
{
    uint64_t op = (m->open | m->close | m->punct) & ~inside;
    uint64_t scalar = ~(inside | op | quote | m->space);
    uint64_t scalar_before = scalar << 1 | carry->scalar;
    uint64_t quote_before = quote << 1 | carry->quote;
    uint64_t marks = op | quote | (scalar & ~scalar_before);

    carry->string = (uint64_t)((int64_t)inside >> 63);
    carry->scalar = scalar >> 63;
    carry->quote = quote >> 63;
    s->open[b] = m->open & ~inside;
    s->close[b] = m->close & ~inside;
    s->clash[b] = (scalar_before & quote) | (quote_before & scalar);
    s->odd_end[b] = odd_ends(m->odd, inside, &carry->odd) & quote & ~inside;
    s->marks[b] = marks;
    return marks;
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

/* The last block is read through a copy filled up with blanks, so nothing past the end is. */
ALWAYS_INLINE const char *block_at(const char *text, size_t left, char copy[64])
{
    if (left >= 64)
        return text;
    memset(copy, ' ', 64);
    memcpy(copy, text, left);
    return copy;
}

/* One batch: CLASSIFY fills the masks of a block, PARITY is prefix_parity(), LIST lists marks. The
 * loop is written once; a macro, as each scanner is compiled for its own processor. */
#define FILL_BATCH(s, CLASSIFY, PARITY, LIST)                                                      \
    do {                                                                                           \
        struct json_carry carry = (s)->carry;                                                      \
        uint16_t *out = (s)->mark;                                                                 \
        size_t left = (s)->n - (s)->next;                                                          \
        const char *text = (s)->text + (s)->next;                                                  \
        size_t blocks = left / 64 + (left % 64 != 0);                                              \
        if (blocks > JSON_SCAN_BLOCKS)                                                             \
            blocks = JSON_SCAN_BLOCKS;                                                             \
        for (uint32_t b = 0; b < blocks; b++, text += 64, left -= 64) {                            \
            struct masks m;                                                                        \
            CLASSIFY(text, left, &m);                                                              \
            uint64_t quote = m.quote & ~escaped_bytes(m.backslash, &carry.escape);                 \
            uint64_t inside = PARITY(quote) ^ carry.string;                                        \
            uint64_t marks = finish_block((s), &carry, b, &m, quote, inside);                      \
            (s)->first[b] = (uint32_t)(out - (s)->mark);                                           \
            out = LIST(out, marks, b * 64);                                                        \
        }                                                                                          \
        (s)->carry = carry;                                                                        \
        (s)->base = (s)->next;                                                                     \
        (s)->batch = (s)->text + (s)->base;                                                        \
        (s)->next += blocks * 64;                                                                  \
        (s)->blocks = (uint32_t)blocks;                                                            \
        (s)->count = (uint32_t)(out - (s)->mark);                                                  \
        (s)->i = 0;                                                                                \
    } while (0)

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

static void classify_words(const char *text, size_t left, struct masks *m)
{
    char copy[64];
    const char *at = block_at(text, left, copy);

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

/* __builtin_ctzll() has no value for 0. */
#define LOWEST_BIT(v) __builtin_ctzll((v) | (uint64_t)1 << 63)

static uint16_t *list_marks(uint16_t *out, uint64_t marks, uint32_t place)
{
    LIST_MARKS(LOWEST_BIT);
}

static void fill_portable(struct json_scan *s)
{
    FILL_BATCH(s, classify_words, prefix_parity, list_marks);
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

AVX2 ALWAYS_INLINE void classify_avx2(const char *text, size_t left, struct masks *m)
{
    char copy[64];
    const char *at = block_at(text, left, copy);
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

AVX2 ALWAYS_INLINE uint16_t *list_marks_avx2(uint16_t *out, uint64_t marks, uint32_t place)
{
    LIST_MARKS(_tzcnt_u64);
}

AVX2 static void fill_avx2(struct json_scan *s)
{
    FILL_BATCH(s, classify_avx2, prefix_parity_clmul, list_marks_avx2);
}

AVX2 static bool match_avx2(struct json_scan *s, uint32_t *depth, uint32_t from, size_t *clash)
{
    return match_in_batch(s, depth, from, clash);
}

#define AVX512                                                                                     \
    __attribute__((                                                                                \
        target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt,pclmul")))

AVX512 ALWAYS_INLINE void classify_avx512(const char *text, size_t left, struct masks *m)
{
    const __m512i blank = _mm512_broadcast_i32x4(
        _mm_setr_epi8(' ', 0, 0, 0, 0, 0, 0, 0, 0, '\t', '\n', 0, 0, '\r', 0, 0));
    uint64_t live = left >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << left) - 1;
    __m512i v = _mm512_mask_loadu_epi8(_mm512_set1_epi8(' '), live, text);
    __m512i fold = _mm512_or_si512(v, _mm512_set1_epi8(0x20));

    m->quote = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('"'));
    m->backslash = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('\\'));
    m->open = _mm512_cmpeq_epi8_mask(fold, _mm512_set1_epi8('{'));
    m->close = _mm512_cmpeq_epi8_mask(fold, _mm512_set1_epi8('}'));
    m->punct = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(':')) |
               _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(','));
    m->space = _mm512_cmpeq_epi8_mask(_mm512_shuffle_epi8(blank, v), v);
    m->odd =
        m->backslash | _mm512_movepi8_mask(v) | _mm512_cmplt_epu8_mask(v, _mm512_set1_epi8(0x20));
}

AVX512 ALWAYS_INLINE uint64_t prefix_parity_512(uint64_t v)
{
    __m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, (int64_t)v), _mm_set1_epi8(-1), 0);

    return (uint64_t)_mm_cvtsi128_si64(product);
}

/* The places of the marks are the numbers 0 to 63 with all others taken out. */
AVX512 ALWAYS_INLINE uint16_t *list_marks_512(uint16_t *out, uint64_t marks, uint32_t place)
{
    static const unsigned char numbers[64] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    __m512i kept = _mm512_maskz_compress_epi8(marks, _mm512_loadu_si512(numbers));
    __m512i start = _mm512_set1_epi16((short)place);
    uint32_t n = (uint32_t)__builtin_popcountll(marks);

    _mm512_storeu_si512(
        out, _mm512_add_epi16(start, _mm512_cvtepu8_epi16(_mm512_castsi512_si256(kept))));
    if (__builtin_expect(n > 32, 0))
        _mm512_storeu_si512(
            out + 32,
            _mm512_add_epi16(start, _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(kept, 1))));
    return out + n;
}

AVX512 static void fill_avx512(struct json_scan *s)
{
    FILL_BATCH(s, classify_avx512, prefix_parity_512, list_marks_512);
}

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512vbmi2");
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt") &&
           __builtin_cpu_supports("pclmul");
}
#endif

#if defined(__aarch64__)
ALWAYS_INLINE uint64_t blanks_neon(uint8x16x4_t v)
{
    static const uint8_t blank[16] = {' ', [9] = '\t', [10] = '\n', [13] = '\r'};
    const uint8x16_t table = vld1q_u8(blank), low = vdupq_n_u8(0x0f);

    for (int i = 0; i < 4; i++) /* see blanks() */
        v.val[i] = vceqq_u8(vqtbl1q_u8(table, vandq_u8(v.val[i], low)), v.val[i]);
    return neon_bits(v.val[0], v.val[1], v.val[2], v.val[3]);
}

ALWAYS_INLINE void classify_neon(const char *text, size_t left, struct masks *m)
{
    char copy[64];
    uint8x16x4_t v = neon_load(block_at(text, left, copy)), fold;

    for (int i = 0; i < 4; i++)
        fold.val[i] = vorrq_u8(v.val[i], vdupq_n_u8(0x20));
    m->quote = neon_equal(v, '"');
    m->backslash = neon_equal(v, '\\');
    m->open = neon_equal(fold, '{');
    m->close = neon_equal(fold, '}');
    m->punct = neon_equal(v, ':') | neon_equal(v, ',');
    m->space = blanks_neon(v);
    m->odd = m->backslash | ~neon_printable(v);
}

static void fill_neon(struct json_scan *s)
{
    FILL_BATCH(s, classify_neon, prefix_parity, list_marks);
}
#endif

bool json_scan_init(struct json_scan *s, enum json_scanner scanner)
{
    s->fill = fill_portable;
    s->match = match_portable;
#if defined(__x86_64__)
    bool is_best = scanner == JSON_SCAN_BEST;
    if (has_avx2() && (is_best || scanner == JSON_SCAN_AVX2 || scanner == JSON_SCAN_AVX512)) {
        s->fill = fill_avx2;
        s->match = match_avx2;
        if (has_avx512() && scanner != JSON_SCAN_AVX2)
            s->fill = fill_avx512;
    }
    return is_best || scanner == JSON_SCAN_PORTABLE || (scanner == JSON_SCAN_AVX2 && has_avx2()) ||
           (scanner == JSON_SCAN_AVX512 && has_avx2() && has_avx512());
#elif defined(__aarch64__)
    if (scanner == JSON_SCAN_BEST || scanner == JSON_SCAN_NEON)
        s->fill = fill_neon;
    return scanner <= JSON_SCAN_PORTABLE || scanner == JSON_SCAN_NEON;
#else
    return scanner <= JSON_SCAN_PORTABLE;
#endif
}

void json_scan_start(struct json_scan *s, const char *text, size_t n, size_t from)
{
    s->text = text;
    s->n = n;
    s->next = s->base = from;
    s->batch = text;
    s->count = s->i = s->blocks = 0;
    s->carry = (struct json_carry){0};
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
