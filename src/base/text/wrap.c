/*
 * wrap: breaking lines at words, and columns of tables made narrower.
 */
#include "base/text/wrap.h"

#include "base/tables/vec.h"
#include "base/text/char.h"

enum {
    HANG = 2,        /* of lines after the first */
    LAST_LEAST = 24, /* a column of wrapped text is not made narrower than this, */
    TEXT_GOOD = 24,  /* another column of text stays this wide while others can be dropped, */
    TEXT_LEAST = 14, /* and at least this */
    LINES_MOST = 3,  /* of such a column */
};

/* Bytes of the escape sequence at the front (CSI ... letter, OSC ... ESC \), or 0. */
static size_t escape_length(struct str s)
{
    if (s.n < 2 || s.at[0] != '\033')
        return 0;
    size_t i = 2;
    if (s.at[1] == '[') {
        while (i < s.n && (unsigned char)(s.at[i] - 0x40) > 0x3e)
            i++;
        return i < s.n ? i + 1 : s.n;
    }
    if (s.at[1] != ']')
        return 2;
    while (i < s.n && s.at[i] != '\a' && !(s.at[i] == '\\' && s.at[i - 1] == '\033'))
        i++;
    return i < s.n ? i + 1 : s.n;
}

/* A character or an escape sequence at the front, and the columns it takes. */
static size_t next_piece(struct str s, size_t *width)
{
    size_t n = escape_length(s);

    *width = 0;
    if (n > 0)
        return n;
    n = 1;
    while (n < s.n && ((unsigned char)s.at[n] & 0xc0) == 0x80)
        n++;
    *width = str_width(str_part(s, 0, n));
    return n;
}

static size_t columns_of(struct str s)
{
    size_t total = 0;

    for (size_t i = 0, width; i < s.n; total += width)
        i += next_piece(str_part(s, i, s.n), &width);
    return total;
}

/* How much of the text stands on a line with `room` columns, at least one piece; what is skipped
 * before the next line is in `next`. */
static size_t fit_line(struct str s, size_t room, size_t *next)
{
    size_t used = 0, i = 0, word = 0, part = 0, width;

    while (i < s.n) {
        size_t n = next_piece(str_part(s, i, s.n), &width);
        /* Between a number and its percent sign no line ends. */
        bool is_percent = i > 0 && char_is_digit(s.at[i - 1]) && i + 1 < s.n && s.at[i + 1] == '%';
        bool is_gap = s.at[i] == ' ' && i > 0 && s.at[i - 1] != ' ' && !is_percent;
        if (is_gap || (width == 2 && i > 0)) /* or between wide characters */
            word = i;
        if (used + width > room && i > 0)
            break;
        used += width;
        i += n;
        if (n == 1 && memchr("/,_:|", s.at[i - 1], 5) != NULL)
            part = i;
    }
    if (i < s.n && word > 0)
        i = word;
    else if (i < s.n && part > 0)
        i = part;
    for (*next = i; *next < s.n && i < s.n && s.at[*next] == ' ';)
        ++*next;
    return i;
}

void wrap_from(struct text *to, struct str words, size_t from, size_t width)
{
    size_t room = width > from ? width - from : 1, next;

    if (width == 0 || columns_of(words) <= room) {
        text_put(to, words);
        return;
    }
    while (words.n > 0) {
        text_put(to, str_part(words, 0, fit_line(words, room, &next)));
        words = str_part(words, next, words.n);
        if (words.n == 0)
            break;
        text_char(to, '\n');
        text_repeat(to, ' ', from);
    }
}

/* Where lines after the first begin. */
static size_t hang_of(struct str line, size_t width)
{
    size_t indent = 0, i;

    while (indent < line.n && line.at[indent] == ' ')
        indent++;
    for (i = indent; i + 2 < line.n; i++) {
        if (line.at[i] != ' ' || line.at[i + 1] != ' ')
            continue;
        while (i < line.n && line.at[i] == ' ')
            i++;
        size_t column = columns_of(str_part(line, 0, i));
        if (column <= width / 2)
            return column;
        break;
    }
    return indent + HANG <= width / 2 ? indent + HANG : 0;
}

