/* See text.h. */
#include "base/text/text.h"

#include <stdio.h>

#include "base/tables/vec.h"

void text_put(struct text *t, struct str part)
{
    vec_reserve(t, t->n + part.n);
    if (part.n > 0)
        memcpy(t->at + t->n, part.at, part.n);
    t->n += part.n;
}

void text_char(struct text *t, char c)
{
    vec_push(t, c);
}

void text_repeat(struct text *t, char c, size_t times)
{
    vec_reserve(t, t->n + times);
    if (times > 0)
        memset(t->at + t->n, c, times);
    t->n += times;
}

void text_vformat(struct text *t, const char *format, va_list args)
{
    size_t n = mem_text_size(format, args);

    vec_reserve(t, t->n + n + 1); /* vsnprintf ends with a NUL byte */
    vsnprintf(t->at + t->n, n + 1, format, args);
    t->n += n;
}

void text_format(struct text *t, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    text_vformat(t, format, args);
    va_end(args);
}

void text_clear(struct text *t)
{
    t->n = 0;
}

struct str text_view(const struct text *t)
{
    return (struct str){t->at, t->n};
}

static bool write_text(void *ctx, struct str part)
{
    text_put(ctx, part);
    return true;
}

struct sink text_sink(struct text *t)
{
    return (struct sink){write_text, t};
}

struct str text_keep(struct text *t, struct arena *arena)
{
    struct str kept = arena_str(arena, text_view(t));

    text_free(t);
    return kept;
}

void text_free(struct text *t)
{
    vec_free(t);
}
