/*
 * Pages of results that have no timeline: the blocks of a report, in both languages.
 */
#include <math.h>

#include "page/page_html.h"
#include "page/page_json.h"
#include "report/report.h"

static struct str first_text(const struct report *r)
{
    if (r->summary.n > 0)
        return r->summary;
    for (size_t i = 0; i < r->blocks.n; i++)
        if (r->blocks.at[i]->text.n > 0)
            return r->blocks.at[i]->text;
    return r->title;
}

/* English as the text, Chinese as the message that stands for it. */
static struct wording pair(struct page_file *page, struct str english, struct str chinese)
{
    struct message *m = ARENA_NEW(&page->arena, struct message);

    *m = (struct message){{arena_str(&page->arena, english), arena_str(&page->arena, chinese)}, ""};
    return wording_of(&page->arena, phrase_plain(m));
}

void page_tell_reports(struct page_file *page, const struct report *const reports[LANGS])
{
    const struct report *r = reports[LANG_EN];

    for (enum lang lang = 0; lang < LANGS; lang++)
        page->reports[lang] = reports[lang];
    page->title = arena_str(&page->arena, r->title.n > 0 ? r->title : first_text(r));
    page->verdict = (struct page_verdict){
        .id = "report",
        .text = pair(page, first_text(r), first_text(reports[LANG_ZH])),
        .confidence = wording_plain(S("")),
        .replay_error = -1,
    };
}

/* ---- as HTML ---- */

static void put_tag(struct page_html *h, const char *tag, struct str text)
{
    html_format(h, "<%s>", tag);
    html_text(h, text);
    html_format(h, "</%s>", tag);
}

static void put_table(struct page_html *h, const struct table *t)
{
    char buf[QUANTITY_TEXT];

    html_put(h, S("<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>"));
    for (size_t c = 0; c < t->n_columns; c++) {
        html_format(h, "<th scope=\"col\"%s>",
                    t->columns[c].type != COLUMN_TEXT ? " class=\"n\"" : "");
        html_text(h, message_word(h->lang, str_of(t->columns[c].head)));
        html_put(h, S("</th>"));
    }
    html_put(h, S("</tr></thead><tbody>\n"));
    for (size_t i = 0; i < t->cells.n; i++) {
        size_t c = i % t->n_columns;
        html_put(h, c == 0 ? S("<tr>") : S(""));
        html_put(h, t->columns[c].type != COLUMN_TEXT ? S("<td class=\"n\">") : S("<td>"));
        html_text(h, table_cell(t, i, buf));
        html_put(h, S("</td>"));
        html_put(h, c + 1 == t->n_columns ? S("</tr>\n") : S(""));
    }
    html_put(h, S("</tbody></table></div>\n"));
}

static void put_facts(struct page_html *h, const struct block *b)
{
    html_put(h, S("<dl>\n"));
    for (size_t i = 0; i < b->facts.n; i++) {
        put_tag(h, "dt", message_word(h->lang, str_of(b->facts.at[i].label)));
        put_tag(h, "dd", b->facts.at[i].text);
    }
    html_put(h, S("</dl>\n"));
}

static void put_findings(struct page_html *h, const struct block *b)
{
    html_put(h, S("<ul class=\"findings\">\n"));
    for (size_t i = 0; i < b->findings.n; i++) {
        const struct finding *f = b->findings.at[i];
        const char *label;
        struct str text;
        html_put(h, S("<li>"));
        put_tag(h, "strong", f->subject);
        html_put(h, S(" "));
        html_text(h, f->fact);
        html_put(h, S("<ul>"));
        for (size_t k = 0; finding_detail(f, k, &label, &text); k++) {
            html_put(h, S("<li>"));
            put_tag(h, "i", message_word(h->lang, str_of(label)));
            html_put(h, S(" "));
            html_text(h, text);
            html_put(h, S("</li>"));
        }
        html_put(h, S("</ul></li>\n"));
    }
    html_put(h, S("</ul>\n"));
}

static void put_block(struct page_html *h, const struct block *b)
{
    switch (b->kind) {
    case BLOCK_HEADING:
        put_tag(h, "h2", b->text);
        break;
    case BLOCK_TEXT:
        put_tag(h, "p", b->text);
        break;
    case BLOCK_LINE:
        html_put(h, S("<p class=\"line\">"));
        html_text(h, b->text);
        html_put(h, S("</p>\n"));
        break;
    case BLOCK_FACTS:
        put_facts(h, b);
        break;
    case BLOCK_TABLE:
        put_table(h, b->table);
        break;
    case BLOCK_FINDINGS:
        put_findings(h, b);
        break;
    }
}

void page_put_report(struct page_html *h, const struct report *report)
{
    html_put(h, S("<section class=\"report\">\n"));
    for (size_t i = 0; i < report->blocks.n; i++)
        put_block(h, report->blocks.at[i]);
    html_put(h, S("</section>\n"));
}

/* ---- as JSON ---- */

static void put_json_table(struct json_writer *w, const struct table *t, size_t number)
{
    json_write_object(w);
    json_put_u64(w, "id", number);
    json_put_array(w, "columns");
    for (size_t c = 0; c < t->n_columns; c++) {
        json_write_object(w);
        json_put_object(w, "head");
        for (enum lang lang = 0; lang < LANGS; lang++)
            json_put_str(w, lang_name(lang), message_word(lang, str_of(t->columns[c].head)));
        json_write_end(w);
        json_put_text(w, "type", t->columns[c].type == COLUMN_NUMBER ? "number" : "text");
        json_write_end(w);
    }
    json_write_end(w);
    json_put_array(w, "rows");
    for (size_t i = 0; i < t->cells.n; i++) {
        size_t c = i % t->n_columns;
        if (c == 0)
            json_write_array(w);
        if (t->columns[c].type == COLUMN_NUMBER)
            json_write_f64(w, t->cells.at[i].number);
        else
            json_write_string(w, t->cells.at[i].text);
        if (c + 1 == t->n_columns)
            json_write_end(w);
    }
    json_write_end(w);
    json_write_end(w);
}

void page_json_tables(struct json_writer *w, struct page_file *page)
{
    const struct report *r = page->reports[LANG_EN];
    size_t n = 0;

    json_put_array(w, "tables");
    for (size_t i = 0; r != NULL && i < r->blocks.n; i++)
        if (r->blocks.at[i]->kind == BLOCK_TABLE)
            put_json_table(w, r->blocks.at[i]->table, n++);
    json_write_end(w);
}
