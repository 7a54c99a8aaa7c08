/*
 * markdown: a report as GitHub-flavoured Markdown.
 *
 * Text from a capture (kernel names, paths) may hold any character, so everything that Markdown
 * would take for markup is escaped.
 */
#include "render/render.h"

static void put_form(struct render_out *o, struct str text, enum inert_form form)
{
    static const struct str special = S_INIT("\\`*_{}[]<>#|&\n");
    static const struct str with[] = {
        S_INIT("\\\\"), S_INIT("\\`"), S_INIT("\\*"), S_INIT("\\_"), S_INIT("\\{"),
        S_INIT("\\}"),  S_INIT("\\["), S_INIT("\\]"), S_INIT("\\<"), S_INIT("\\>"),
        S_INIT("\\#"),  S_INIT("\\|"), S_INIT("\\&"), S_INIT(" "),
    };

    render_escaped(o, text, form, special, with);
}

static void put_escaped(struct render_out *o, struct str text)
{
    put_form(o, text, INERT_LINE);
}

static void markdown_put_table(struct render_out *o, const struct table *t)
{
    char buf[QUANTITY_TEXT];

    if (t->n_columns == 0)
        return;
    for (size_t c = 0; c < t->n_columns; c++) {
        render_put(o, S("| "));
        put_escaped(o, str_of(t->columns[c].head));
        render_put(o, S(" "));
    }
    render_put(o, S("|\n"));
    for (size_t c = 0; c < t->n_columns; c++)
        render_put(o, column_is_right(&t->columns[c]) ? S("|---:") : S("|---"));
    render_put(o, S("|\n"));
    for (size_t i = 0; i < t->cells.n; i++) {
        render_put(o, S("| "));
        put_escaped(o, table_cell_text(t, i, buf));
        render_put(o, (i + 1) % t->n_columns == 0 ? S(" |\n") : S(" "));
    }
}

static void put_finding(struct render_out *o, const struct finding *f)
{
    render_put(o, S("- **"));
    render_put(o, str_of(priority_name(f->priority)));
    render_put(o, S("** `"));
    render_put(o, str_of(f->id));
    render_put(o, S("` "));
    put_escaped(o, f->subject);
    render_put(o, S(": "));
    put_escaped(o, f->fact);
    render_put(o, S("\n"));
    const char *label;
    struct str text;
    for (size_t i = 0; finding_detail(f, i, &label, &text); i++) {
        render_put(o, S("  - "));
        render_put(o, str_of(label));
        render_put(o, S(": "));
        put_escaped(o, text);
        render_put(o, S("\n"));
    }
}

static void put_facts(struct render_out *o, const struct block *b)
{
    for (size_t i = 0; i < b->facts.n; i++) {
        bool is_labelled = b->facts.at[i].label[0] != '\0';
        render_put(o, is_labelled ? S("- **") : S("  "));
        put_escaped(o, str_of(b->facts.at[i].label));
        render_put(o, is_labelled ? S("**: ") : S(""));
        put_escaped(o, b->facts.at[i].text);
        render_put(o, S("\n"));
    }
}

static void markdown_put_line(struct render_out *o, struct str text)
{
    put_form(o, text, INERT_LINES);
    render_put(o, S("\n"));
}

static void put_heading(struct render_out *o, struct str text)
{
    render_put(o, S("## "));
    markdown_put_line(o, text);
}

static void markdown_put_text(struct render_out *o, struct str text)
{
    markdown_put_line(o, str_trim(text));
}

static void markdown_begin(struct render_out *o, const struct report *r)
{
    if (r->title.n > 0) {
        render_put(o, S("# "));
        markdown_put_line(o, r->title);
    }
    if (r->summary.n > 0) {
        render_put(o, S("\n"));
        markdown_put_line(o, r->summary);
    }
}

const struct renderer renderer_markdown = {
    .name = "markdown",
    .suffix = ".md",
    .summary = "Markdown for issues and wikis",
    .has_gaps = true,
    .begin = markdown_begin,
    .heading = put_heading,
    .text = markdown_put_text,
    .line = markdown_put_line,
    .facts = put_facts,
    .table = markdown_put_table,
    .finding = put_finding,
};
