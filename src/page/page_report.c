/*
 * Pages of results that have no timeline: the blocks of a report, in both languages.
 */
#include "base/text/char.h"
#include "page/page_html.h"
#include "report/report.h"

/* The paragraph or line that comes first, or else the first paragraph; SIZE_MAX: there is none. */
static size_t first_text(const struct report *r)
{
    for (size_t i = 0; i < r->blocks.n; i++) {
        const struct block *b = r->blocks.at[i];
        if ((b->kind == BLOCK_TEXT || b->kind == BLOCK_LINE) && str_trim(b->text).n > 0)
            return i;
        if (b->kind != BLOCK_HEADING)
            break;
    }
    for (size_t i = 0; i < r->blocks.n; i++)
        if (r->blocks.at[i]->kind == BLOCK_TEXT && str_trim(r->blocks.at[i]->text).n > 0)
            return i;
    return SIZE_MAX;
}

struct wording page_pair(struct page_file *page, const struct str texts[LANGS])
{
    struct message *m = ARENA_NEW(&page->arena, struct message);

    *m = (struct message){.key = ""};
    for (enum lang lang = 0; lang < LANGS; lang++)
        m->in[lang] = texts[lang];
    return wording_of(&page->arena, phrase_plain(m));
}

struct wording page_capital(struct page_file *page, struct wording text)
{
    struct str texts[LANGS];

    for (enum lang lang = 0; lang < LANGS; lang++) {
        char *copy = arena_cstr(&page->arena, page_wording(page, lang, text));
        copy[0] = char_upper(copy[0]);
        texts[lang] = str_of(copy);
    }
    return page_pair(page, texts);
}

void page_put_fragments(struct page_file *page, const struct page_fragment *fragments)
{
    struct str verdicts[LANGS], leads[LANGS];

    page->fragments = fragments;
    for (enum lang lang = 0; lang < LANGS; lang++) {
        verdicts[lang] = arena_str(&page->arena, text_view(&fragments[lang].verdict));
        leads[lang] = arena_str(&page->arena, text_view(&fragments[lang].lead));
    }
    if (page->title.n == 0)
        page->title = arena_str(&page->arena, text_view(&fragments[LANG_EN].title));
    if (page->title.n == 0)
        page->title = S("strata");
    page->verdict = (struct page_verdict){
        .id = "report",
        .text = page_pair(page, verdicts),
        .evidence = page_pair(page, leads),
        .replay_error = -1,
    };
}

/* ---- as HTML ---- */

static void put_tag(struct page_html *h, const char *tag, struct str text)
{
    page_html_format(h, "<%s>", tag);
    page_html_text(h, text);
    page_html_format(h, "</%s>", tag);
}

static void report_put_table(struct page_html *h, const struct table *t)
{
    char buf[QUANTITY_TEXT];

    page_html_put(h, S("<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>"));
    for (size_t c = 0; c < t->n_columns; c++) {
        page_html_format(h, "<th scope=\"col\"%s>",
                         column_is_right(&t->columns[c]) ? " class=\"n\"" : "");
        page_html_text(h, message_word(h->lang, str_of(t->columns[c].head)));
        page_html_put(h, S("</th>"));
    }
    page_html_put(h, S("</tr></thead><tbody>\n"));
    for (size_t i = 0; t->n_columns > 0 && i < t->cells.n; i++) {
        size_t c = i % t->n_columns;
        page_html_put(h, c == 0 ? S("<tr>") : S(""));
        page_html_put(h, column_is_right(&t->columns[c]) ? S("<td class=\"n\">") : S("<td>"));
        page_html_text(h, table_cell_text(t, i, buf));
        page_html_put(h, S("</td>"));
        page_html_put(h, c + 1 == t->n_columns ? S("</tr>\n") : S(""));
    }
    page_html_put(h, S("</tbody></table></div>\n"));
}

static void put_facts(struct page_html *h, const struct block *b)
{
    page_html_put(h, S("<dl>\n"));
    for (size_t i = 0; i < b->facts.n; i++) {
        put_tag(h, "dt", message_word(h->lang, str_of(b->facts.at[i].label)));
        put_tag(h, "dd", b->facts.at[i].text);
    }
    page_html_put(h, S("</dl>\n"));
}

static void put_findings(struct page_html *h, const struct block *b)
{
    page_html_put(h, S("<ul class=\"findings\">\n"));
    for (size_t i = 0; i < b->findings.n; i++) {
        const struct finding *f = b->findings.at[i];
        const char *label;
        struct str text;
        page_html_put(h, S("<li>"));
        put_tag(h, "strong", f->subject);
        page_html_put(h, S(" "));
        page_html_text(h, f->fact);
        page_html_put(h, S("<ul>"));
        for (size_t k = 0; finding_detail(f, k, &label, &text); k++) {
            page_html_put(h, S("<li>"));
            put_tag(h, "i", message_word(h->lang, str_of(label)));
            page_html_put(h, S(" "));
            page_html_text(h, text);
            page_html_put(h, S("</li>"));
        }
        page_html_put(h, S("</ul></li>\n"));
    }
    page_html_put(h, S("</ul>\n"));
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
        page_html_put(h, S("<p class=\"line\">"));
        page_html_text(h, b->text);
        page_html_put(h, S("</p>\n"));
        break;
    case BLOCK_FACTS:
        put_facts(h, b);
        break;
    case BLOCK_TABLE:
        report_put_table(h, b->table);
        break;
    case BLOCK_FINDINGS:
        put_findings(h, b);
        break;
    case BLOCK_SERIES: /* the page has its own picture */
        break;
    }
}

/* What was printed without a report. */
static void put_plain(struct page_html *h, struct text *plain)
{
    if (str_trim(text_view(plain)).n > 0) {
        page_html_put(h, S("<pre tabindex=\"0\">"));
        page_html_text(h, text_view(plain));
        page_html_put(h, S("</pre>\n"));
    }
    text_clear(plain);
}

void page_fragment_add(struct page_fragment *f, enum lang lang, const struct report *report)
{
    struct page_html h = {.sink = text_sink(&f->html), .lang = lang};
    size_t taken = SIZE_MAX;

    put_plain(&h, &f->plain);
    if (f->verdict.n == 0) {
        /* The first report has the verdict: its first sentence, or what it is about. */
        struct str about = report->summary.n > 0 ? report->summary : report->title;
        taken = first_text(report);
        text_put(&f->title, report->title);
        text_put(&f->verdict, taken != SIZE_MAX ? str_trim(report->blocks.at[taken]->text) : about);
        if (taken != SIZE_MAX)
            text_put(&f->lead, report->summary);
    } else if (report->title.n > 0)
        put_tag(&h, "h2", report->title);
    for (size_t i = 0; i < report->blocks.n; i++)
        if (i != taken)
            put_block(&h, report->blocks.at[i]);
}

void page_fragment_end(struct page_fragment *f, enum lang lang)
{
    struct page_html h = {.sink = text_sink(&f->html), .lang = lang};

    put_plain(&h, &f->plain);
}

void page_fragment_free(struct page_fragment *f)
{
    text_free(&f->html);
    text_free(&f->plain);
    text_free(&f->title);
    text_free(&f->verdict);
    text_free(&f->lead);
}
