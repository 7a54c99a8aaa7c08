/*
 * The L2 cache as a clock for each line: the bytes that had come in when it was touched last.
 */
#include "kernels/pto/sim/l2.h"

#include <math.h>
#include <string.h>

enum {
    LINE = 128,        /* bytes */
    PAGE_LINES = 4096, /* so that a page is half a megabyte */
    CLOCK = 1024,      /* bytes a tick */
    MOST_PAGES = 8192, /* beyond them nothing is remembered */
    MOST_WINDOWS = 1 << 20,
};

void pto_l2_start(struct pto_l2 *l2, double room)
{
    for (size_t i = 0; i < l2->pages.n; i++)
        memset(l2->pages.at[i], 0, PAGE_LINES * sizeof(uint32_t));
    hash_clear(&l2->windows);
    l2->touched.n = 0;
    l2->room = room < CLOCK * (double)UINT32_MAX ? (uint32_t)(room / CLOCK) : UINT32_MAX;
    l2->filled = l2->written_back = 0;
    memset(l2->dirty, 0, sizeof(l2->dirty));
    l2->asked = l2->missed = 0;
}

void pto_l2_free(struct pto_l2 *l2)
{
    for (size_t i = 0; i < l2->pages.n; i++)
        mem_free(l2->pages.at[i]);
    vec_free(&l2->pages);
    hash_free(&l2->windows);
    vec_free(&l2->touched);
    hash_free(&l2->page_numbers);
    memset(l2, 0, sizeof(*l2));
}

/* NULL when too many are in use. */
static uint32_t *page_of(struct pto_l2 *l2, int32_t root, uint64_t number)
{
    uint32_t index =
        hash_add(&l2->page_numbers, hash_mix((uint32_t)root, number), (uint32_t)l2->pages.n);

    if (index >= MOST_PAGES)
        return NULL;
    if (index == l2->pages.n) {
        uint32_t *lines = mem_grow(NULL, sizeof(*lines), PAGE_LINES);
        memset(lines, 0, PAGE_LINES * sizeof(*lines));
        vec_push(&l2->pages, lines);
    }
    l2->last.lines = l2->pages.at[index];
    l2->last.number = number;
    l2->last.root = root;
    return l2->last.lines;
}

/* How many of some lines were last touched before `least`; touches them. Rows are often of four
 * lines. */
static inline uint64_t touch_run(uint32_t *line, uint64_t n, uint32_t at, uint32_t least)
{
    uint64_t missing = 0;

    for (; n >= 4; n -= 4, line += 4) {
        missing +=
            (uint64_t)(line[0] < least) + (line[1] < least) + (line[2] < least) + (line[3] < least);
        line[0] = line[1] = line[2] = line[3] = at;
    }
    for (; n > 0; n--, line++) {
        missing += *line < least;
        *line = at;
    }
    return missing;
}

/* Lines [first, last] of a pointer: how many were not there. */
static inline uint64_t touch_lines(struct pto_l2 *l2, int32_t root, uint64_t first, uint64_t last,
                                   uint32_t at, uint32_t least)
{
    uint64_t missing = 0;

    while (first <= last) {
        uint64_t number = first / PAGE_LINES, end = (number + 1) * PAGE_LINES;
        bool is_last = l2->last.lines && number == l2->last.number && root == l2->last.root;
        uint32_t *lines = is_last ? l2->last.lines : page_of(l2, root, number);
        if (end > last + 1)
            end = last + 1;
        if (!lines)
            return missing + last - first + 1;
        missing += touch_run(lines + first % PAGE_LINES, end - first, at, least);
        first = end;
    }
    return missing;
}

/* Rows that all begin at the same place of a line: how many lines were not there. */
static uint64_t touch_even_rows(struct pto_l2 *l2, const struct pto_gm_window *w, int64_t length,
                                int64_t rows, uint32_t at, uint32_t least)
{
    uint64_t first = (uint64_t)w->at / LINE, by = (uint64_t)w->stride / LINE;
    uint64_t n = (uint64_t)(w->at + length - 1) / LINE - first + 1, missing = 0;
    uint64_t number = UINT64_MAX;
    uint32_t *lines = NULL;

    for (int64_t row = 0; row < rows; row++, first += by) {
        uint64_t page = first / PAGE_LINES, in = first % PAGE_LINES;
        if (in + n > PAGE_LINES) {
            missing += touch_lines(l2, w->root, first, first + n - 1, at, least);
            continue;
        }
        if (page != number) {
            lines = page_of(l2, w->root, page);
            number = page;
        }
        missing += lines ? touch_run(lines + in, n, at, least) : n;
    }
    return missing;
}

