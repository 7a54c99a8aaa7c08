/*
 * text: a report for a terminal. Tables are aligned by the number of characters (UTF-8), numbers
 * to the right, text to the left, indented by two.
 */
#include <assert.h>
#include <stdio.h>

#include "base/num.h"
#include "render/render.h"

struct out {
    struct sink sink;
    bool color;
    bool failed;
};

static void put(struct out *o, struct str text)
{
    if (text.n > 0 && !o->failed)
        o->failed = !o->sink.write(o->sink.ctx, text);
}

static void put_paint(struct out *o, const char *code, struct str text)
{
    if (o->color)
        put(o, str_of(code));
    put(o, text);
    if (o->color)
        put(o, S("\033[0m"));
}

static void put_blanks(struct out *o, size_t n)
{
    static const struct str blanks = S_INIT("                                ");

    for (; n > blanks.n; n -= blanks.n)
        put(o, blanks);
    put(o, str_part(blanks, 0, n));
}

static size_t column_width(const struct table *t, size_t c)
{
    size_t width = str_width(str_of(t->columns[c].head));
    char buf[QUANTITY_TEXT];

    for (size_t i = c; i < t->cells.n; i += t->n_columns) {
        size_t w = str_width(table_cell(t, i, buf));
        if (w > width)
            width = w;
    }
    return width;
}

static void put_cell(struct out *o, const struct table *t, size_t c, size_t width, struct str text)
{
    if (text.n == 0 && c + 1 == t->n_columns)
        return; /* no blanks at the end of a line */
    size_t pad = width - str_width(text);
    bool right = t->columns[c].type == COLUMN_NUMBER;

    put_blanks(o, 2 + (right ? pad : 0));
    put(o, text);
    if (!right && c + 1 < t->n_columns)
        put_blanks(o, pad);
}

static void put_table(struct out *o, const struct table *t)
{
    size_t widths[64];
    char buf[QUANTITY_TEXT];

    assert(t->n_columns > 0);
    for (size_t c = 0; c < t->n_columns && c < ARRAY_LEN(widths); c++)
        widths[c] = column_width(t, c);
    for (size_t c = 0; c < t->n_columns && c < ARRAY_LEN(widths); c++)
        put_cell(o, t, c, widths[c], str_of(t->columns[c].head));
    put(o, S("\n"));
    for (size_t i = 0; i < t->cells.n; i++) {
        size_t c = i % t->n_columns;
        if (c < ARRAY_LEN(widths))
            put_cell(o, t, c, widths[c], table_cell(t, i, buf));
        if (c + 1 == t->n_columns)
            put(o, S("\n"));
    }
}

static void put_detail(struct out *o, const char *label, struct str text)
{
    size_t width = strlen(label);

    put(o, S("      "));
    put(o, str_of(label));
    put_blanks(o, width < 10 ? 11 - width : 1);
    put(o, text);
    put(o, S("\n"));
}

static void put_finding(struct out *o, const struct finding *f)
{
    static const char *const paints[] = {"\033[1;31m", "\033[31m", "\033[33m", "\033[36m"};

    put(o, S("  "));
    put_paint(o, paints[f->priority], str_of(priority_name(f->priority)));
    put(o, S("  "));
    put_paint(o, "\033[1m", str_of(f->id));
    put(o, S("   "));
    put(o, f->subject);
    put(o, S(": "));
    put(o, f->fact);
    put(o, S("\n"));
    for (size_t i = 0; i < f->causes.n; i++)
        put_detail(o, certainty_name(f->causes.at[i].certainty), f->causes.at[i].text);
    for (size_t i = 0; i < f->gaps.n; i++)
        put_detail(o, "missing", f->gaps.at[i]);
    for (size_t i = 0; i < f->advice.n; i++)
        put_detail(o, "try", f->advice.at[i]);
}

static void put_block(struct out *o, const struct block *b)
{
    put(o, S("\n"));
    switch (b->kind) {
    case BLOCK_HEADING:
        put_paint(o, "\033[1m", b->text);
        put(o, S("\n"));
        break;
    case BLOCK_TEXT:
        put(o, b->text);
        put(o, S("\n"));
        break;
    case BLOCK_TABLE:
        put_table(o, b->table);
        break;
    case BLOCK_FINDINGS:
        for (size_t i = 0; i < b->findings.n; i++)
            put_finding(o, b->findings.at[i]);
        break;
    }
}

static bool write_text(const struct report *r, const struct render_options *options,
                       struct sink out)
{
    struct out o = {.sink = out, .color = options->color};

    put_paint(&o, "\033[1m", r->title);
    if (r->summary.n > 0) {
        put(&o, S("   "));
        put(&o, r->summary);
    }
    put(&o, S("\n"));
    for (size_t i = 0; i < r->blocks.n; i++)
        put_block(&o, r->blocks.at[i]);
    return !o.failed;
}

const struct renderer renderer_text = {
    .name = "text",
    .suffix = ".txt",
    .summary = "plain text for a terminal",
    .write = write_text,
};
