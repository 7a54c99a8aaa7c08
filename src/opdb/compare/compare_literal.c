/*
 * Python literals in traces: lists of shapes and of kernel durations.
 */
#include "opdb/compare/compare_literal.h"

#include "base/text/char.h"
#include "base/text/num.h"

struct reader {
    struct arena *arena;
    const char *at, *end;
    int depth;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static void literal_skip_blanks(struct reader *r)
{
    while (r->at < r->end && is_blank(*r->at))
        r->at++;
}

static bool next_is(struct reader *r, char c)
{
    literal_skip_blanks(r);
    return r->at < r->end && *r->at == c;
}

static bool literal_read_text(struct reader *r, struct literal *out)
{
    /* The rarer escapes (\x41, \N{...}) do not occur in names of kernels. */
    static const char from[] = "\\'\"nrt", to[] = "\\'\"\n\r\t";
    char quote = *r->at++;
    const char *end = r->at;
    size_t n = 0;

    while (end < r->end && *end != quote)
        end += *end == '\\' && end + 1 < r->end ? 2 : 1;
    char *copy = arena_alloc(r->arena, (size_t)(end - r->at));
    while (r->at < r->end && *r->at != quote) {
        char c = *r->at++;
        if (c == '\\') {
            const char *found = r->at < r->end && *r->at != '\0' ? strchr(from, *r->at++) : NULL;
            if (found == NULL)
                return false;
            c = to[found - from];
        } else if (c == '\n') {
            return false;
        }
        copy[n++] = c;
    }
    if (r->at == r->end)
        return false;
    r->at++;
    out->kind = LITERAL_TEXT;
    out->text = (struct str){copy, n};
    return true;
}

/* True, False, None or a number; a sign may stand apart from its number. */
static bool read_plain(struct reader *r, struct literal *out)
{
    bool is_negative = false;
    double value;

    while (r->at < r->end && (*r->at == '-' || *r->at == '+' || is_blank(*r->at)))
        is_negative ^= *r->at++ == '-';
    const char *from = r->at;
    while (r->at < r->end && (char_is_word(*r->at) || *r->at == '.' ||
                              ((*r->at == '-' || *r->at == '+') && r->at > from &&
                               (r->at[-1] == 'e' || r->at[-1] == 'E'))))
        r->at++;
    struct str text = {from, (size_t)(r->at - from)};
    if (str_equal(text, S("True")) || str_equal(text, S("False")) || str_equal(text, S("None"))) {
        out->kind = LITERAL_WORD;
        out->text = text;
        return true;
    }
    if (!num_f64(text, &value))
        return false;
    out->kind = LITERAL_NUMBER;
    out->text = is_negative ? arena_format(r->arena, "-%.*s", STR_ARGS(text)) : text;
    return true;
}

static bool read_value(struct reader *r, struct literal *out);

/* The items up to `close`. One item in round brackets without a comma is that item itself. */
static bool read_items(struct reader *r, char close, struct literal *out)
{
    const struct literal **tail = &out->first;
    bool has_comma = false;

    r->at++;
    while (!next_is(r, close)) {
        struct literal *item = ARENA_NEW(r->arena, struct literal);
        if (!read_value(r, item))
            return false;
        *tail = item;
        tail = &item->next;
        out->n++;
        if (next_is(r, ',')) {
            r->at++;
            has_comma = true;
        } else if (!next_is(r, close)) {
            return false;
        }
    }
    r->at++;
    if (out->kind == LITERAL_TUPLE && out->n == 1 && !has_comma)
        *out = *out->first;
    return true;
}

static bool read_value(struct reader *r, struct literal *out)
{
    bool is_read = false;

    literal_skip_blanks(r);
    if (r->at == r->end || r->depth == LITERAL_DEPTH)
        return false;
    r->depth++;
    if (*r->at == '[' || *r->at == '(') {
        bool is_list = *r->at == '[';
        out->kind = is_list ? LITERAL_LIST : LITERAL_TUPLE;
        is_read = read_items(r, is_list ? ']' : ')', out);
    } else if (*r->at == '\'' || *r->at == '"') {
        is_read = literal_read_text(r, out);
    } else {
        is_read = read_plain(r, out);
    }
    r->depth--;
    return is_read;
}

const struct literal *literal_read(struct arena *arena, struct str text)
{
    struct str trimmed = str_trim(text);

    if (trimmed.n == 0 || trimmed.n > LITERAL_BYTES)
        return NULL;
    struct reader r = {.arena = arena, .at = trimmed.at, .end = trimmed.at + trimmed.n};
    struct literal *root = ARENA_NEW(arena, struct literal);
    if (!read_value(&r, root))
        return NULL;
    literal_skip_blanks(&r);
    return r.at == r.end ? root : NULL;
}

static bool is_sequence(const struct literal *l)
{
    return l->kind == LITERAL_LIST || l->kind == LITERAL_TUPLE;
}

size_t literal_shares(struct arena *arena, struct str text, struct kernel_share **out)
{
    const struct literal *list = literal_read(arena, text);
    size_t n = 0;

    if (list == NULL || list->kind != LITERAL_LIST)
        return 0;
    *out = ARENA_ARRAY(arena, struct kernel_share, list->n);
    for (const struct literal *item = list->first; item != NULL; item = item->next) {
        const struct literal *us = is_sequence(item) && item->n == 2 ? item->first->next : NULL;
        if (us == NULL || item->first->kind != LITERAL_TEXT ||
            (us->kind != LITERAL_NUMBER && us->kind != LITERAL_TEXT) ||
            !num_f64(us->text, &(*out)[n].us))
            return 0;
        (*out)[n++].kernel = item->first->text;
    }
    return n;
}

/* Joined dims and shapes; false when the list is not one of lists of plain values. The result is
 * shorter than the text the list was read from, so `to` has room. */
static bool join_shapes(const struct literal *list, char *to, size_t *n)
{
    for (const struct literal *shape = list->first; shape != NULL; shape = shape->next) {
        if (!is_sequence(shape))
            return false;
        for (const struct literal *dim = shape->first; dim != NULL; dim = dim->next) {
            if (is_sequence(dim))
                return false;
            if (dim->text.n > 0)
                memcpy(to + *n, dim->text.at, dim->text.n);
            *n += dim->text.n;
            if (dim->next != NULL)
                to[(*n)++] = ',';
        }
        if (shape->next != NULL)
            to[(*n)++] = ';';
    }
    return true;
}

struct str literal_shapes(struct arena *arena, struct str text)
{
    struct str s = str_trim(text);
    size_t n = 0, joined = 0;

    while (s.n > 0 && s.at[0] == '"')
        s = str_part(s, 1, s.n);
    while (s.n > 0 && s.at[s.n - 1] == '"')
        s.n--;
    char *key = arena_alloc(arena, s.n);
    for (size_t i = 0; i < s.n; i++)
        if (s.at[i] != ' ')
            key[n++] = s.at[i];
    struct str plain = {key, n};
    if (str_find_char(plain, ';') < n || str_find_char(plain, '[') == n)
        return plain;
    const struct literal *list = literal_read(arena, plain);
    char *to = arena_alloc(arena, n);
    if (list == NULL || list->kind != LITERAL_LIST || !join_shapes(list, to, &joined))
        return plain;
    return (struct str){to, joined};
}
