/*
 * Hostile tables for base/csv: the vector scanner, the portable one and reading in windows must
 * tell the same story, and none may touch a byte outside its input. The first byte of the input
 * chooses the window step, the rest is the table.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/formats/csv.h"
#include "base/tables/hash.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A text on the heap that ends where its allocation ends. */
static struct str exact_copy(const char *at, size_t n)
{
    char *copy = malloc(n > 0 ? n : 1);

    if (copy == NULL)
        abort();
    if (n > 0)
        memcpy(copy, at, n);
    return (struct str){copy, n};
}

static uint64_t tell_row(uint64_t story, const struct csv *csv, struct arena *arena)
{
    story = hash_mix(story, csv->line);
    story = hash_mix(story, csv->n_cells);
    story = hash_mix(story, (uint64_t)csv->is_broken << 1 | csv->is_too_wide);
    for (size_t i = 0; i < csv->n_cells && i <= LIMIT_CSV_COLUMNS; i++) {
        struct str cell = csv_cell(csv, (int)i);
        story = hash_mix(story, hash_bytes(cell));
        struct arena_mark mark = arena_mark(arena);
        if (csv_unquote(cell, arena).n > cell.n)
            abort();
        arena_rewind(arena, mark);
    }
    return story;
}

static uint64_t tell_rest(uint64_t story, struct csv *csv, struct arena *arena)
{
    while (csv_next(csv))
        story = tell_row(story, csv, arena);
    return story;
}

static uint64_t tell_whole(struct str text, bool is_portable, struct arena *arena)
{
    struct str copy = exact_copy(text.at, text.n);
    struct csv csv;
    uint64_t story = 0;

    if (is_portable)
        csv_open_portable(&csv, copy);
    else
        csv_open(&csv, copy);
    if (csv_header_count(&csv) > 0)
        story = tell_row(story, &csv, arena);
    for (size_t i = 0; i < csv_header_count(&csv); i++)
        if (csv_column(&csv, csv_header(&csv, i)) > (int)i)
            abort();
    story = tell_rest(story, &csv, arena);
    if (csv_used(&csv) != text.n)
        abort();
    free((void *)(uintptr_t)copy.at);
    return story;
}

static uint64_t tell_windows(struct str text, size_t step, struct arena *arena)
{
    struct csv csv;
    uint64_t story = 0;
    size_t from = 0, to = 0;
    bool is_open = false;

    do {
        to = text.n - to < step ? text.n : to + step;
        struct str window = exact_copy(text.at + from, to - from);
        if (is_open) {
            csv_more(&csv, window, to == text.n);
        } else if (csv_open_part(&csv, window, to == text.n)) {
            is_open = true;
            if (csv_header_count(&csv) > 0)
                story = tell_row(story, &csv, arena);
        }
        if (is_open) {
            story = tell_rest(story, &csv, arena);
            from += csv_used(&csv);
        }
        free((void *)(uintptr_t)window.at);
    } while (to < text.n);
    return story;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;

    if (size == 0)
        return 0;
    struct str text = {(const char *)data + 1, size - 1};
    arena_init(&arena);
    uint64_t best = tell_whole(text, false, &arena);
    if (tell_whole(text, true, &arena) != best)
        abort();
    /* Windows are copied anew each time, so their number is kept small. */
    if (tell_windows(text, 1 + data[0] + size / 64, &arena) != best)
        abort();
    arena_free(&arena);
    return 0;
}
