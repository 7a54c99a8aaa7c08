/*
 * Text of cells: blanks, quotes, numbers, slots and shapes.
 */
#include "opdb/rows/cell.h"

#include <math.h>
#include <stdio.h>

#include "base/text/char.h"
#include "base/text/num.h"

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
}

struct str cell_trim(struct str text)
{
    while (text.n > 0 && is_space(text.at[0])) {
        text.at++;
        text.n--;
    }
    while (text.n > 0 && is_space(text.at[text.n - 1]))
        text.n--;
    return text;
}

struct str cell_bare(struct str text)
{
    text = cell_trim(text);
    while (text.n > 0 && text.at[0] == '"') {
        text.at++;
        text.n--;
    }
    while (text.n > 0 && text.at[text.n - 1] == '"')
        text.n--;
    return text;
}

/* Digits with single underscores between them, without these; false when there are none. */
static bool read_digits(struct str *rest, char *out, size_t *n)
{
    size_t before = *n;
    bool was_digit = false;

    while (rest->n > 0) {
        char c = rest->at[0];
        bool is_joint = c == '_' && was_digit && rest->n > 1 && char_is_digit(rest->at[1]);
        if (!char_is_digit(c) && !is_joint)
            break;
        was_digit = char_is_digit(c);
        if (was_digit)
            out[(*n)++] = c;
        *rest = str_part(*rest, 1, rest->n);
    }
    return *n > before;
}

static bool read_char(struct str *rest, const char *set, char *out, size_t *n)
{
    if (rest->n == 0 || strchr(set, rest->at[0]) == NULL || rest->at[0] == '\0')
        return false;
    out[(*n)++] = rest->at[0];
    *rest = str_part(*rest, 1, rest->n);
    return true;
}

/* Copies a decimal number without its underscores; false when the text is none. */
static bool spell_plainly(struct str text, char *out, size_t *n)
{
    read_char(&text, "+-", out, n);
    bool has_whole = read_digits(&text, out, n);
    bool has_fraction = read_char(&text, ".", out, n) && read_digits(&text, out, n);
    if (!has_whole && !has_fraction)
        return false;
    if (read_char(&text, "eE", out, n)) {
        read_char(&text, "+-", out, n);
        if (!read_digits(&text, out, n))
            return false;
    }
    return text.n == 0;
}

enum { NUMBER_MAX = 400 }; /* longer texts are no numbers anyone wrote */

static bool odd_number(struct str text, double *out)
{
    struct str word = text;
    char plain[NUMBER_MAX];
    size_t n = 0;

    bool is_negative = word.n > 0 && word.at[0] == '-';
    if (word.n > 0 && (word.at[0] == '-' || word.at[0] == '+'))
        word = str_part(word, 1, word.n);
    bool is_infinite = str_equal_nocase(word, S("inf")) || str_equal_nocase(word, S("infinity"));
    if (str_equal_nocase(word, S("nan")))
        *out = NAN;
    else if (!is_infinite && (text.n >= sizeof(plain) || !spell_plainly(text, plain, &n)))
        return false;
    else if (is_infinite || !num_f64((struct str){plain, n}, out)) /* too large for a double */
        *out = is_negative ? -INFINITY : INFINITY;
    return true;
}

bool cell_number(struct str text, double *out)
{
    text = cell_trim(text);
    if (text.n == 0)
        return false;
    /* The beaten path: num_f64 takes every plain decimal. */
    return num_f64(text, out) || odd_number(text, out);
}

double cell_f64(struct str text)
{
    double value;

    return cell_number(text, &value) ? value : 0;
}

bool cell_i64(struct str text, int64_t *out)
{
    text = cell_trim(text);
    if (text.n > 0 && text.at[0] == '+' && text.n > 1 && char_is_digit(text.at[1]))
        text = str_part(text, 1, text.n);
    return num_i64(text, out);
}

/* x * 1e6 rounded, when no doubt is left about the last digit: below 2^42 the product is off by at
 * most 2^-11, so that a fraction further than 2^-9 from a half rounds the same way. */
static bool micro(double x, uint64_t *out)
{
    double scaled = x * 1e6;

    if (!(scaled >= 0 && scaled < 4398046511104.0))
        return false;
    double whole = floor(scaled), fraction = scaled - whole;
    if (fabs(fraction - 0.5) < 0x1p-9)
        return false;
    *out = num_u64_of(whole) + (fraction > 0.5 ? 1 : 0);
    return true;
}

