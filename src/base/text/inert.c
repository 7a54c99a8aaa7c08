/* See inert.h. */
#include "base/text/inert.h"

#include <stdint.h>
#include <stdio.h>

#include "base/formats/json_text.h"

/* Bytes at the start of `s` that are printable ASCII, eight at a time. */
static size_t plain_length(struct str s)
{
    const uint64_t ones = 0x0101010101010101, top = 0x8080808080808080;
    size_t i = 0;

    for (uint64_t v; s.n - i >= 8; i += 8) {
        memcpy(&v, s.at + i, 8);
        /* Below 0x20 the subtraction borrows, 0x7f overflows the addition; carries and borrows can
         * only raise a false alarm, which the loop below settles. */
        if ((((v - ones * 0x20) | (v + ones) | v) & top) != 0)
            break;
    }
    while (i < s.n && (unsigned char)(s.at[i] - 0x20) < 0x7f - 0x20)
        i++;
    return i;
}

static bool is_unsafe(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
           code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

/* The code point of a valid sequence. */
static uint32_t decode(const char *at, size_t n)
{
    unsigned char first = (unsigned char)at[0];
    uint32_t code = n == 1 ? first : first & (0x7fU >> n);

    for (size_t i = 1; i < n; i++)
        code = code << 6 | ((unsigned char)at[i] & 0x3f);
    return code;
}

unsigned inert_unsafe(const char *at, size_t n)
{
    bool is_valid;
    size_t length = json_utf8(at, n, &is_valid);
    uint32_t code = is_valid ? decode(at, length) : 0;

    return is_unsafe(code) ? code : 0;
}

/* The character at the start of `s`: its bytes, and the escape that stands for it or 0 bytes. */
static size_t next_char(struct str s, enum inert_form form, char buf[INERT_ESCAPE], size_t *escape)
{
    static const char letters[] = "tn??r"; /* for the bytes 9 to 13 */
    bool is_valid;
    size_t length = json_utf8(s.at, s.n, &is_valid);
    unsigned char c = (unsigned char)s.at[0];
    uint32_t code = is_valid ? decode(s.at, length) : c;

    *escape = 0;
    if (is_valid && (!is_unsafe(code) || (form == INERT_LINES && (c == '\n' || c == '\t'))))
        return length;
    if (c == '\n' || c == '\r' || c == '\t')
        *escape = (size_t)snprintf(buf, INERT_ESCAPE, "\\%c", letters[c - '\t']);
    else if (!is_valid || code < 0x80)
        *escape = (size_t)snprintf(buf, INERT_ESCAPE, "\\x%02x", (unsigned)c);
    else
        *escape = (size_t)snprintf(buf, INERT_ESCAPE, "\\u{%x}", (unsigned)code);
    return is_valid ? length : 1;
}

bool inert_next(struct str *rest, enum inert_form form, char buf[INERT_ESCAPE], struct str *piece)
{
    size_t i = 0, escape = 0, length = 0;

    while (i < rest->n) {
        i += plain_length(str_part(*rest, i, rest->n));
        if (i == rest->n)
            break;
        length = next_char(str_part(*rest, i, rest->n), form, buf, &escape);
        if (escape > 0)
            break;
        i += length;
    }
    if (i == 0 && escape > 0) {
        *piece = (struct str){buf, escape};
        i = length;
    } else {
        *piece = str_part(*rest, 0, i);
    }
    *rest = str_part(*rest, i, rest->n);
    return piece->n > 0;
}

void inert_put(struct text *t, struct str s, enum inert_form form)
{
    char buf[INERT_ESCAPE];
    struct str piece;

    while (inert_next(&s, form, buf, &piece))
        text_put(t, piece);
}

static bool is_inert(struct str s, enum inert_form form)
{
    char buf[INERT_ESCAPE];
    struct str rest = s, piece;

    return !inert_next(&rest, form, buf, &piece) || (piece.at == s.at && rest.n == 0);
}

void inert_write(struct sink sink, struct str s)
{
    char buf[INERT_ESCAPE];
    struct str piece;

    while (inert_next(&s, INERT_LINE, buf, &piece))
        sink.write(sink.ctx, piece);
}

void inert_since(struct text *t, size_t from, enum inert_form form)
{
    struct str added = str_part(text_view(t), from, t->n);
    struct text copy = {0};

    if (is_inert(added, form))
        return;
    text_put(&copy, added);
    t->n = from;
    inert_put(t, text_view(&copy), form);
    text_free(&copy);
}

struct str inert_text(struct arena *arena, struct str s, enum inert_form form)
{
    struct text t = {0};

    if (is_inert(s, form))
        return s;
    inert_put(&t, s, form);
    return text_keep(&t, arena);
}

struct str inert_line(struct arena *arena, struct str s)
{
    return inert_text(arena, s, INERT_LINE);
}

size_t inert_width(struct str s)
{
    size_t width = 0;
    char buf[INERT_ESCAPE];
    struct str piece;

    while (inert_next(&s, INERT_LINE, buf, &piece))
        width += str_width(piece);
    return width;
}

/* `s` without the first bytes of a character at its end whose rest is missing. */
static struct str without_half(struct str s)
{
    size_t back = 0;

    while (back < 3 && back < s.n && ((unsigned char)s.at[s.n - 1 - back] & 0xc0) == 0x80)
        back++;
    if (back == s.n)
        return s;
    unsigned char first = (unsigned char)s.at[s.n - 1 - back];
    size_t need = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
    return back + 1 < need ? str_part(s, 0, s.n - 1 - back) : s;
}

void inert_pass(struct text *t, struct text *half, struct str s)
{
    struct text rest = {0};

    text_put(half, s);
    struct str all = text_view(half), whole = without_half(all);
    inert_put(t, whole, INERT_LINES);
    text_put(&rest, str_part(all, whole.n, all.n));
    text_free(half);
    *half = rest;
}

bool inert_is_mark(uint8_t *state, char c)
{
    enum { NOTHING, ONE_SIGN, TWO_SIGNS };
    bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    bool is_mark = *state == TWO_SIGNS && c == '[';

    if (c == '#')
        *state = *state == NOTHING ? ONE_SIGN : TWO_SIGNS;
    else if (!is_letter || *state != TWO_SIGNS)
        *state = NOTHING;
    return is_mark;
}
