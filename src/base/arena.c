/*
 * Blocks form a list, newest first; only the head has room. A block is a header followed by its
 * payload:   [ next | size ][ payload ............ ]
 * Small requests share blocks that double up to BLOCK_MAX; a large request gets its own block,
 * placed at the head, so a mark is just (head, used). Under AddressSanitizer what was not handed
 * out is out of bounds, so that reading past the end of a piece is found although it stays inside
 * the block.
 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "base/asan.h"
#include "base/files/large.h"
#include "base/run/job.h"

enum {
    BLOCK_MIN = 4096,
    BLOCK_MAX = LARGE_PAGE - 64, /* with its header one huge page, or a bit less */
};

struct arena_block {
    struct arena_block *next;
    size_t size;
    alignas(max_align_t) char payload[];
};

void arena_init(struct arena *a)
{
    *a = (struct arena){0};
}

void arena_free(struct arena *a)
{
    arena_rewind(a, (struct arena_mark){0});
}

static void add_block(struct arena *a, size_t need)
{
    size_t size = BLOCK_MIN;

    if (a->head != NULL)
        size = a->head->size < BLOCK_MAX ? a->head->size * 2 : BLOCK_MAX;
    if (size < need)
        size = need;
    if (size > SIZE_MAX - sizeof(struct arena_block))
        job_out_of_memory();
    struct arena_block *block = mem_grow(NULL, 1, sizeof(*block) + size);
    block->next = a->head;
    block->size = size;
    ASAN_POISON_MEMORY_REGION(block->payload, size);
    a->head = block;
    a->used = 0;
}

void *arena_alloc(struct arena *a, size_t size)
{
    if (size > SIZE_MAX - alignof(max_align_t))
        job_out_of_memory();
    size_t rounded = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    if (a->head == NULL || a->head->size - a->used < rounded)
        add_block(a, rounded);
    void *p = a->head->payload + a->used;
    a->used += rounded;
    ASAN_UNPOISON_MEMORY_REGION(p, size);
    return memset(p, 0, size);
}

void *arena_array(struct arena *a, size_t size, size_t count)
{
    size_t bytes;

    if (__builtin_mul_overflow(size, count, &bytes))
        job_out_of_memory();
    return arena_alloc(a, bytes);
}

char *arena_cstr(struct arena *a, struct str s)
{
    char *copy = arena_alloc(a, s.n + 1);

    if (s.n > 0)
        memcpy(copy, s.at, s.n);
    return copy;
}

struct str arena_str(struct arena *a, struct str s)
{
    return (struct str){arena_cstr(a, s), s.n};
}

struct str arena_vformat(struct arena *a, const char *format, va_list args)
{
    size_t n = mem_text_size(format, args);
    char *text = arena_alloc(a, n + 1);

    vsnprintf(text, n + 1, format, args);
    return (struct str){text, n};
}

struct str arena_format(struct arena *a, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    struct str text = arena_vformat(a, format, args);
    va_end(args);
    return text;
}

struct str arena_join(struct arena *a, const struct str *parts, size_t n, struct str separator)
{
    size_t size = n * separator.n + 1, used = 0;

    for (size_t i = 0; i < n; i++)
        size += parts[i].n;
    char *out = arena_alloc(a, size);
    for (size_t i = 0; i < n; i++) {
        const struct str pieces[] = {i > 0 ? separator : S(""), parts[i]};
        for (size_t k = 0; k < ARRAY_LEN(pieces); k++) {
            if (pieces[k].n > 0)
                memcpy(out + used, pieces[k].at, pieces[k].n);
            used += pieces[k].n;
        }
    }
    return (struct str){out, used};
}

struct arena_mark arena_mark(const struct arena *a)
{
    return (struct arena_mark){a->head, a->used};
}

void arena_rewind(struct arena *a, struct arena_mark mark)
{
    while (a->head != mark.head) {
        struct arena_block *next = a->head->next;
        mem_free(a->head);
        a->head = next;
    }
    a->used = mark.used;
    if (a->head != NULL)
        ASAN_POISON_MEMORY_REGION(a->head->payload + a->used, a->head->size - a->used);
}

size_t arena_footprint(const struct arena *a)
{
    size_t bytes = 0;

    for (const struct arena_block *b = a->head; b != NULL; b = b->next)
        bytes += sizeof(*b) + b->size;
    return bytes;
}