void wrap_line(struct text *to, struct str line, size_t width)
{
    if (width == 0 || columns_of(line) <= width) {
        text_put(to, line);
    } else {
        size_t hang = hang_of(line, width), next;
        size_t n = fit_line(line, width, &next);
        text_put(to, str_part(line, 0, n));
        if (next < line.n) {
            text_char(to, '\n');
            text_repeat(to, ' ', hang);
            wrap_from(to, str_part(line, next, line.n), hang, width);
        }
    }
    text_char(to, '\n');
}

void wrap_shorten(struct text *to, struct str name, size_t width)
{
    size_t total = str_width(name), left = width > 0 ? (width - 1) / 2 : 0;

    if (width == 0 || total <= width) {
        text_put(to, name);
        return;
    }
    size_t skip = total - (width - 1 - left); /* columns before the end that is kept */
    struct str tail = str_part(name, str_fit(name, skip).n, name.n);
    while (str_width(tail) > width - 1 - left) /* a wide character in the middle */
        tail = str_part(tail, str_fit(tail, 2).n, tail.n);
    text_put(to, str_fit(name, left));
    text_put(to, S("…"));
    text_put(to, tail);
}

static size_t line_width(const struct wrap_column *columns, size_t n)
{
    size_t total = 0;

    for (size_t c = 0; c < n; c++)
        total += columns[c].is_left_out ? 0 : columns[c].width + 2;
    return total;
}

/* Takes up to `excess` from a column, but leaves `least`. */
static size_t narrow(struct wrap_column *column, size_t least, size_t excess)
{
    size_t spare = column->width > least ? column->width - least : 0;
    size_t taken = spare < excess ? spare : excess;

    column->width -= taken;
    column->is_narrow |= taken > 0;
    return excess - taken;
}

/* Columns of text become narrower, the widest first. What is still too much is returned. */
static size_t narrow_texts(struct wrap_column *columns, size_t n, size_t least, size_t excess)
{
    while (excess > 0) {
        struct wrap_column *widest = NULL;
        for (size_t c = 0; c < n; c++)
            if (!columns[c].is_right && !columns[c].is_left_out &&
                (widest == NULL || columns[c].width > widest->width))
                widest = &columns[c];
        if (widest == NULL || widest->width <= least)
            break;
        excess = narrow(widest, widest->width - 1, 1) + excess - 1;
    }
    return excess;
}

/* Leaves out columns of that rank, from the right, until nothing is too much. */
static size_t drop_columns(struct wrap_column *columns, size_t n, unsigned rank, size_t excess)
{
    for (size_t c = n; excess > 0 && c-- > 1;) {
        if (columns[c].drop < rank || columns[c].is_left_out)
            continue;
        columns[c].is_left_out = true;
        size_t freed = columns[c].width + 2;
        excess = freed < excess ? excess - freed : 0;
    }
    return excess;
}

/* What columns that were left out make free goes back to those that were narrowed, the first first.
 */
static void widen(struct wrap_column *columns, size_t n, size_t width)
{
    size_t total = line_width(columns, n), spare = total < width ? width - total : 0;

    for (size_t c = 0; c < n; c++) {
        if (!columns[c].is_narrow || columns[c].is_left_out)
            continue;
        size_t lost = columns[c].full - columns[c].width, given = lost < spare ? lost : spare;
        columns[c].width += given;
        columns[c].is_narrow = given < lost;
        spare -= given;
    }
}

