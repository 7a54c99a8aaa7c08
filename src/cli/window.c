#include "cli/window.h"

#include "base/num.h"

static bool take_steps(struct str text, struct convert_steps *out)
{
    size_t dash = str_find_char(text, '-');
    struct str last = str_part(text, dash + 1, text.n);

    if (!num_i64(str_part(text, 0, dash), &out->first) || out->first < 0)
        return false;
    if (dash == text.n)
        out->last = out->first;
    else if (last.n == 0)
        out->last = INT64_MAX;
    else if (!num_i64(last, &out->last))
        return false;
    return out->last >= out->first;
}

size_t window_steps(const char *text, struct arena *arena, struct convert_steps **out)
{
    struct str rest = str_of(text), part;
    size_t most = 1, n = 0;

    for (const char *c = text; *c != '\0'; c++)
        most += *c == ',';
    *out = ARENA_ARRAY(arena, struct convert_steps, most);
    while (str_split(&rest, ',', &part))
        if (!take_steps(str_trim(part), &(*out)[n++]))
            return 0;
    return n;
}

static const struct time_unit {
    struct str name;
    const char *exponent; /* of ten, from nanoseconds */
} units[] = {{S_INIT("ns"), "e0"}, {S_INIT("us"), "e3"}, {S_INIT("ms"), "e6"}, {S_INIT("s"), "e9"}};

/* Takes the unit off the end of `text`; NULL when there is none. */
static const struct time_unit *take_unit(struct str *text)
{
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_ends(*text, units[i].name)) {
            text->n -= units[i].name.n;
            return &units[i];
        }
    return NULL;
}

static bool take_time(struct str number, const struct time_unit *unit, nanos *out)
{
    char text[64];

    number = str_trim(number);
    if (number.n == 0 || number.n > 40)
        return false;
    for (size_t i = 0; i < number.n; i++)
        if (strchr("0123456789.", number.at[i]) == NULL)
            return false;
    if (unit == NULL)
        return num_ns(number, out) && *out == 0;
    memcpy(text, number.at, number.n);
    memcpy(text + number.n, unit->exponent, 3);
    return num_ns(str_of(text), out);
}

bool window_range(const char *text, struct interval *out)
{
    struct str s = str_trim(str_of(text));
    size_t dash = str_find_char(s, '-');
    struct str from = str_trim(str_part(s, 0, dash)), to = str_trim(str_part(s, dash + 1, s.n));

    if (dash == s.n || (from.n == 0 && to.n == 0))
        return false;
    bool has_from = from.n > 0, has_to = to.n > 0;
    const struct time_unit *to_unit = take_unit(&to), *from_unit = take_unit(&from);
    *out = (struct interval){0, INT64_MAX};
    if (has_from && !take_time(from, from_unit != NULL ? from_unit : to_unit, &out->begin))
        return false;
    if (has_to && !take_time(to, to_unit != NULL ? to_unit : from_unit, &out->end))
        return false;
    return out->begin < out->end;
}
