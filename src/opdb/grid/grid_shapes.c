/*
 * Cells of shapes and data types, texts of rules, and the memory that operands take.
 */
#include "opdb/grid/grid_shapes.h"

#include "base/text/num.h"
#include "opdb/rows/cell.h"
#include "ops/dtype.h"

static bool is_nothing(struct str s)
{
    static const struct str words[] = {S_INIT(""),     S_INIT("N/A"),  S_INIT("NA"),
                                       S_INIT("NULL"), S_INIT("NONE"), S_INIT("UNDEFINED")};

    return STR_ANY(str_equal_nocase, s, words);
}

static struct str without_quotes(struct str s)
{
    s = str_trim(s);
    if (s.n >= 2 && s.at[0] == '"' && s.at[s.n - 1] == '"')
        s = str_trim(str_part(s, 1, s.n - 2));
    return s;
}

/* Up to the next ';' that is not in parentheses. */
static struct str next_slot(struct str *rest)
{
    int64_t depth = 0;
    size_t n = 0;

    for (; n < rest->n && (rest->at[n] != ';' || depth > 0); n++)
        depth += rest->at[n] == '(' ? 1 : rest->at[n] == ')' && depth > 0 ? -1 : 0;
    struct str slot = str_part(*rest, 0, n);
    *rest = str_part(*rest, n + 1, rest->n);
    return slot;
}

static bool is_gap(char c)
{
    return c == ',' || c == ' ' || c == '\t' || c == '(' || c == ')';
}

static bool parse_slot(struct arena *arena, struct str slot, struct grid_shape *out)
{
    *out = (struct grid_shape){0};
    slot = cell_trim(cell_bare(slot));
    if (is_nothing(slot))
        return true;
    int64_t *dim = ARENA_ARRAY(arena, int64_t, slot.n / 2 + 1);
    out->dim = dim;
    for (size_t i = 0; i < slot.n;) {
        size_t from = i;
        while (i < slot.n && !is_gap(slot.at[i]))
            i++;
        if (i > from && !num_i64(str_part(slot, from, i - from), &dim[out->n++]))
            return false;
        i++;
    }
    return true;
}

bool grid_shapes_parse(struct arena *arena, struct str cell, struct grid_shapes *out)
{
    struct str text = str_trim(cell);
    bool is_good = true;
    size_t n = 1;

    *out = (struct grid_shapes){0};
    if (is_nothing(text) || is_nothing(without_quotes(text)))
        return true;
    text = without_quotes(text);
    for (size_t i = 0; i < text.n; i++)
        n += text.at[i] == ';';
    out->at = ARENA_ARRAY(arena, struct grid_shape, n);
    for (struct str rest = text; rest.n > 0;)
        is_good &= parse_slot(arena, next_slot(&rest), &out->at[out->n++]);
    return is_good;
}

struct str grid_shapes_text(struct arena *arena, struct grid_shapes shapes)
{
    size_t most = 1;

    for (size_t i = 0; i < shapes.n; i++)
        most += 1 + shapes.at[i].n * 21; /* 20 characters of a number and a comma */
    char *text = arena_alloc(arena, most), *at = text;
    for (size_t i = 0; i < shapes.n; i++) {
        if (i > 0)
            *at++ = ';';
        for (size_t k = 0; k < shapes.at[i].n; k++) {
            char digits[20];
            int64_t v = shapes.at[i].dim[k];
            uint64_t left = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
            size_t n = 0;
            do
                digits[n++] = (char)('0' + left % 10);
            while ((left /= 10) > 0);
            if (k > 0)
                *at++ = ',';
            if (v < 0)
                *at++ = '-';
            while (n > 0)
                *at++ = digits[--n];
        }
    }
    return (struct str){text, (size_t)(at - text)};
}

static int compare_shape(struct grid_shape a, struct grid_shape b)
{
    for (size_t i = 0; i < a.n && i < b.n; i++)
        if (a.dim[i] != b.dim[i])
            return a.dim[i] < b.dim[i] ? -1 : 1;
    return (a.n > b.n) - (a.n < b.n);
}

static size_t counted(struct grid_shapes s)
{
    return s.n > 0 && s.at[s.n - 1].n == 0 ? s.n - 1 : s.n;
}

int grid_shapes_compare(struct grid_shapes a, struct grid_shapes b)
{
    size_t n_a = counted(a), n_b = counted(b);

    for (size_t i = 0; i < n_a && i < n_b; i++) {
        int order = compare_shape(a.at[i], b.at[i]);
        if (order != 0)
            return order;
    }
    return (n_a > n_b) - (n_a < n_b);
}