void wrap_fit(struct wrap_column *columns, size_t n, size_t width)
{
    size_t total = line_width(columns, n);

    if (width == 0 || n == 0 || total <= width)
        return;
    for (size_t c = 0; c < n; c++)
        columns[c].full = columns[c].width;
    size_t excess = total - width;
    bool is_kept = !columns[n - 1].is_right && n > 1;
    if (is_kept)
        excess = narrow(&columns[n - 1], LAST_LEAST, excess);
    excess = narrow_texts(columns, n, TEXT_GOOD, excess);
    excess = drop_columns(columns, n, 2, excess);
    excess = drop_columns(columns, n, 1, excess);
    excess = narrow_texts(columns, n, TEXT_LEAST, excess);
    excess = drop_columns(columns, is_kept ? n - 1 : n, 0, excess);
    narrow_texts(columns, n, 1, excess);
    widen(columns, n, width);
}

/* The cell as lines of at most the column's width. Text takes up to LINES_MOST, or loses its
 * middle; behind the last column there is always room for more than a name. */
static void fold_cell(struct text *to, const struct wrap_column *column, struct str cell,
                      bool is_last)
{
    if (!column->is_narrow || str_width(cell) <= column->width) {
        text_put(to, cell);
        return;
    }
    wrap_from(to, cell, 0, column->width);
    size_t lines = 1;
    bool has_long_word = false; /* a name, which would break inside */
    for (struct str rest = cell, word; str_split(&rest, ' ', &word);)
        has_long_word = has_long_word || str_width(word) > column->width;
    for (size_t i = 0; i < to->n; i++)
        lines += to->at[i] == '\n';
    /* Not a path, which people copy, nor a sentence. */
    bool is_name = str_find_char(cell, ' ') == cell.n && str_find_char(cell, '/') == cell.n;
    if ((lines > LINES_MOST || has_long_word) && (!is_last || is_name)) {
        text_clear(to);
        wrap_shorten(to, cell, column->width);
    }
}

/* One line of a row, of what is left of its cells; false when nothing is. */
static bool put_row_line(struct text *to, const struct wrap_column *columns, size_t n,
                         struct str *rest)
{
    bool is_any = false;
    struct str line;

    for (size_t c = 0; c < n; c++) {
        if (columns[c].is_left_out)
            continue;
        if (!str_split(&rest[c], '\n', &line))
            line = S("");
        size_t width = columns_of(line),
               pad = width < columns[c].width ? columns[c].width - width : 0;
        text_repeat(to, ' ', 2 + (columns[c].is_right ? pad : 0));
        text_put(to, line);
        text_repeat(to, ' ', columns[c].is_right ? 0 : pad);
        is_any |= rest[c].at != NULL;
    }
    while (to->n > 0 && to->at[to->n - 1] == ' ')
        to->n--;
    text_char(to, '\n');
    return is_any;
}

void wrap_row(struct text *to, const struct wrap_column *columns, size_t n, const struct str *cells)
{
    struct text *folded = mem_grow(NULL, sizeof(*folded), n);
    struct str *rest = mem_grow(NULL, sizeof(*rest), n);

    for (size_t c = 0; c < n; c++) {
        folded[c] = (struct text){0};
        fold_cell(&folded[c], &columns[c], cells[c], c + 1 == n);
        rest[c] = folded[c].n > 0 ? text_view(&folded[c]) : S("");
    }
    while (put_row_line(to, columns, n, rest))
        continue;
    for (size_t c = 0; c < n; c++)
        text_free(&folded[c]);
    mem_free(rest);
    mem_free(folded);
}

void wrap_left_out(struct text *to, const struct wrap_column *columns, size_t n,
                   const struct str *heads, size_t width)
{
    struct text line = {0};

    for (size_t c = 0; c < n; c++) {
        if (!columns[c].is_left_out)
            continue;
        text_put(&line, line.n == 0 ? S("  hidden in this width: ") : S(", "));
        text_put(&line, heads[c]);
    }
    if (line.n > 0)
        wrap_line(to, text_view(&line), width);
    text_free(&line);
}
