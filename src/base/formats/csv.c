/*
 * Two stages. The scanner turns a batch of 64-byte blocks into bitmaps: which commas and line ends
 * are outside quotes. The splitter walks the set bits and notes where cells end.
 *
 * Inside or outside is the parity of the quotes so far (a prefix xor of the quote bitmap), which
 * is right as long as every quote that flips the parity to "inside" begins a cell or is the second
 * of a doubled pair. One that does neither is a literal: the scanner cuts its batch before it, and
 * the row that holds it is split byte by byte, after which scanning starts afresh. So parity is an
 * optimisation, never a different meaning, and a stray quote costs its own row only.
 */
#include "base/formats/csv.h"

#include <endian.h>

#include "base/arena.h"
#include "base/tables/neon.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { BLOCK = 64 };

/* Which bytes of a block are commas, line ends and quotes. */
struct marks {
    uint64_t commas, newlines, quotes;
};

/* Bit i of the result is the xor of bits 0 to i. */
static inline uint64_t prefix_xor(uint64_t bits)
{
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    bits ^= bits << 16;
    bits ^= bits << 32;
    return bits;
}

/* Without -mpopcnt the builtin is a call, and nearly always there is nothing to count. */
static inline uint64_t count_bits(uint64_t bits)
{
    return bits != 0 ? (uint64_t)__builtin_popcountll(bits) : 0;
}

/* Adds a block to the batch; false when it ends the batch because of a literal quote. */
static inline bool add_block(struct csv *csv, struct marks m)
{
    uint64_t ends = m.commas | m.newlines;
    uint64_t inside = csv->inside; /* at each byte, after that byte */
    uint64_t keep = ~UINT64_C(0);

    if (m.quotes != 0) {
        inside ^= prefix_xor(m.quotes);
        uint64_t may_open = (ends | m.quotes) << 1 | csv->fresh;
        uint64_t odd = m.quotes & inside & ~may_open;
        if (odd != 0) {
            keep = (odd & -odd) - 1;
            csv->is_odd = true;
        }
    }
    csv->blocks[csv->n_blocks++] = (struct csv_block){
        .separators = ends & ~inside & keep,
        .count = count_bits(ends & ~inside & keep),
        .newlines = m.newlines & ~inside & keep,
        .inner = m.newlines & inside & keep,
    };
    csv->inside = inside >> 63 ? ~UINT64_C(0) : 0;
    csv->fresh = (ends | m.quotes) >> 63;
    return !csv->is_odd;
}

/* The bits of bytes of `word` that equal `c`; bit 0 is the lowest byte. */
static inline uint64_t equal_bytes(uint64_t word, char c)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), low = ones * 0x7f;
    uint64_t x = word ^ ones * (unsigned char)c;
    uint64_t zero = ~(((x & low) + low) | x | low); /* 0x80 where a byte of x is zero */

    /* The multiplication moves bit 7 of byte k to bit 56 + k; no two partial products meet. */
    return (zero >> 7) * UINT64_C(0x0102040810204080) >> 56;
}

static inline struct marks mark_portable(const char *at)
{
    struct marks m = {0};

    for (unsigned i = 0; i < BLOCK; i += 8) {
        uint64_t word;
        memcpy(&word, at + i, sizeof(word));
        word = le64toh(word);
        m.commas |= equal_bytes(word, ',') << i;
        m.newlines |= equal_bytes(word, '\n') << i;
        m.quotes |= equal_bytes(word, '"') << i;
    }
    return m;
}

static void begin_batch(struct csv *csv)
{
    csv->base = csv->scanned;
    csv->block = 0;
    csv->n_blocks = 0;
}

/* The last bytes of the text as a whole block, padded with zeros; never reads past the end. */
static size_t tail_block(struct csv *csv, char *copy)
{
    size_t n = csv->text.n - csv->scanned;

    memset(copy, 0, BLOCK);
    memcpy(copy, csv->text.at + csv->scanned, n);
    return n;
}

/* Scans one batch; MARK finds the marks of a block. A macro, as each scanner is compiled for its
 * own processor. Padding looks like text: after it `inside` still tells whether the text ended in
 * quotes. */
