/*
 * markdown - see markdown.h.
 */
#include "base/markdown.h"

#include <math.h>
#include <stdarg.h>

static void put_safe(struct text *t, struct str text, bool is_cell)
{
    for (size_t i = 0; i < text.n; i++) {
        if (is_cell && text.at[i] == '|')
            text_char(t, '\\');
        text_char(t, (unsigned char)text.at[i] < 0x20 ? ' ' : text.at[i]);
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

const char *markdown_plain(struct arena *arena, struct str text)
{
    char *copy = arena_cstr(arena, text);

    for (char *c = copy; *c != '\0'; c++)
        if (*c == '|' || *c == '`' || *c == '\n' || *c == '\r')
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

static void put_number(struct text *t, char form, double value)
{
    text_put(t, S("| "));
    if (form == 'g' && isfinite(value))
        text_format(t, "%.4g", value);
    else
        markdown_number(t, value, form - '0');
    text_char(t, ' ');
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
            put_number(t, *forms, va_arg(args, double));
        }
    }
    va_end(args);
    text_put(t, S("|\n"));
}
