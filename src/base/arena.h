/*
 * arena - memory that is released together.
 *
 * An arena hands out pieces of big blocks; freeing the arena frees them all. A capture, a study
 * and a report each own one. Its blocks come from base/run/mem.h, so callers never test for NULL.
 */
#ifndef STRATA_BASE_ARENA_H
#define STRATA_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "base/run/mem.h"
#include "base/str.h"

struct arena_block;

struct arena {
    struct arena_block *head; /* newest block first */
    size_t used;              /* bytes of the head block handed out */
};

struct arena_mark {
    struct arena_block *head;
    size_t used;
};

void arena_init(struct arena *a);
void arena_free(struct arena *a);

/* Zeroed memory, aligned for any type. A size of 0 gives a valid pointer. */
void *arena_alloc(struct arena *a, size_t size) __attribute__((returns_nonnull));

/* An array of `count` zeroed elements of `type`. */
#define ARENA_ARRAY(arena, type, count) ((type *)arena_array((arena), sizeof(type), (count)))
#define ARENA_NEW(arena, type)          ((type *)arena_alloc((arena), sizeof(type)))
void *arena_array(struct arena *a, size_t size, size_t count) __attribute__((returns_nonnull));

/* A copy of `s` that lives in the arena and is followed by a NUL byte. */
struct str arena_str(struct arena *a, struct str s);
char *arena_cstr(struct arena *a, struct str s);
struct str arena_format(struct arena *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct str arena_vformat(struct arena *a, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
#define arena_printf(...) (arena_format(__VA_ARGS__).at)

/* The parts with `separator` between them. */
struct str arena_join(struct arena *a, const struct str *parts, size_t n, struct str separator);

/* Gives back everything handed out since the mark. */
struct arena_mark arena_mark(const struct arena *a);
void arena_rewind(struct arena *a, struct arena_mark mark);

/* Bytes of all blocks, for the curious. */
size_t arena_footprint(const struct arena *a);

#endif