#define SCAN_BATCH(csv, MARK)                                                                      \
    do {                                                                                           \
        begin_batch(csv);                                                                          \
        while ((csv)->n_blocks < CSV_BATCH && (csv)->text.n - (csv)->scanned >= BLOCK) {           \
            bool go_on = add_block(csv, MARK((csv)->text.at + (csv)->scanned));                    \
            (csv)->scanned += BLOCK;                                                               \
            if (!go_on)                                                                            \
                return;                                                                            \
        }                                                                                          \
        if ((csv)->n_blocks < CSV_BATCH && (csv)->scanned < (csv)->text.n) {                       \
            char copy[BLOCK];                                                                      \
            size_t n = tail_block(csv, copy);                                                      \
            add_block(csv, MARK(copy));                                                            \
            (csv)->scanned += n;                                                                   \
        }                                                                                          \
    } while (0)

static void scan_portable(struct csv *csv)
{
    SCAN_BATCH(csv, mark_portable);
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2,popcnt")))

AVX2 static inline uint64_t equal_avx2(__m256i low, __m256i high, char c)
{
    __m256i pattern = _mm256_set1_epi8(c);
    uint32_t a = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, pattern));
    uint32_t b = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, pattern));

    return (uint64_t)b << 32 | a;
}

AVX2 static inline struct marks mark_avx2(const char *at)
{
    __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)at);
    __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(at + 32));

    return (struct marks){
        .commas = equal_avx2(low, high, ','),
        .newlines = equal_avx2(low, high, '\n'),
        .quotes = equal_avx2(low, high, '"'),
    };
}

AVX2 static void scan_avx2(struct csv *csv)
{
    SCAN_BATCH(csv, mark_avx2);
}
#endif

#if defined(__aarch64__)
static inline struct marks mark_neon(const char *at)
{
    uint8x16x4_t v = neon_load(at);

    return (struct marks){
        .commas = neon_equal(v, ','),
        .newlines = neon_equal(v, '\n'),
        .quotes = neon_equal(v, '"'),
    };
}

static void scan_neon(struct csv *csv)
{
    SCAN_BATCH(csv, mark_neon);
}
#endif

static void (*best_scan(void))(struct csv *)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt"))
        return scan_avx2;
#elif defined(__aarch64__)
    return scan_neon;
#endif
    return scan_portable;
}

/* Scanning starts afresh at `at`, the beginning of a row. */
static void restart(struct csv *csv, size_t at)
{
    csv->scanned = at;
    csv->inside = 0;
    csv->fresh = 1;
    csv->is_odd = false;
    begin_batch(csv);
}

/* Notes the cells that end at the `count` set bits of a block that begins at `base`. */
static inline void note_cells(struct csv *csv, size_t base, uint64_t separators, uint64_t count)
{
    size_t n = csv->n_cells;

    csv->n_cells = n + (size_t)count;
    if (n >= csv->wanted)
        return;
    if (n > LIMIT_CSV_COLUMNS - BLOCK) { /* near the limit: with a check for each */
        for (; separators != 0; separators &= separators - 1, n++)
            if (n < LIMIT_CSV_COLUMNS)
                csv->bound[n + 1] = base + (size_t)__builtin_ctzll(separators) + 1;
    } else {
        for (; separators != 0; separators &= separators - 1)
            csv->bound[++n] = base + (size_t)__builtin_ctzll(separators) + 1;
    }
}

/* Ends the row at `end`, the place of its line end or the end of the text; its last cell is the
 * one noted last. */
static void end_row(struct csv *csv, size_t end)
{
    csv->is_too_wide = csv->n_cells > LIMIT_CSV_COLUMNS;
    csv->next = end < csv->text.n ? end + 1 : end;
    if (csv->n_cells > csv->wanted)
        return;
    size_t *bound = &csv->bound[csv->n_cells];
    while (bound[0] - 1 > bound[-1] && csv->text.at[bound[0] - 2] == '\r')
        bound[0]--;
}

static void note_one(struct csv *csv, size_t end)
{
    if (csv->n_cells < csv->wanted)
        csv->bound[csv->n_cells + 1] = end + 1;
    csv->n_cells++;
}

/* The end of the text ends the row too, unless another window follows. */
static bool end_text(struct csv *csv, bool is_inside)
{
    if (!csv->is_last) {
        csv->n_cells = 0;
        csv->next_line = csv->line; /* the next window meets the same line ends again */
        return false;
    }
    csv->is_broken = is_inside;
    note_one(csv, csv->text.n);
    end_row(csv, csv->text.n);
    return true;
}

