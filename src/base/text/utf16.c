/* Code units to UTF-8; a lone half of a pair becomes U+FFFD. */
#include "base/text/utf16.h"

enum { REPLACEMENT = 0xFFFD };

size_t utf8_put(uint32_t code, char to[4])
{
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    for (size_t i = n; i-- > 1; code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3F));
    to[0] = (char)(lead[n] | code);
    return n;
}

bool utf16_is(struct str text)
{
    return str_starts(text, S("\xff\xfe")) || str_starts(text, S("\xfe\xff"));
}

static uint32_t unit_at(struct str text, size_t at, bool little)
{
    uint32_t first = (unsigned char)text.at[at], second = (unsigned char)text.at[at + 1];

    return little ? second << 8 | first : first << 8 | second;
}

/* The code point at `*at`, which goes on behind it. */
static uint32_t next_code(struct str text, size_t *at, bool little)
{
    uint32_t code = unit_at(text, *at, little), second = 0;

    *at += 2;
    if (code < 0xD800 || code >= 0xE000)
        return code;
    if (code < 0xDC00 && text.n - *at >= 2)
        second = unit_at(text, *at, little);
    if (second < 0xDC00 || second >= 0xE000)
        return REPLACEMENT;
    *at += 2;
    return 0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00);
}

struct str utf16_plain(struct arena *arena, struct str text)
{
    bool little = str_starts(text, S("\xff\xfe"));
    size_t at = 2, n = 0;

    if (!utf16_is(text))
        return text;
    /* Two bytes become three at most, four become four; the last one may be half a unit. */
    char *plain = arena_alloc(arena, text.n / 2 * 3 + 4);
    while (text.n - at >= 2) {
        char one[4];
        size_t size = utf8_put(next_code(text, &at, little), one);
        memcpy(plain + n, one, size);
        n += size;
    }
    if (at < text.n)
        n += utf8_put(REPLACEMENT, plain + n);
    return (struct str){plain, n};
}