/* What "%.6f" prints, without its cost where the last digit is beyond doubt. */
size_t cell_print6(char *buf, double value)
{
    uint64_t n;

    if (isnan(value))
        return (size_t)snprintf(buf, CELL_TEXT, "nan");
    if (signbit(value) || !micro(value, &n))
        return (size_t)snprintf(buf, CELL_TEXT, "%.6f", value);
    char digits[24];
    size_t at = sizeof(digits);
    for (int i = 0; i < 6; i++, n /= 10)
        digits[--at] = (char)('0' + n % 10);
    digits[--at] = '.';
    do
        digits[--at] = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    memcpy(buf, digits + at, sizeof(digits) - at);
    buf[sizeof(digits) - at] = '\0';
    return sizeof(digits) - at;
}

struct str cell_text6(struct arena *arena, double value)
{
    char buf[CELL_TEXT];
    size_t n = cell_print6(buf, value);

    return arena_str(arena, (struct str){buf, n});
}

struct cell_slots cell_slots(struct arena *arena, struct str text)
{
    struct str rest = cell_bare(text), one;
    size_t n = 1;

    if (rest.n == 0)
        return (struct cell_slots){NULL, 0};
    for (size_t i = 0; i < rest.n; i++)
        n += rest.at[i] == ';';
    struct cell_slots slots = {ARENA_ARRAY(arena, struct str, n), 0};
    while (slots.n < n && str_split(&rest, ';', &one))
        slots.at[slots.n++] = cell_bare(one);
    return slots;
}

struct str cell_shape(struct arena *arena, struct str slot)
{
    static const struct str spellings[] = {S_INIT("()"),   S_INIT("N/A"),  S_INIT("NA"),
                                           S_INIT("NULL"), S_INIT("None"), S_INIT("none")};

    slot = cell_trim(cell_bare(slot));
    if (slot.n == 0 || str_is_one_of(slot, spellings, ARRAY_LEN(spellings)))
        return S("");
    if (slot.n >= 2 && slot.at[0] == '(' && slot.at[slot.n - 1] == ')')
        slot = str_part(slot, 1, slot.n - 2);
    bool is_plain = slot.n > 0 && slot.at[0] != ',' && slot.at[slot.n - 1] != ',';
    for (size_t i = 0; i < slot.n && is_plain; i++)
        is_plain = !is_space(slot.at[i]) && (slot.at[i] != ',' || slot.at[i + 1] != ',');
    if (is_plain)
        return slot;
    char *out = arena_alloc(arena, slot.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < slot.n; i++) {
        bool is_gap = is_space(slot.at[i]) || slot.at[i] == ',';
        bool had_gap = i > 0 && (is_space(slot.at[i - 1]) || slot.at[i - 1] == ',');
        if (!is_gap && had_gap && n > 0)
            out[n++] = ',';
        if (!is_gap)
            out[n++] = slot.at[i];
    }
    return (struct str){out, n};
}

bool cell_dims(struct arena *arena, struct str slot, struct cell_dims *out)
{
    struct str rest = cell_shape(arena, slot), one;
    size_t n = 1;

    *out = (struct cell_dims){NULL, 0};
    if (rest.n == 0)
        return true;
    for (size_t i = 0; i < rest.n; i++)
        n += rest.at[i] == ',';
    out->at = ARENA_ARRAY(arena, int64_t, n);
    while (out->n < n && str_split(&rest, ',', &one))
        if (!cell_i64(one, &out->at[out->n++]))
            return false;
    return true;
}

struct str cell_dtype(struct arena *arena, struct str text)
{
    text = cell_trim(text);
    if (text.n == 0)
        return S("DT_UNDEFINED");
    return str_starts(text, S("DT_")) ? text : arena_format(arena, "DT_%.*s", STR_ARGS(text));
}

bool cell_is_duration(struct str cell)
{
    double value;

    return cell_number(cell, &value) && value > 0;
}

bool cell_logical(struct arena *arena, struct cell_dims dims, struct str format,
                  struct cell_dims *out)
{
    *out = dims;
    if (!str_equal(format, S("FRACTAL_NZ")))
        return true;
    if (dims.n != 4)
        return false;
    *out = (struct cell_dims){ARENA_ARRAY(arena, int64_t, 2), 2};
    return !__builtin_mul_overflow(dims.at[1], dims.at[2], &out->at[0]) &&
           !__builtin_mul_overflow(dims.at[0], dims.at[3], &out->at[1]);
}
