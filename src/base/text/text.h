/*
 * text - text that grows, for documents put together in memory.
 *
 *     struct text t = {0};
 *     text_put(&t, S("busy "));
 *     text_format(&t, "%.1f %%", 83.0);
 *     ... text_view(&t) ...
 *     text_free(&t);
 *
 * Zero-initialised is empty. A view dies with the next call.
 */
#ifndef STRATA_BASE_TEXT_TEXT_H
#define STRATA_BASE_TEXT_TEXT_H

#include <stdarg.h>

#include "base/files/sink.h"

struct arena;

struct text {
    char *at;
    size_t n, cap;
};

void text_put(struct text *t, struct str part);
void text_char(struct text *t, char c);
void text_repeat(struct text *t, char c, size_t times);
void text_format(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vformat(struct text *t, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

void text_clear(struct text *t); /* keeps its memory */
struct str text_view(const struct text *t);
struct sink text_sink(struct text *t);
void text_free(struct text *t);

/* A copy that lives in the arena; the text is freed. */
struct str text_keep(struct text *t, struct arena *arena);

#endif
