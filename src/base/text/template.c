/*
 * Templates, line by line; bodies of @if and @each are templates themselves.
 */
#include "base/text/template.h"

#include <assert.h>

#include "base/text/char.h"

struct scope {
    const struct template_value *at;
    size_t n;
    const struct scope *up;
};

static const struct template_value *template_find(const struct scope *s, struct str name)
{
    for (; s != NULL; s = s->up)
        for (size_t i = 0; i < s->n; i++)
            if (str_equal(str_of(s->at[i].name), name))
                return &s->at[i];
    assert(!"a template uses an undefined value");
    return NULL;
}

/* The next line with its end. */
static struct str pop_line(struct str *text)
{
    size_t n = str_find_char(*text, '\n');
    struct str line = str_part(*text, 0, n < text->n ? n + 1 : n);

    *text = str_part(*text, line.n, text->n);
    return line;
}

/* Whether the line is "@word name". */
static bool is_order(struct str line, struct str word, struct str *name)
{
    line = str_trim(line);
    if (!str_starts(line, word))
        return false;
    *name = str_trim(str_part(line, word.n, line.n));
    return line.n == word.n || line.at[word.n] == ' ';
}

/* What stands before the @end of this level; `otherwise` is what stands behind its @else. */
static struct str pop_body(struct str *text, struct str *otherwise)
{
    struct str body = {text->at, 0}, *part = &body, name;

    *otherwise = (struct str){text->at, 0};
    for (int depth = 0; text->n > 0;) {
        struct str line = pop_line(text);
        bool is_end = is_order(line, S("@end"), &name);
        if (is_end && depth == 0)
            break;
        depth += is_order(line, S("@if"), &name) || is_order(line, S("@each"), &name);
        depth -= is_end;
        if (depth == 0 && is_order(line, S("@else"), &name)) {
            part = otherwise;
            part->at = text->at;
            continue;
        }
        part->n += line.n;
    }
    return body;
}

static void template_put_line(struct text *out, struct str line, const struct scope *s)
{
    while (line.n > 0) {
        size_t at = str_find_char(line, '@'), end = at + 1;
        text_put(out, str_part(line, 0, at));
        while (end < line.n && (char_is_lower(line.at[end]) || line.at[end] == '_'))
            end++;
        if (at == line.n)
            return;
        bool is_hole = end > at + 1 && end < line.n && line.at[end] == '@';
        text_put(out,
                 is_hole ? template_find(s, str_part(line, at + 1, end - at - 1))->text : S("@"));
        line = str_part(line, is_hole ? end + 1 : at + 1, line.n);
    }
}

static void text_template_fill(struct text *out, struct str text, const struct scope *s)
{
    struct str name, otherwise;

    while (text.n > 0) {
        struct str line = pop_line(&text);
        bool is_if = is_order(line, S("@if"), &name);
        if (!is_if && !is_order(line, S("@each"), &name)) {
            template_put_line(out, line, s);
            continue;
        }
        const struct template_value *v = template_find(s, name);
        struct str body = pop_body(&text, &otherwise);
        if (is_if)
            text_template_fill(out, v->text.n > 0 ? body : otherwise, s);
        for (size_t i = 0; i < v->n && !is_if; i++)
            text_template_fill(out, body, &(struct scope){v->items + i * v->width, v->width, s});
    }
}

void template_fill(struct text *out, struct str text, const struct template_value *values, size_t n)
{
    text_template_fill(out, text, &(struct scope){values, n, NULL});
}
