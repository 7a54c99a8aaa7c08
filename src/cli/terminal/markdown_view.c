/*
 * Markdown, line by line, as blocks of a report.
 */
#include "cli/terminal/markdown_view.h"

#include "base/text/char.h"

struct viewer {
    struct report *r;
    struct table *table; /* the one that is being read */
    bool is_apart;       /* a blank line came before */
};

/* Takes the next cell of a row off its front; false after the last. A backslash keeps what follows
 * it from ending the cell, and goes. */
static bool take_cell(struct arena *arena, struct str *row, struct str *cell)
{
    size_t end = 0, n = 0;

    while (end < row->n && row->at[end] != '|')
        end += row->at[end] == '\\' && end + 1 < row->n ? 2 : 1;
    if (end >= row->n)
        return false;
    char *text = ARENA_ARRAY(arena, char, end + 1);
    for (size_t i = 0; i < end; i++) {
        i += row->at[i] == '\\' && i + 1 < end;
        text[n++] = row->at[i];
    }
    *cell = str_trim((struct str){text, n});
    *row = str_part(*row, end + 1, row->n);
    return true;
}

static bool is_rule(struct str row)
{
    for (size_t i = 0; i < row.n; i++)
        if (strchr("|-: ", row.at[i]) == NULL)
            return false;
    return true;
}

static void begin_table(struct viewer *v, struct str row)
{
    struct str rest = row, cell;
    struct column *heads = ARENA_ARRAY(&v->r->arena, struct column, row.n + 1);
    size_t n = 0;

    while (take_cell(&v->r->arena, &rest, &cell))
        heads[n++] = (struct column){arena_cstr(&v->r->arena, cell), COLUMN_RIGHT, UNIT_PLAIN};
    if (n == 0)
        return;
    heads[0].type = COLUMN_TEXT;
    v->table = report_table(v->r, heads, n);
}

/* Columns are aligned as numbers while all their cells are. */
static void view_add_row(struct viewer *v, struct str row)
{
    struct str cell;

    for (size_t c = 0; c < v->table->n_columns; c++) {
        if (!take_cell(&v->r->arena, &row, &cell))
            cell = S("");
        if (cell.n == 0 || (!char_is_digit(cell.at[0]) && !str_equal(cell, S("-"))))
            v->table->columns[c].type = COLUMN_TEXT;
        table_text(v->r, v->table, cell);
    }
}

static void add_line(struct viewer *v, struct str line)
{
    if (str_starts(line, S("|"))) {
        struct str row = str_part(line, 1, line.n);
        if (v->table == NULL)
            begin_table(v, row);
        else if (!is_rule(row))
            view_add_row(v, row);
        return;
    }
    v->table = NULL;
    if (str_starts(line, S("#"))) {
        while (str_starts(line, S("#")))
            line = str_part(line, 1, line.n);
        report_heading(v->r, str_trim(line));
    } else if (line.n > 0 && v->is_apart) {
        report_text(v->r, line);
    } else if (line.n > 0) {
        report_line_text(v->r, line);
    }
    v->is_apart = line.n == 0;
}

void markdown_view(struct report *r, struct str markdown)
{
    struct viewer v = {.r = r, .is_apart = true};
    struct str line;

    while (str_split(&markdown, '\n', &line))
        add_line(&v, line);
}
