/* See markdown.h. */
#include "base/formats/markdown.h"

#include <math.h>
#include <stdarg.h>

#include "base/text/char.h"
#include "base/text/inert.h"

/* What Markdown would take for a tag, an entity, a link or the end of a cell. Emphasis is harmless
 * and names are full of underscores. */
static struct str escape_of(struct str piece, size_t i, bool is_cell)
{
    char c = piece.at[i], next = i + 1 < piece.n ? piece.at[i + 1] : ' ';

    if (c == '<' && (char_is_letter(next) || strchr("/!?", next) != NULL))
        return S("&lt;"); /* `gemm<64>` is no tag */
    if (c == '&' && (next == '#' || char_is_letter(next)))
        return S("&amp;");
    if (c == '\\')
        return S("\\\\");
    if (c == ']' && (next == '(' || next == '[' || next == ':'))
        return S("\\]");
    return c == '|' && is_cell ? S("\\|") : S("");
}

static void put_safe(struct text *t, struct str text, bool is_cell)
{
    char buf[INERT_ESCAPE];
    struct str piece;

    while (inert_next(&text, INERT_LINE, buf, &piece))
        for (size_t i = 0; i < piece.n; i++) {
            struct str escape = escape_of(piece, i, is_cell);
            text_put(t, escape.n > 0 ? escape : str_part(piece, i, 1));
        }
}

void markdown_cell(struct text *t, struct str text)
{
    text_put(t, S("| "));
    put_safe(t, text, true);
    text_char(t, ' ');
}

void markdown_line(struct text *t, struct str text)
{
    put_safe(t, text, false);
}

const char *markdown_safe(struct arena *arena, struct str text)
{
    struct text t = {0};

    put_safe(&t, text, true);
    return text_keep(&t, arena).at;
}

const char *markdown_plain(struct arena *arena, struct str text)
{
    char *copy = arena_cstr(arena, inert_line(arena, text));

    for (char *c = copy; *c != '\0'; c++)
        if (*c == '|' || *c == '`')
            *c = ' ';
    return copy;
}

void markdown_number(struct text *t, double value, int decimals)
{
    if (isfinite(value))
        text_format(t, "%.*f", decimals, value);
    else
        text_put(t, S(MARKDOWN_DASH));
}

void markdown_head(struct text *t, const char *heads)
{
    struct str rest = str_of(heads), head;
    size_t n = 0;

    for (; str_split(&rest, '|', &head); n++)
        markdown_cell(t, head);
    text_put(t, S("|\n"));
    while (n-- > 0)
        text_put(t, S("|---"));
    text_put(t, S("|\n"));
}

void markdown_row(struct text *t, const char *forms, ...)
{
    va_list args;

    va_start(args, forms);
    for (; *forms != '\0'; forms++) {
        if (*forms == 's') {
            markdown_cell(t, va_arg(args, struct str));
        } else if (*forms == 'c') {
            const char *text = va_arg(args, const char *);
            markdown_cell(t, str_of(text[0] != '\0' ? text : MARKDOWN_DASH));
        } else if (*forms == 'z') {
            text_format(t, "| %zu ", va_arg(args, size_t));
        } else {
            double value = va_arg(args, double);
            text_put(t, S("| "));
            if (*forms == 'g' && isfinite(value))
                text_format(t, "%.4g", value);
            else
                markdown_number(t, value, *forms - '0');
            text_char(t, ' ');
        }
    }
    va_end(args);
    text_put(t, S("|\n"));
}
