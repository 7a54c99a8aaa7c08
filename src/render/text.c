/*
 * text: a report for a terminal. Tables are aligned by the columns that UTF-8 text takes, numbers
 * to the right, text to the left, indented by two, and made to fit the terminal; other lines are
 * wrapped by whoever has the terminal.
 */
#include "base/text/mangled.h"
#include "base/text/wrap.h"
#include "render/render.h"

static void render_text_put(struct render_out *o, struct str text)
{
    render_escaped(o, text, INERT_LINE, S(""), NULL);
}

static void put_code(struct render_out *o, const char *code)
{
    if (o->color)
        render_put(o, str_of(code));
}

static void put_paint(struct render_out *o, const char *code, struct str text)
{
    put_code(o, code);
    render_text_put(o, text);
    put_code(o, "\033[0m");
}

static void put_blanks(struct render_out *o, size_t n)
{
    static const struct str blanks = S_INIT("                                ");

    for (; n > blanks.n; n -= blanks.n)
        render_put(o, blanks);
    render_put(o, str_part(blanks, 0, n));
}

/* On a terminal kernels go by their plain names, unless --long-names is given, and bars are blocks
 * where it shows them. */
static struct str cell_text(const struct render_out *o, const struct table *t, size_t i, char *buf,
                            struct arena *arena)
{
    if (o->width > 0 && t->columns[i % t->n_columns].type == COLUMN_BAR) {
        struct text bar = {0};
        render_bar(&bar, t->cells.at[i].number, BAR_WIDTH, o->is_ascii);
        return text_keep(&bar, arena);
    }
    struct str text = inert_line(arena, table_cell_text(t, i, buf));

    return o->width > 0 && !o->long_names ? mangled_short(arena, text) : text;
}

/* A word about something bad or good, in its colour. */
static struct str painted(struct arena *arena, struct str text, enum cell_mark mark)
{
    static const char *const paints[] = {"", "\033[31m", "\033[33m", "\033[32m"};

    return arena_format(arena, "%s%.*s\033[0m", paints[mark], STR_ARGS(text));
}

static void text_put_table(struct render_out *o, const struct table *t)
{
    struct text text = {0};
    size_t n = t->n_columns;
    struct arena arena;

    arena_init(&arena);
    struct wrap_column *columns = ARENA_ARRAY(&arena, struct wrap_column, n);
    struct str *heads = ARENA_ARRAY(&arena, struct str, n);
    struct str *cells = ARENA_ARRAY(&arena, struct str, n);
    char(*bufs)[QUANTITY_TEXT] = arena_alloc(&arena, n * QUANTITY_TEXT);
    for (size_t c = 0; c < n; c++) {
        columns[c].is_right = column_is_right(&t->columns[c]);
        columns[c].drop = t->drops != NULL ? t->drops[c] : 0;
        heads[c] = str_of(t->columns[c].head);
        wrap_widen(&columns[c], heads[c]);
        for (size_t i = c; i < t->cells.n; i += n)
            wrap_widen(&columns[c], cell_text(o, t, i, bufs[c], &arena));
    }
    wrap_fit(columns, n, o->width);
    wrap_row(&text, columns, n, heads);
    put_code(o, "\033[1m");
    render_put(o, str_part(text_view(&text), 0, text.n - 1));
    put_code(o, "\033[0m");
    render_put(o, S("\n"));
    text_clear(&text);
    for (size_t i = 0; i < t->cells.n; i += n) {
        for (size_t c = 0; c < n; c++) {
            cells[c] = cell_text(o, t, i + c, bufs[c], &arena);
            if (o->color && t->cells.at[i + c].mark != MARK_NONE && !columns[c].is_narrow)
                cells[c] = painted(&arena, cells[c], t->cells.at[i + c].mark);
        }
        wrap_row(&text, columns, n, cells);
    }
    wrap_left_out(&text, columns, n, heads, o->width);
    render_put(o, text_view(&text));
    text_free(&text);
    arena_free(&arena);
}

static void put_facts(struct render_out *o, const struct block *b)
{
    for (size_t i = 0; i < b->facts.n; i++) {
        size_t width = str_width(str_of(b->facts.at[i].label));
        render_put(o, S("  "));
        render_put(o, str_of(b->facts.at[i].label));
        put_blanks(o, width < 12 ? 12 - width : 1);
        render_text_put(o, b->facts.at[i].text);
        render_put(o, S("\n"));
    }
}

static void put_finding(struct render_out *o, const struct finding *f)
{
    static const char *const paints[] = {"\033[1;31m", "\033[31m", "\033[33m", "\033[36m"};

    render_put(o, S("  "));
    put_paint(o, paints[f->priority], str_of(priority_name(f->priority)));
    render_put(o, S("  "));
    put_paint(o, "\033[1m", f->subject);
    render_put(o, S(": "));
    render_text_put(o, f->fact);
    render_put(o, S(" ["));
    render_put(o, str_of(f->id));
    render_put(o, S("]\n"));
    const char *label;
    struct str text;
    for (size_t i = 0; finding_detail(f, i, &label, &text); i++) {
        size_t width = str_width(str_of(label));
        render_put(o, S("      "));
        render_put(o, str_of(label));
        put_blanks(o, width < 10 ? 11 - width : 1);
        render_text_put(o, text);
        render_put(o, S("\n"));
    }
}

static void put_series(struct render_out *o, const struct block *b)
{
    size_t label = str_width(b->text) + 2, least = 20;
    size_t room = o->width > label + least ? o->width - label : least;
    struct text line = {0};

    text_put(&line, b->text);
    text_put(&line, S("  "));
    render_series(&line, b->series, room, o->is_ascii);
    text_char(&line, '\n');
    render_put(o, text_view(&line));
    text_free(&line);
}

static void put_heading(struct render_out *o, struct str text)
{
    put_paint(o, "\033[1m", text);
    render_put(o, S("\n"));
}

static void render_text_put_line(struct render_out *o, struct str text)
{
    render_escaped(o, text, INERT_LINES, S(""), NULL);
    render_put(o, S("\n"));
}

static void text_begin(struct render_out *o, const struct report *r)
{
    if (r->title.n == 0)
        return;
    put_paint(o, "\033[1m", r->title);
    if (r->summary.n > 0) {
        render_put(o, S("   "));
        render_text_put(o, r->summary);
    }
    render_put(o, S("\n"));
}

const struct renderer renderer_text = {
    .name = "text",
    .suffix = ".txt",
    .summary = "plain text for a terminal",
    .has_gaps = true,
    .begin = text_begin,
    .heading = put_heading,
    .text = render_text_put_line,
    .line = render_text_put_line,
    .facts = put_facts,
    .table = text_put_table,
    .finding = put_finding,
    .series = put_series,
};
