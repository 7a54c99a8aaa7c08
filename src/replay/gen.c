#include "replay/gen.h"

#include "base/char.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void gen_put(struct gen *g, struct str text)
{
    vec_reserve(g, g->n + text.n);
    if (text.n > 0)
        memcpy(g->at + g->n, text.at, text.n);
    g->n += text.n;
}

void gen_line(struct gen *g, const char *format, ...)
{
    va_list args, again;

    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    if (n > 0) {
        vec_reserve(g, g->n + (size_t)n + 1);
        vsnprintf(g->at + g->n, (size_t)n + 1, format, again);
        g->n += (size_t)n;
    }
    va_end(again);
    va_end(args);
    gen_put(g, S("\n"));
}

void gen_shell(struct gen *g, const char *text)
{
    gen_put(g, S("'"));
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            gen_put(g, S("'\\''"));
        else
            gen_put(g, (struct str){text, 1});
    }
    gen_put(g, S("'"));
}

static struct str camel(struct str name, struct arena *arena)
{
    char *out = arena_alloc(arena, name.n + 1);
    size_t n = 0;
    bool is_first = true;

    for (size_t i = 0; i < name.n; i++) {
        char c = name.at[i];
        if (c == '_') {
            is_first = true;
            continue;
        }
        out[n++] = is_first ? char_upper(c) : c;
        is_first = false;
    }
    return (struct str){out, n};
}

/* Would another tensor have the same constants, or this one none? */
static bool is_taken(const struct slots *slots, size_t i, struct arena *arena)
{
    struct str own = camel(slots->at[i].name, arena);

    for (size_t k = 0; k < slots->n; k++)
        if (k != i && slots->at[k].is_tensor && str_equal(own, camel(slots->at[k].name, arena)))
            return true;
    return own.n == 0;
}

const char *gen_name(const struct slots *slots, size_t i, struct arena *arena)
{
    if (is_taken(slots, i, arena))
        return arena_format(arena, "slot%" PRId64 "_%.*s", slots->at[i].index,
                            STR_ARGS(slots->at[i].name))
            .at;
    return arena_cstr(arena, slots->at[i].name);
}

const char *gen_camel(const struct slots *slots, size_t i, struct arena *arena)
{
    struct str own = camel(slots->at[i].name, arena);

    if (is_taken(slots, i, arena))
        return arena_format(arena, "Slot%" PRId64 "%.*s", slots->at[i].index, STR_ARGS(own)).at;
    return arena_cstr(arena, own);
}
