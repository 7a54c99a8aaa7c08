/*
 * The L2 cache as a clock for each line: the bytes that had come in when it was touched last.
 */
#include "pto/l2.h"

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
    l2->room = room;
    l2->filled = 0;
    l2->asked = l2->missed = 0;
}

void pto_l2_free(struct pto_l2 *l2)
{
    for (size_t i = 0; i < l2->pages.n; i++)
        mem_free(l2->pages.at[i]);
    vec_free(&l2->pages);
    hash_free(&l2->windows);
    hash_free(&l2->page_numbers);
    memset(l2, 0, sizeof(*l2));
}

/* 0 is "never". */
static uint32_t now(const struct pto_l2 *l2)
{
    double ticks = l2->filled / CLOCK + 1;

    return ticks < (double)UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}

static bool is_held(const struct pto_l2 *l2, uint32_t touched, uint32_t at)
{
    return touched != 0 && (double)(at - touched) * CLOCK <= l2->room;
}

/* NULL when too many are in use. */
static uint32_t *page_of(struct pto_l2 *l2, int32_t root, int64_t page)
{
    uint64_t key = hash_mix((uint64_t)(uint32_t)root, (uint64_t)page);
    uint32_t number = hash_add(&l2->page_numbers, key, (uint32_t)l2->pages.n);

    if (number >= MOST_PAGES)
        return NULL;
    if (number == l2->pages.n) {
        uint32_t *lines = mem_grow(NULL, sizeof(*lines), PAGE_LINES);
        memset(lines, 0, PAGE_LINES * sizeof(*lines));
        vec_push(&l2->pages, lines);
    }
    return l2->pages.at[number];
}

/* Lines [first, last] of a pointer: how many were not there. */
static int64_t touch_lines(struct pto_l2 *l2, int32_t root, int64_t first, int64_t last,
                           uint32_t at)
{
    int64_t missing = 0;

    while (first <= last) {
        int64_t page = first / PAGE_LINES, end = (page + 1) * PAGE_LINES;
        uint32_t *lines = page_of(l2, root, page);
        if (end > last + 1)
            end = last + 1;
        if (!lines)
            return missing + last - first + 1;
        for (; first < end; first++) {
            uint32_t *line = &lines[first % PAGE_LINES];
            missing += !is_held(l2, *line, at);
            *line = at;
        }
    }
    return missing;
}

static uint64_t window_key(const struct pto_gm_window *w)
{
    uint64_t key = hash_mix((uint64_t)(uint32_t)w->root, (uint64_t)w->at);

    key = hash_mix(key, (uint64_t)w->rows);
    return hash_mix(hash_mix(key, (uint64_t)w->row_bytes), (uint64_t)w->stride);
}

int64_t pto_l2_touch(struct pto_l2 *l2, const struct pto_gm_window *w, int64_t bytes, double part)
{
    uint64_t key = window_key(w);
    uint32_t at = now(l2), touched = 0;
    int64_t missing = 0;
    bool is_known = hash_get(&l2->windows, key, &touched);

    if (w->rows <= 0 || w->row_bytes <= 0 || w->at < 0 || bytes <= 0)
        return 0;
    if (is_known || l2->windows.n < MOST_WINDOWS)
        hash_put(&l2->windows, key, at);
    if (is_known && is_held(l2, touched, at))
        return 0;
    int64_t length = w->row_bytes < bytes ? w->row_bytes : bytes, begin = w->at, end = 0;
    for (int64_t row = 0; row < w->rows && row <= bytes / length; row++) {
        if (__builtin_add_overflow(begin, length - 1, &end))
            break;
        missing += touch_lines(l2, w->root, begin / LINE, end / LINE, at);
        if (__builtin_add_overflow(begin, w->stride, &begin) || begin < 0)
            break;
    }
    missing = missing < bytes / LINE ? missing * LINE : bytes;
    l2->filled += (double)missing * part;
    return missing;
}
