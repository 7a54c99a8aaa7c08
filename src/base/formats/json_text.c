/* See json_text.h. */
#include "base/formats/json_text.h"

#include <stdint.h>
#include <stdio.h>

#include "base/text/char.h"
#include "base/text/inert.h"
#include "base/text/utf16.h"

static const struct str replacement = S_INIT("\xEF\xBF\xBD"); /* U+FFFD */

size_t json_utf8(const char *at, size_t n, bool *is_valid)
{
    unsigned char c = (unsigned char)at[0];
    size_t length = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
    /* The second byte's range is narrower where overlong forms, surrogates or too large values
     * would begin. */
    unsigned char low = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
    unsigned char high = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;

    *is_valid = false;
    if (length == 0)
        return 1;
    for (size_t k = 1; k < length; k++, low = 0x80, high = 0xBF)
        if (k == n || (unsigned char)at[k] < low || (unsigned char)at[k] > high)
            return k;
    *is_valid = true;
    return length;
}

/* The value of \uXXXX at `at`, or -1. */
static int32_t unicode_escape(const char *at, size_t n)
{
    int32_t value = 0;

    if (n < 6 || at[0] != '\\' || at[1] != 'u')
        return -1;
    for (int k = 2; k < 6; k++) {
        int digit = char_hex(at[k]);
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* What the letter behind a backslash stands for; 0 for letters JSON does not know. */
static char short_escape(char c)
{
    static const char meant[256] = {['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
                                    ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t'};

    return meant[(unsigned char)c];
}

/* Number of bytes at the start of `s` that stand for themselves. */
static size_t plain_length(struct str s)
{
    const uint64_t ones = 0x0101010101010101, top = 0x8080808080808080;
    size_t i = 0;

    for (uint64_t v; s.n - i >= 8; i += 8) {
        memcpy(&v, s.at + i, 8);
        uint64_t slash = v ^ ones * '\\';
        /* Byte borrows can only raise a false alarm behind a true one. */
        if ((((v - ones * 0x20) | (slash - ones) | v) & top) != 0)
            break;
    }
    for (; i < s.n; i++)
        if ((unsigned char)s.at[i] < 0x20 || (unsigned char)s.at[i] >= 0x80 || s.at[i] == '\\')
            break;
    return i;
}

static void set_first(size_t *first, size_t at)
{
    if (*first == SIZE_MAX)
        *first = at;
}

struct json_check json_check_string(struct str raw)
{
    struct json_check found = {SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX};

    for (size_t i = 0; i < raw.n;) {
        struct str rest = str_part(raw, i, raw.n);
        unsigned char c = (unsigned char)rest.at[0];
        if (c == '\\') {
            set_first(&found.escape, i);
            bool is_unicode = unicode_escape(rest.at, rest.n) >= 0;
            if (!is_unicode && (rest.n < 2 || short_escape(rest.at[1]) == 0))
                set_first(&found.bad_escape, i);
            i += is_unicode ? 6 : rest.n < 2 ? 1 : 2;
        } else if (c < 0x20) {
            set_first(&found.control, i++);
        } else if (c >= 0x80) {
            bool is_valid;
            size_t length = json_utf8(rest.at, rest.n, &is_valid);
            if (!is_valid)
                set_first(&found.bad_utf8, i);
            i += length;
        } else {
            i += plain_length(rest);
        }
    }
    return found;
}

/* A growing text, or only its length while `at` is NULL. */
struct unescaped {
    char *at;
    size_t n;
};

static void json_text_put(struct unescaped *out, const char *at, size_t n)
{
    if (out->at != NULL && n > 0)
        memcpy(out->at + out->n, at, n);
    out->n += n;
}

/* Handles the backslash at the start of `rest`; returns the bytes used. */
static size_t put_escape(struct unescaped *out, struct str rest)
{
    int32_t code = unicode_escape(rest.at, rest.n), second = -1;
    char point[4];

    if (code >= 0) {
        if (code >= 0xD800 && code < 0xDC00)
            second = unicode_escape(rest.at + 6, rest.n - 6);
        bool is_pair = second >= 0xDC00 && second < 0xE000;
        if (is_pair)
            code = 0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00);
        else if (code >= 0xD800 && code < 0xE000)
            code = 0xFFFD;
        json_text_put(out, point, utf8_put((uint32_t)code, point));
        return is_pair ? 12 : 6;
    }
    char c = rest.n > 1 ? short_escape(rest.at[1]) : 0;
    if (c != 0) {
        json_text_put(out, &c, 1);
        return 2;
    }
    json_text_put(out, rest.at, 1);
    return 1;
}

static void unescape(struct unescaped *out, struct str raw)
{
    for (size_t i = 0; i < raw.n;) {
        struct str rest = str_part(raw, i, raw.n);
        unsigned char c = (unsigned char)rest.at[0];
        if (c == '\\') {
            i += put_escape(out, rest);
        } else if (c < 0x20) {
            json_text_put(out, replacement.at, replacement.n);
            i++;
        } else if (c >= 0x80) {
            bool is_valid;
            size_t length = json_utf8(rest.at, rest.n, &is_valid);
            json_text_put(out, is_valid ? rest.at : replacement.at,
                          is_valid ? length : replacement.n);
            i += length;
        } else {
            size_t length = plain_length(rest);
            json_text_put(out, rest.at, length);
            i += length;
        }
    }
}

struct str json_text(struct str raw, struct arena *arena)
{
    if (plain_length(raw) == raw.n)
        return raw;
    struct json_check check = json_check_string(raw);
    if (check.escape == SIZE_MAX && check.control == SIZE_MAX && check.bad_utf8 == SIZE_MAX)
        return raw;

    struct unescaped measure = {0};
    unescape(&measure, raw);
    struct unescaped out = {ARENA_ARRAY(arena, char, measure.n + 1), 0};
    unescape(&out, raw);
    return (struct str){out.at, out.n};
}

/* The escape for the character at the start of `s`, which is `length` bytes; none: 0 bytes. */
static size_t put_json_escape(struct str s, size_t *length, char buf[JSON_ESCAPE])
{
    static const char letters[] = "btn?fr"; /* for the bytes 8 to 13; 11 has none */
    unsigned char c = (unsigned char)s.at[0];
    unsigned code = c;
    bool is_valid = true;

    *length = 1;
    if (c >= 0x7f) {
        *length = json_utf8(s.at, s.n, &is_valid);
        code = is_valid ? inert_unsafe(s.at, *length) : 0;
    }
    if (!is_valid)
        return (size_t)snprintf(buf, JSON_ESCAPE, "%s", replacement.at);
    if (c == '"' || c == '\\')
        return (size_t)snprintf(buf, JSON_ESCAPE, "\\%c", c);
    if (c >= 8 && c <= 13 && c != 11)
        return (size_t)snprintf(buf, JSON_ESCAPE, "\\%c", letters[c - 8]);
    if (c < 0x20 || (c >= 0x7f && code != 0))
        return (size_t)snprintf(buf, JSON_ESCAPE, "\\u%04x", code & 0xffff);
    return 0;
}

bool json_escape_next(struct str *rest, char buf[JSON_ESCAPE], struct str *piece)
{
    size_t i = 0, escape = 0, length = 0;

    while (i < rest->n && escape == 0) {
        unsigned char c = (unsigned char)rest->at[i];
        if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
            i++;
            continue;
        }
        escape = put_json_escape(str_part(*rest, i, rest->n), &length, buf);
        i += escape == 0 ? length : 0;
    }
    bool is_escape = i == 0 && escape > 0;
    *piece = is_escape ? (struct str){buf, escape} : str_part(*rest, 0, i);
    *rest = str_part(*rest, is_escape ? length : i, rest->n);
    return piece->n > 0;
}

bool json_is_number(struct str s)
{
    size_t i = s.n > 0 && s.at[0] == '-' ? 1 : 0;
    size_t whole = str_digits(str_part(s, i, s.n));

    if (whole == 0 || (s.at[i] == '0' && whole > 1))
        return false;
    i += whole;
    if (i < s.n && s.at[i] == '.') {
        size_t fraction = str_digits(str_part(s, i + 1, s.n));
        if (fraction == 0)
            return false;
        i += 1 + fraction;
    }
    if (i < s.n && (s.at[i] | 0x20) == 'e') {
        i++;
        if (i < s.n && (s.at[i] == '+' || s.at[i] == '-'))
            i++;
        size_t exponent = str_digits(str_part(s, i, s.n));
        if (exponent == 0)
            return false;
        i += exponent;
    }
    return i == s.n;
}