/* Splits the row at `next` byte by byte: the meaning of the dialect, without tricks. */
static bool split_row_slowly(struct csv *csv)
{
    const char *text = csv->text.at;
    size_t at = csv->next;
    bool is_inside = false, is_start = true;

    csv->n_cells = 0;
    for (; at < csv->text.n; at++) {
        char c = text[at];
        if (is_inside) {
            if (c == '\n')
                csv->next_line++;
            if (c != '"')
                continue;
            if (at + 1 < csv->text.n && text[at + 1] == '"')
                at++;
            else
                is_inside = false;
            continue;
        }
        if (c == '"' && is_start)
            is_inside = true;
        is_start = c == ',';
        if (c == ',')
            note_one(csv, at);
        if (c == '\n')
            break;
    }
    if (at == csv->text.n)
        return end_text(csv, is_inside);
    csv->next_line++;
    note_one(csv, at);
    end_row(csv, at);
    restart(csv, csv->next);
    return true;
}

/* Takes the row at `next`, empty or not. */
static bool csv_split_row(struct csv *csv)
{
    csv->line = csv->next_line;
    csv->is_broken = csv->is_too_wide = false;
    csv->n_cells = 0;
    csv->bound[0] = csv->next;
    if (csv->next >= csv->text.n)
        return false;
    for (;;) {
        for (; csv->block < csv->n_blocks; csv->block++) {
            struct csv_block *b = &csv->blocks[csv->block];
            size_t base = csv->base + csv->block * BLOCK;
            if (b->newlines == 0) {
                note_cells(csv, base, b->separators, b->count);
                csv->next_line += count_bits(b->inner);
                continue;
            }
            uint64_t mine = b->newlines ^ (b->newlines - 1); /* up to the first line end */
            uint64_t count = count_bits(b->separators & mine);
            note_cells(csv, base, b->separators & mine, count);
            csv->next_line += 1 + count_bits(b->inner & mine);
            end_row(csv, base + (size_t)__builtin_ctzll(b->newlines));
            b->count -= count;
            b->separators &= ~mine;
            b->newlines &= ~mine;
            b->inner &= ~mine;
            return true;
        }
        if (csv->is_odd) {
            csv->next_line = csv->line;
            return split_row_slowly(csv);
        }
        if (csv->scanned == csv->text.n)
            return end_text(csv, csv->inside != 0);
        csv->scan(csv);
    }
}

bool csv_next(struct csv *csv)
{
    do {
        if (!csv_split_row(csv))
            return false;
    } while (csv->n_cells == 1 && csv->bound[1] - 1 == csv->bound[0]); /* an empty line */
    return true;
}

void csv_more(struct csv *csv, struct str text, bool is_last)
{
    csv->text = text;
    csv->is_last = is_last;
    csv->next = 0;
    csv->n_cells = 0;
    restart(csv, 0);
}

static bool open_with(struct csv *csv, struct str text, bool is_last, void (*scan)(struct csv *))
{
    csv->scan = scan;
    csv->wanted = LIMIT_CSV_COLUMNS;
    csv->next_line = 1;
    csv->line = 1;
    csv->n_header = 0;
    csv->is_broken = csv->is_too_wide = false;
    csv_more(csv, text, is_last);
    if (str_starts(text, S("\xef\xbb\xbf"))) {
        csv->next = 3;
        restart(csv, 3);
    }
    if (!csv_next(csv))
        return is_last;
    size_t n = csv->is_too_wide ? LIMIT_CSV_COLUMNS : csv->n_cells;
    for (size_t i = 0; i < n; i++)
        csv->header[i] = str_trim(csv_cell(csv, (int)i));
    csv->n_header = n;
    return true;
}

void csv_open(struct csv *csv, struct str text)
{
    open_with(csv, text, true, best_scan());
}

void csv_open_portable(struct csv *csv, struct str text)
{
    open_with(csv, text, true, scan_portable);
}

bool csv_open_part(struct csv *csv, struct str text, bool is_last)
{
    return open_with(csv, text, is_last, best_scan());
}

struct str csv_header(const struct csv *csv, size_t i)
{
    return i < csv->n_header ? csv->header[i] : S("");
}

int csv_column(const struct csv *csv, struct str name)
{
    for (size_t i = 0; i < csv->n_header; i++)
        if (str_equal(csv->header[i], name))
            return (int)i;
    return -1;
}

struct str csv_unquote(struct str cell, struct arena *arena)
{
    if (!str_contains(cell, S("\"\"")))
        return cell;
    char *copy = arena_alloc(arena, cell.n);
    size_t n = 0;
    for (size_t i = 0; i < cell.n; i++) {
        copy[n++] = cell.at[i];
        if (cell.at[i] == '"' && i + 1 < cell.n && cell.at[i + 1] == '"')
            i++;
    }
    return (struct str){copy, n};
}
