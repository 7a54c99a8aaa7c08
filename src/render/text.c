/*
 * text: a report for a terminal. Tables are aligned by the columns that UTF-8 text takes, numbers
 * to the right, text to the left, indented by two.
 */
#include <assert.h>
#include <stdio.h>

#include "render/render.h"

static void put_text(struct render_out *o, struct str text)
{
    render_escaped(o, text, INERT_LINE, S(""), NULL);
}

static void put_paint(struct render_out *o, const char *code, struct str text)
{
    if (o->color)
        render_put(o, str_of(code));
    put_text(o, text);
    if (o->color)
        render_put(o, S("\033[0m"));
}

static void put_blanks(struct render_out *o, size_t n)
{
    static const struct str blanks = S_INIT("                                ");

    for (; n > blanks.n; n -= blanks.n)
        render_put(o, blanks);
    render_put(o, str_part(blanks, 0, n));
}

static size_t column_width(const struct table *t, size_t c)
{
    size_t width = str_width(str_of(t->columns[c].head));
    char buf[QUANTITY_TEXT];

    for (size_t i = c; i < t->cells.n; i += t->n_columns) {
        size_t w = inert_width(table_cell(t, i, buf));
        if (w > width)
            width = w;
    }
    return width;
}

static void put_row(struct render_out *o, const struct table *t, const size_t *widths,
                    const struct str *cells)
{
    size_t n = t->n_columns;

    while (n > 0 && cells[n - 1].n == 0)
        n--; /* no blanks at the end of a line */
    for (size_t c = 0; c < n; c++) {
        size_t pad = widths[c] - inert_width(cells[c]);
        bool is_right = t->columns[c].type != COLUMN_TEXT;
        put_blanks(o, 2 + (is_right ? pad : 0));
        put_text(o, cells[c]);
        if (!is_right && c + 1 < n)
            put_blanks(o, pad);
    }
}

static void put_table(struct render_out *o, const struct table *t)
{
    enum { COLUMNS = 64 };
    size_t widths[COLUMNS];
    struct str cells[COLUMNS];
    char bufs[COLUMNS][QUANTITY_TEXT];
    size_t n = t->n_columns;

    assert(n > 0 && n <= COLUMNS);
    for (size_t c = 0; c < n; c++) {
        widths[c] = column_width(t, c);
        cells[c] = str_of(t->columns[c].head);
    }
    if (o->color)
        render_put(o, S("\033[1m"));
    put_row(o, t, widths, cells);
    render_put(o, o->color ? S("\033[0m\n") : S("\n"));
    for (size_t i = 0; i < t->cells.n; i += n) {
        for (size_t c = 0; c < n; c++)
            cells[c] = table_cell(t, i + c, bufs[c]);
        put_row(o, t, widths, cells);
        render_put(o, S("\n"));
    }
}

static void put_facts(struct render_out *o, const struct block *b)
{
    for (size_t i = 0; i < b->facts.n; i++) {
        size_t width = str_width(str_of(b->facts.at[i].label));
        render_put(o, S("  "));
        render_put(o, str_of(b->facts.at[i].label));
        put_blanks(o, width < 12 ? 12 - width : 1);
        put_text(o, b->facts.at[i].text);
        render_put(o, S("\n"));
    }
}

static void put_detail(struct render_out *o, const char *label, struct str text)
{
    size_t width = str_width(str_of(label));

    render_put(o, S("      "));
    render_put(o, str_of(label));
    put_blanks(o, width < 10 ? 11 - width : 1);
    put_text(o, text);
    render_put(o, S("\n"));
}

static void put_finding(struct render_out *o, const struct finding *f)
{
    static const char *const paints[] = {"\033[1;31m", "\033[31m", "\033[33m", "\033[36m"};

    render_put(o, S("  "));
    put_paint(o, paints[f->priority], str_of(priority_name(f->priority)));
    render_put(o, S("  "));
    put_paint(o, "\033[1m", str_of(f->id));
    render_put(o, S("   "));
    put_text(o, f->subject);
    render_put(o, S(": "));
    put_text(o, f->fact);
    render_put(o, S("\n"));
    const char *label;
    struct str text;
    for (size_t i = 0; finding_detail(f, i, &label, &text); i++)
        put_detail(o, label, text);
}

static void put_heading(struct render_out *o, struct str text)
{
    put_paint(o, "\033[1m", text);
    render_put(o, S("\n"));
}

static void put_line(struct render_out *o, struct str text)
{
    render_escaped(o, text, INERT_LINES, S(""), NULL);
    render_put(o, S("\n"));
}

static void begin(struct render_out *o, const struct report *r)
{
    if (r->title.n == 0)
        return;
    put_paint(o, "\033[1m", r->title);
    if (r->summary.n > 0) {
        render_put(o, S("   "));
        put_text(o, r->summary);
    }
    render_put(o, S("\n"));
}

const struct renderer renderer_text = {
    .name = "text",
    .suffix = ".txt",
    .summary = "plain text for a terminal",
    .has_gaps = true,
    .begin = begin,
    .heading = put_heading,
    .text = put_line,
    .line = put_line,
    .facts = put_facts,
    .table = put_table,
    .finding = put_finding,
};