struct grid_texts grid_texts_split(struct arena *arena, struct str cell)
{
    struct str text = cell_bare(cell), part;
    struct grid_texts out = {0};
    size_t n = 1;

    if (text.n == 0)
        return out;
    for (size_t i = 0; i < text.n; i++)
        n += text.at[i] == ';';
    out.at = ARENA_ARRAY(arena, struct str, n);
    while (str_split(&text, ';', &part))
        out.at[out.n++] = str_trim(part);
    return out;
}

bool grid_text_is_absent(struct str text)
{
    static const struct str words[] = {S_INIT(""), S_INIT("NULL"), S_INIT("NONE"),
                                       S_INIT("UNDEFINED"), S_INIT("DT_UNDEFINED")};

    return STR_ANY(str_equal_nocase, text, words);
}

bool grid_shape_part(struct str *rest, struct str *part)
{
    while (rest->n > 0) {
        int64_t depth = 0;
        size_t n = 0;
        for (; n < rest->n && (rest->at[n] != ',' || depth != 0); n++)
            depth += rest->at[n] == '(' ? 1 : rest->at[n] == ')' ? -1 : 0;
        *part = str_trim(str_part(*rest, 0, n));
        *rest = str_part(*rest, n + 1, rest->n);
        if (part->n > 0)
            return true;
    }
    return false;
}

/* The parenthesis that opens `s` is closed by its last character. */
static bool is_enclosed(struct str s)
{
    int64_t depth = 0;

    if (s.n < 2 || s.at[0] != '(' || s.at[s.n - 1] != ')')
        return false;
    for (size_t i = 0; i + 1 < s.n; i++) {
        depth += s.at[i] == '(' ? 1 : s.at[i] == ')' ? -1 : 0;
        if (depth == 0)
            return false;
    }
    return depth == 1;
}

struct str grid_shape_inside(struct str shape)
{
    struct str s = str_trim(shape);
    int64_t open = 0;

    for (size_t i = 0; i < s.n; i++)
        open += s.at[i] == '(' ? 1 : s.at[i] == ')' ? -1 : 0;
    for (; open > 0 && s.n > 0 && s.at[0] == '('; open--)
        s = str_trim(str_part(s, 1, s.n));
    for (; open < 0 && s.n > 0 && s.at[s.n - 1] == ')'; open++)
        s = str_trim(str_part(s, 0, s.n - 1));
    while (is_enclosed(s))
        s = str_trim(str_part(s, 1, s.n - 2));
    return s;
}

enum { OTHER_BYTES = 2 };

int64_t grid_dtype_bytes(struct str dtype)
{
    unsigned bits = dtype_bits(dtype_of(dtype));

    return bits >= 8 ? bits / 8 : OTHER_BYTES;
}

struct grid_texts grid_dtype_list(struct arena *arena, struct str cell)
{
    struct grid_texts out = {.at = ARENA_ARRAY(arena, struct str, cell.n / 2 + 1)};

    cell = cell_bare(cell);
    for (size_t i = 0; i < cell.n;) {
        size_t from = i;
        while (i < cell.n && memchr("; \t\r\n", cell.at[i], 5) == NULL)
            i++;
        if (i > from)
            out.at[out.n++] = str_part(cell, from, i - from);
        i++;
    }
    return out;
}

/* Clamps at the ends, as nanos_add() does, instead of wrapping. */
static int64_t multiply(int64_t a, int64_t b)
{
    int64_t product;

    if (__builtin_mul_overflow(a, b, &product))
        return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
    return product;
}

int64_t grid_memory_bytes(struct grid_shapes shapes, struct grid_texts types)
{
    int64_t sum = 0;

    for (size_t i = 0; i < shapes.n; i++) {
        if (shapes.at[i].n == 0)
            continue;
        int64_t elements = 1;
        for (size_t k = 0; k < shapes.at[i].n; k++)
            elements = multiply(elements, shapes.at[i].dim[k]);
        int64_t size = i < types.n ? grid_dtype_bytes(types.at[i]) : OTHER_BYTES;
        sum = nanos_add(sum, multiply(elements, size));
    }
    return sum;
}

struct str grid_memory_text(struct arena *arena, int64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB"};
    int power = 0;

    while (power < 3 && bytes >= (int64_t)1 << (10 * (power + 1)))
        power++;
    if (power == 0)
        return arena_format(arena, "%lld B", (long long)bytes);
    return arena_format(arena, "%.2f %s", (double)bytes / (double)((int64_t)1 << (10 * power)),
                        units[power - 1]);
}
