/* Signs that stand for others. */
#include "base/text/ascii.h"

static const struct sign {
    struct str from, to;
} signs[] = {
    {S_INIT("µ"), S_INIT("u")},  {S_INIT("μ"), S_INIT("u")},  {S_INIT("×"), S_INIT("x")},
    {S_INIT("·"), S_INIT("|")},  {S_INIT("–"), S_INIT("-")},  {S_INIT("—"), S_INIT("-")},
    {S_INIT("→"), S_INIT(">")},  {S_INIT("≈"), S_INIT("~")},  {S_INIT("±"), S_INIT("+-")},
    {S_INIT("≤"), S_INIT("<=")}, {S_INIT("≥"), S_INIT(">=")}, {S_INIT("─"), S_INIT("-")},
    {S_INIT("│"), S_INIT("|")},  {S_INIT("├"), S_INIT("+")},  {S_INIT("┤"), S_INIT("+")},
    {S_INIT("└"), S_INIT("+")},  {S_INIT("┘"), S_INIT("+")},  {S_INIT("┌"), S_INIT("+")},
    {S_INIT("┐"), S_INIT("+")},  {S_INIT("█"), S_INIT("#")},
};

static void put_sign(struct text *to, struct str sign, struct str rest)
{
    bool is_alone = rest.n == 0 || rest.at[0] == ' ';

    if (str_equal(sign, S("…"))) { /* "… and 3 more", but a name without its middle */
        text_put(to, is_alone ? S("...") : S("~"));
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
        if (str_equal(sign, signs[i].from)) {
            text_put(to, signs[i].to);
            return;
        }
    }
    text_repeat(to, '?', str_width(sign));
}

void ascii_put(struct text *to, struct str s)
{
    while (s.n > 0) {
        size_t n = 0;
        while (n < s.n && (unsigned char)s.at[n] < 0x80)
            n++;
        text_put(to, str_part(s, 0, n));
        s = str_part(s, n, s.n);
        if (s.n == 0)
            break;
        for (n = 1; n < s.n && ((unsigned char)s.at[n] & 0xc0) == 0x80; n++)
            continue;
        put_sign(to, str_part(s, 0, n), str_part(s, n, s.n));
        s = str_part(s, n, s.n);
    }
}
