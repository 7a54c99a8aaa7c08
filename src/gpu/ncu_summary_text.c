/*
 * The kernel summary of `nsys stats` in its other forms, as CSV.
 *
 *      Time (%)  Total Time (ns)  Instances  Med (ns)  Name       --format column, the default
 *      --------  ---------------  ---------  --------  ----
 *          75.0        3,000,000         10   299,500  gemm
 *
 *     | Time (%) | Total Time (ns) | … |                          --format table, between rulers
 *
 * Cells may also be separated by tabs (--format tsv) or semicolons (spreadsheets of countries that
 * write a comma for the decimal point).
 */
#include "base/vec.h"
#include "gpu/ncu_page.h"

enum { COLUMNS = 32 };

struct layout {
    char separator;                      /* 0: columns have fixed places */
    size_t begin[COLUMNS], end[COLUMNS]; /* of these */
    size_t n;
};

bool ncu_is_text_summary(struct str line)
{
    struct str head = str_trim(line);

    if (str_starts(head, S("|")))
        head = str_trim(str_part(head, 1, head.n));
    return (str_starts(head, S("Time")) || str_starts(head, S("\"Time"))) &&
           str_contains(head, S("Total Time (")) && str_contains(head, S("Instances")) &&
           str_contains(head, S("Name")) && !ncu_is_summary(line);
}

static bool is_ruler(struct str line)
{
    struct str text = str_trim(line);

    for (size_t i = 0; i < text.n; i++)
        if (text.at[i] != '-' && text.at[i] != '+' && text.at[i] != ' ')
            return false;
    return text.n > 0;
}

static struct layout layout_of(struct str header, struct str next)
{
    static const char separators[] = {'\t', ';', '|'};
    struct layout l = {0};

    for (size_t i = 0; i < ARRAY_LEN(separators) && l.separator == 0; i++)
        if (str_find_char(header, separators[i]) < header.n)
            l.separator = separators[i];
    if (l.separator != 0)
        return l;
    /* Columns are as wide as their dashes; the last one has no end. */
    for (size_t i = 0; i < next.n && l.n < COLUMNS; i++) {
        bool is_dash = next.at[i] == '-', was_dash = i > 0 && next.at[i - 1] == '-';
        if (is_dash && !was_dash)
            l.begin[l.n++] = i;
        if (is_dash && l.n > 0)
            l.end[l.n - 1] = i + 1;
    }
    if (l.n > 0)
        l.end[l.n - 1] = SIZE_MAX;
    return l;
}

static void put_row(struct ncu_rows *rows, const struct layout *l, struct str line)
{
    struct str rest = str_trim(line), cell;

    if (l->separator == 0) {
        for (size_t i = 0; i < l->n; i++)
            ncu_add_cell(rows, str_trim(str_part(line, l->begin[i], l->end[i] - l->begin[i])));
    } else {
        if (l->separator == '|' && str_starts(rest, S("|")))
            rest = str_part(rest, 1, rest.n - 1 - str_ends(rest, S("|")));
        while (str_split(&rest, l->separator, &cell)) {
            cell = str_trim(cell);
            bool is_quoted = cell.n > 1 && cell.at[0] == '"' && cell.at[cell.n - 1] == '"';
            ncu_add_cell(rows, is_quoted ? str_part(cell, 1, cell.n - 2) : cell);
        }
    }
    vec_push(rows, '\n');
}

struct str ncu_summary_rows(struct arena *arena, struct str page)
{
    struct ncu_rows rows = {0};
    struct str rest = page, header, line;

    str_split(&rest, '\n', &header);
    line = str_part(rest, 0, str_find_char(rest, '\n'));
    struct layout l = layout_of(header, line);
    put_row(&rows, &l, header);
    while (rest.n > 0 && str_split(&rest, '\n', &line))
        if (!is_ruler(line) && str_trim(line).n > 0)
            put_row(&rows, &l, line);
    struct str out = arena_str(arena, (struct str){rows.at, rows.n});
    vec_free(&rows);
    return out;
}
