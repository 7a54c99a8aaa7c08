/*
 * Numbers and units as tools print them. See ncu_page.h.
 */
#include "gpu/ncu/ncu_page.h"

#include "base/text/char.h"
#include "base/text/num.h"

static const struct {
    struct str name, base;
    double factor;
} units[] = {
    {S_INIT("ns"), S_INIT("ns"), 1},        {S_INIT("nsecond"), S_INIT("ns"), 1},
    {S_INIT("us"), S_INIT("ns"), 1e3},      {S_INIT("usecond"), S_INIT("ns"), 1e3},
    {S_INIT("ms"), S_INIT("ns"), 1e6},      {S_INIT("msecond"), S_INIT("ns"), 1e6},
    {S_INIT("s"), S_INIT("ns"), 1e9},       {S_INIT("second"), S_INIT("ns"), 1e9},
    {S_INIT("Kbyte"), S_INIT("byte"), 1e3}, {S_INIT("Mbyte"), S_INIT("byte"), 1e6},
    {S_INIT("Gbyte"), S_INIT("byte"), 1e9}, {S_INIT("Tbyte"), S_INIT("byte"), 1e12},
    {S_INIT("Khz"), S_INIT("hz"), 1e3},     {S_INIT("Mhz"), S_INIT("hz"), 1e6},
    {S_INIT("Ghz"), S_INIT("hz"), 1e9},     {S_INIT("Thz"), S_INIT("hz"), 1e12},
};

static const struct {
    struct str name;
    double factor; /* to "/s" */
} rates[] = {
    {S_INIT("s"), 1},    {S_INIT("second"), 1},    {S_INIT("ms"), 1e3}, {S_INIT("msecond"), 1e3},
    {S_INIT("us"), 1e6}, {S_INIT("usecond"), 1e6}, {S_INIT("ns"), 1e9}, {S_INIT("nsecond"), 1e9},
};

/* Whether `group` parts the digits of `text` into thousands: "1.230.503". */
static bool is_grouped(struct str text, char group)
{
    struct str rest = text, one;

    for (size_t i = 0; str_split(&rest, group, &one); i++) {
        if (i == 0 ? one.n == 0 || one.n > 3 : one.n != 3)
            return false;
        for (size_t k = 0; k < one.n; k++)
            if (!char_is_digit(one.at[k]))
                return false;
    }
    return true;
}

int gpu_number_evidence(struct str text)
{
    size_t commas = 0, points = 0, last = 0;

    str_skip(&text, S("-"));
    for (size_t i = 0; i < text.n; i++) {
        if (text.at[i] == ',' || text.at[i] == '.') {
            commas += text.at[i] == ',';
            points += text.at[i] == '.';
            last = i;
        } else if (!char_is_digit(text.at[i])) {
            return 0;
        }
    }
    if (commas + points == 0)
        return 0;
    int for_point = text.at[last] == '.' ? 1 : -1;
    char group = for_point > 0 ? ',' : '.';
    /* Both signs: the last one parts the fraction. One sign twice: it parts thousands. One sign
     * once: three digits behind it prove nothing. */
    if (commas > 0 && points > 0)
        return is_grouped(str_part(text, 0, last), group) ? for_point : 0;
    if (commas + points > 1)
        return is_grouped(text, text.at[last]) ? -for_point : 0;
    return text.n - last - 1 == 3 ? 0 : for_point;
}

bool gpu_number(struct str text, enum gpu_number_style style, double *out)
{
    char plain[64], group = style == GPU_NUMBERS_ENGLISH ? ',' : '.';
    size_t n = 0;

    text = str_trim(text);
    if (num_f64(text, out) && style == GPU_NUMBERS_ENGLISH)
        return true;
    if (text.n > sizeof(plain) || num_is_missing(text))
        return false;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.at[i];
        if (c == group)
            continue;
        plain[n++] = c == ',' ? '.' : c;
    }
    return num_f64((struct str){plain, n}, out);
}

struct str gpu_base_unit(struct arena *arena, struct str unit, double *factor)
{
    size_t slash = str_find_char(unit, '/');
    struct str top = str_part(unit, 0, slash), base = top;
    struct str below = str_part(unit, slash + 1, unit.n);
    bool is_rate = false;

    *factor = 1;
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_equal(units[i].name, top)) {
            base = units[i].base;
            *factor = units[i].factor;
        }
    if (slash >= unit.n)
        return base;
    for (size_t i = 0; i < ARRAY_LEN(rates); i++)
        if (str_equal(rates[i].name, below)) {
            *factor *= rates[i].factor;
            is_rate = true;
        }
    return arena_format(arena, "%.*s/%.*s", STR_ARGS(base), STR_ARGS(is_rate ? S("s") : below));
}
