/*
 * markdown: a report as GitHub-flavoured Markdown.
 *
 * Text from a capture (kernel names, paths) may hold any character, so everything that Markdown
 * would take for markup is escaped.
 */
#include "render/render.h"

struct out {
    struct sink sink;
    bool failed;
};

static void put(struct out *o, struct str text)
{
    if (text.n > 0 && !o->failed)
        o->failed = !o->sink.write(o->sink.ctx, text);
}

static void put_escaped(struct out *o, struct str text)
{
    static const struct str special = S_INIT("\\`*_{}[]<>#|");
    size_t from = 0;

    for (size_t i = 0; i < text.n; i++) {
        if (text.at[i] == '\n') {
            put(o, str_part(text, from, i - from));
            put(o, S(" "));
            from = i + 1;
        } else if (str_find_char(special, text.at[i]) < special.n) {
            put(o, str_part(text, from, i - from));
            put(o, S("\\"));
            from = i;
        }
    }
    put(o, str_part(text, from, text.n));
}

static void put_table(struct out *o, const struct table *t)
{
    char buf[QUANTITY_TEXT];

    if (t->n_columns == 0)
        return;
    for (size_t c = 0; c < t->n_columns; c++) {
        put(o, S("| "));
        put_escaped(o, str_of(t->columns[c].head));
        put(o, S(" "));
    }
    put(o, S("|\n"));
    for (size_t c = 0; c < t->n_columns; c++)
        put(o, t->columns[c].type == COLUMN_NUMBER ? S("|---:") : S("|---"));
    put(o, S("|\n"));
    for (size_t i = 0; i < t->cells.n; i++) {
        put(o, S("| "));
        put_escaped(o, table_cell(t, i, buf));
        put(o, (i + 1) % t->n_columns == 0 ? S(" |\n") : S(" "));
    }
}

static void put_item(struct out *o, const char *label, struct str text)
{
    put(o, S("  - "));
    put(o, str_of(label));
    put(o, S(": "));
    put_escaped(o, text);
    put(o, S("\n"));
}

static void put_finding(struct out *o, const struct finding *f)
{
    put(o, S("- **"));
    put(o, str_of(priority_name(f->priority)));
    put(o, S("** `"));
    put(o, str_of(f->id));
    put(o, S("` "));
    put_escaped(o, f->subject);
    put(o, S(": "));
    put_escaped(o, f->fact);
    put(o, S("\n"));
    for (size_t i = 0; i < f->causes.n; i++)
        put_item(o, certainty_name(f->causes.at[i].certainty), f->causes.at[i].text);
    for (size_t i = 0; i < f->gaps.n; i++)
        put_item(o, "missing", f->gaps.at[i]);
    for (size_t i = 0; i < f->advice.n; i++)
        put_item(o, "try", f->advice.at[i]);
}

static void put_block(struct out *o, const struct block *b)
{
    put(o, S("\n"));
    switch (b->kind) {
    case BLOCK_HEADING:
        put(o, S("## "));
        put_escaped(o, b->text);
        put(o, S("\n"));
        break;
    case BLOCK_TEXT:
        put_escaped(o, str_trim(b->text));
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

static bool write_markdown(const struct report *r, const struct render_options *options,
                           struct sink out)
{
    struct out o = {.sink = out};

    (void)options; /* Markdown has no colours */
    put(&o, S("# "));
    put_escaped(&o, r->title);
    put(&o, S("\n"));
    if (r->summary.n > 0) {
        put(&o, S("\n"));
        put_escaped(&o, r->summary);
        put(&o, S("\n"));
    }
    for (size_t i = 0; i < r->blocks.n; i++)
        put_block(&o, r->blocks.at[i]);
    return !o.failed;
}

const struct renderer renderer_markdown = {
    .name = "markdown",
    .suffix = ".md",
    .summary = "Markdown for issues and wikis",
    .write = write_markdown,
};
