/* Searching, splitting and comparing views. */
#include "base/str.h"

#include "base/text/char.h"

#include <stdint.h>

static bool same_nocase(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (char_lower(a[i]) != char_lower(b[i]))
            return false;
    return true;
}

int str_compare(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n > 0 ? memcmp(a.at, b.at, n) : 0;

    if (order != 0)
        return order;
    return a.n < b.n ? -1 : a.n > b.n;
}

int str_order(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

bool str_equal_nocase(struct str a, struct str b)
{
    return a.n == b.n && same_nocase(a.at, b.at, a.n);
}

bool str_starts_nocase(struct str s, struct str prefix)
{
    return s.n >= prefix.n && same_nocase(s.at, prefix.at, prefix.n);
}

bool str_contains_nocase(struct str s, struct str needle)
{
    if (needle.n == 0)
        return true;
    for (size_t i = 0; i + needle.n <= s.n; i++)
        if (same_nocase(s.at + i, needle.at, needle.n))
            return true;
    return false;
}

size_t str_find(struct str s, struct str needle)
{
    if (needle.n == 0)
        return 0;
    const char *hit = s.n > 0 ? memmem(s.at, s.n, needle.at, needle.n) : NULL;
    return hit != NULL ? (size_t)(hit - s.at) : s.n;
}

size_t str_find_char(struct str s, char c)
{
    const char *hit = s.n > 0 ? memchr(s.at, c, s.n) : NULL;
    return hit != NULL ? (size_t)(hit - s.at) : s.n;
}

bool str_is_one_of(struct str s, const struct str *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_equal(s, list[i]))
            return true;
    return false;
}

bool str_any(bool (*is)(struct str, struct str), struct str s, const struct str *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is(s, list[i]))
            return true;
    return false;
}

bool str_is_name(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!char_is_word(s.at[i]))
            return false;
    return s.n > 0 && !char_is_digit(s.at[0]);
}

size_t str_digits(struct str s)
{
    size_t n = 0;

    while (n < s.n && char_is_digit(s.at[n]))
        n++;
    return n;
}

size_t str_last_digits(struct str s)
{
    size_t n = 0;

    while (n < s.n && char_is_digit(s.at[s.n - 1 - n]))
        n++;
    return n;
}

/* The character at the front of `s`, which is not empty; a byte that begins none stands for itself.
 */
static uint32_t first_char(struct str s, size_t *length)
{
    unsigned char lead = (unsigned char)s.at[0];
    size_t n = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    uint32_t code = n == 1 ? lead : lead & (0xffU >> (n + 1));

    for (*length = 1; *length < n && *length < s.n; (*length)++) {
        unsigned char c = (unsigned char)s.at[*length];
        if ((c & 0xc0) != 0x80)
            break;
        code = code << 6 | (c & 0x3f);
    }
    return *length == n ? code : lead;
}

/* East Asian wide and full-width characters (Unicode's EastAsianWidth.txt, whole blocks). */
static bool is_wide(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } wide[] = {
        {0x1100, 0x115f}, {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xa960, 0xa97f},
        {0xac00, 0xd7a3}, {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff01, 0xff60},
        {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
    };

    for (size_t i = 0; i < ARRAY_LEN(wide) && c >= wide[i].first; i++)
        if (c <= wide[i].last)
            return true;
    return false;
}

struct str str_fit(struct str s, size_t width)
{
    size_t n = 0, used = 0, length;

    while (n < s.n) {
        struct str rest = str_part(s, n, s.n);
        used += is_wide(first_char(rest, &length)) ? 2 : 1;
        if (used > width)
            break;
        n += length;
    }
    return str_part(s, 0, n);
}

size_t str_chars(struct str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.at[i] & 0xc0) != 0x80;
    return n;
}

size_t str_width(struct str s)
{
    size_t width = 0, length;

    while (s.n > 0) {
        width += is_wide(first_char(s, &length)) ? 2 : 1;
        s = str_part(s, length, s.n);
    }
    return width;
}

struct str str_trim(struct str s)
{
    while (s.n > 0 && char_is_blank(s.at[0])) {
        s.at++;
        s.n--;
    }
    while (s.n > 0 && char_is_blank(s.at[s.n - 1]))
        s.n--;
    return s;
}

bool str_split(struct str *rest, char sep, struct str *out)
{
    if (rest->at == NULL)
        return false;
    size_t cut = str_find_char(*rest, sep);
    *out = str_part(*rest, 0, cut);
    if (cut < rest->n)
        *rest = str_part(*rest, cut + 1, rest->n);
    else
        *rest = (struct str){NULL, 0};
    return true;
}

struct str str_basename(struct str path)
{
    while (path.n > 1 && path.at[path.n - 1] == '/')
        path.n--;
    for (size_t i = path.n; i > 0; i--)
        if (path.at[i - 1] == '/' && i < path.n)
            return str_part(path, i, path.n);
    return path;
}

enum { DISTANCE_MAX_NAME = 64 };

size_t str_distance(struct str a, struct str b, size_t most)
{
    /* Three rows of the Damerau-Levenshtein table; names are short, longer ones never match. */
    uint8_t row[3][DISTANCE_MAX_NAME + 1];
    uint8_t *before = row[0], *last = row[1], *now = row[2];

    if (a.n > DISTANCE_MAX_NAME || b.n > DISTANCE_MAX_NAME)
        return most + 1;
    for (size_t j = 0; j <= b.n; j++)
        last[j] = (uint8_t)j;
    for (size_t i = 1; i <= a.n; i++) {
        now[0] = (uint8_t)i;
        for (size_t j = 1; j <= b.n; j++) {
            int best = last[j - 1] + (a.at[i - 1] != b.at[j - 1]);
            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a.at[i - 1] == b.at[j - 2] && a.at[i - 2] == b.at[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = (uint8_t)best;
        }
        uint8_t *spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[b.n] <= most ? last[b.n] : most + 1;
}
