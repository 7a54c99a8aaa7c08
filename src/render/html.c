/*
 * html: a report as one page that needs nothing else. Plain tables in the reader's light or dark
 * setting.
 */
#include "render/render.h"

static const struct str page_head =
    S_INIT("\"><head><meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width\">\n"
           "<style>:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;"
           "margin:2em auto;max-width:75em;padding:0 1em}table{border-collapse:collapse;"
           "margin:.5em 0;font-variant-numeric:tabular-nums}th,td{padding:.2em .8em;"
           "border-bottom:1px solid #8885;text-align:left}.n{text-align:right}"
           "dt{font-weight:600}dl{display:grid;grid-template-columns:max-content auto;gap:0 1em}"
           "</style>\n");

static void put_form(struct render_out *o, struct str text, enum inert_form form)
{
    static const struct str with[] = {S_INIT("&lt;"), S_INIT("&gt;"), S_INIT("&amp;"),
                                      S_INIT("&quot;")};

    render_escaped(o, text, form, S("<>&\""), with);
}

static void put_element(struct render_out *o, const char *tag, struct str text)
{
    bool is_cell = str_starts(str_of(tag), S("td"));

    render_put(o, S("<"));
    render_put(o, str_of(tag));
    render_put(o, S(">"));
    put_form(o, text, is_cell ? INERT_LINE : INERT_LINES);
    render_put(o, S("</"));
    render_put(o, str_part(str_of(tag), 0, str_find_char(str_of(tag), ' ')));
    render_put(o, S(">"));
}

static void html_put_table(struct render_out *o, const struct table *t)
{
    char buf[QUANTITY_TEXT];

    render_put(o, S("<table>\n<tr>"));
    for (size_t c = 0; c < t->n_columns; c++)
        put_element(o, column_is_right(&t->columns[c]) ? "th class=n" : "th",
                    str_of(t->columns[c].head));
    render_put(o, S("</tr>\n"));
    for (size_t i = 0; t->n_columns > 0 && i < t->cells.n; i++) {
        size_t c = i % t->n_columns;
        render_put(o, c == 0 ? S("<tr>") : S(""));
        put_element(o, column_is_right(&t->columns[c]) ? "td class=n" : "td",
                    table_cell_text(t, i, buf));
        render_put(o, c + 1 == t->n_columns ? S("</tr>\n") : S(""));
    }
    render_put(o, S("</table>\n\n"));
}

static void put_facts(struct render_out *o, const struct block *b)
{
    render_put(o, S("<dl>\n"));
    for (size_t i = 0; i < b->facts.n; i++) {
        put_element(o, "dt", str_of(b->facts.at[i].label));
        put_element(o, "dd", b->facts.at[i].text);
        render_put(o, S("\n"));
    }
    render_put(o, S("</dl>\n\n"));
}

static void put_finding(struct render_out *o, const struct finding *f)
{
    const char *label;
    struct str text;

    render_put(o, S("<li>"));
    put_element(o, "b", str_of(priority_name(f->priority)));
    render_put(o, S(" "));
    put_element(o, "code", str_of(f->id));
    render_put(o, S(" "));
    put_form(o, f->subject, INERT_LINES);
    render_put(o, S(": "));
    put_form(o, f->fact, INERT_LINES);
    render_put(o, S("<ul>"));
    for (size_t i = 0; finding_detail(f, i, &label, &text); i++) {
        render_put(o, S("<li>"));
        put_element(o, "i", str_of(label));
        render_put(o, S(" "));
        put_form(o, text, INERT_LINES);
        render_put(o, S("</li>"));
    }
    render_put(o, S("</ul></li>\n"));
}

static void put_heading(struct render_out *o, struct str text)
{
    put_element(o, "h2", text);
    render_put(o, S("\n"));
}

static void html_put_text(struct render_out *o, struct str text)
{
    put_element(o, "p", text);
    render_put(o, S("\n"));
}

static void html_begin(struct render_out *o, const struct report *r)
{
    render_put(o, S("<!DOCTYPE html>\n<html lang=\""));
    render_put(o, str_of(lang_name(r->lang)));
    render_put(o, page_head);
    put_element(o, "title", r->title);
    render_put(o, S("</head><body>\n"));
    put_element(o, "h1", r->title);
    render_put(o, S("\n"));
    if (r->summary.n > 0)
        put_element(o, "p", r->summary);
}

const struct renderer renderer_html = {
    .name = "html",
    .suffix = ".html",
    .summary = "one page for a browser",
    .begin = html_begin,
    .heading = put_heading,
    .text = html_put_text,
    .line = html_put_text,
    .facts = put_facts,
    .table = html_put_table,
    .finding = put_finding,
    .findings = {S_INIT("<ul>\n"), S_INIT("</ul>\n")},
    .end = S_INIT("</body></html>\n"),
};