/* Rows anywhere, until one is out of reach. */
static uint64_t touch_odd_rows(struct pto_l2 *l2, const struct pto_gm_window *w, int64_t length,
                               int64_t rows, uint32_t at, uint32_t least)
{
    int64_t begin = w->at, end = 0;
    uint64_t missing = 0;

    for (int64_t row = 0; row < rows; row++) {
        if (__builtin_add_overflow(begin, length - 1, &end))
            break;
        missing +=
            touch_lines(l2, w->root, (uint64_t)begin / LINE, (uint64_t)end / LINE, at, least);
        if (__builtin_add_overflow(begin, w->stride, &begin) || begin < 0)
            break;
    }
    return missing;
}

static bool is_even(const struct pto_gm_window *w, int64_t length, int64_t rows)
{
    int64_t end;

    return w->stride > 0 && w->stride % LINE == 0 &&
           !__builtin_mul_overflow(rows, w->stride, &end) &&
           !__builtin_add_overflow(end, w->at, &end) && !__builtin_add_overflow(end, length, &end);
}

/* When the same window was touched last: 0 for never, or when it is one too many. */
static uint32_t touch_window(struct pto_l2 *l2, const struct pto_gm_window *w, uint32_t at)
{
    uint32_t fresh = (uint32_t)l2->touched.n;

    if (fresh >= MOST_WINDOWS)
        return 0;
    uint64_t key = hash_mix((uint64_t)(uint32_t)w->root, (uint64_t)w->at);
    key = hash_mix(hash_mix(key, (uint64_t)w->rows), (uint64_t)w->row_bytes);
    uint32_t number = hash_add(&l2->windows, hash_mix(key, (uint64_t)w->stride), fresh);
    if (number == fresh)
        vec_push(&l2->touched, 0);
    uint32_t before = l2->touched.at[number];
    l2->touched.at[number] = at;
    return before;
}

/* Bytes that come in take the place of those that came one room before. */
static void l2_fill(struct pto_l2 *l2, double bytes, bool is_write)
{
    double share = fmax((double)l2->room * CLOCK / PTO_L2_SHARES, 1);
    double from = floor(l2->filled / share), to = floor((l2->filled + bytes) / share);
    uint32_t used = (uint32_t)fmod(from, PTO_L2_SHARES);

    for (int i = 0; i < PTO_L2_SHARES && from < to; i++, from++) {
        used = (used + 1) % PTO_L2_SHARES;
        l2->written_back += l2->dirty[used];
        l2->dirty[used] = 0;
    }
    l2->filled += bytes;
    if (is_write)
        l2->dirty[used] += bytes;
}

double pto_l2_written_back(struct pto_l2 *l2)
{
    double bytes = l2->written_back;

    l2->written_back = 0;
    return bytes;
}

int64_t pto_l2_touch(struct pto_l2 *l2, const struct pto_gm_window *w, int64_t bytes, double part,
                     bool is_write)
{
    double ticks = l2->filled / CLOCK + 1; /* 0 is "never" */
    uint32_t at = ticks < (double)UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
    uint32_t least = at > l2->room ? at - l2->room : 1; /* what was touched before it has left */

    if (w->rows <= 0 || w->row_bytes <= 0 || w->at < 0 || bytes <= 0 ||
        touch_window(l2, w, at) >= least)
        return 0;
    int64_t length = w->row_bytes < bytes ? w->row_bytes : bytes;
    int64_t rows = w->rows <= bytes / length ? w->rows : bytes / length;
    uint64_t missing = is_even(w, length, rows) ? touch_even_rows(l2, w, length, rows, at, least)
                                                : touch_odd_rows(l2, w, length, rows, at, least);
    int64_t missed = missing < (uint64_t)bytes / LINE ? (int64_t)missing * LINE : bytes;
    l2_fill(l2, (double)missed * part, is_write);
    return missed;
}
