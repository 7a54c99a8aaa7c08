/*
 * The writer of markup.
 */
#include "page/page_html.h"

#include "base/inert.h"

void page_html_put(struct page_html *h, struct str markup)
{
    if (!h->has_failed && markup.n > 0)
        h->has_failed = !h->sink.write(h->sink.ctx, markup);
}

void page_html_format(struct page_html *h, const char *format, ...)
{
    struct text out = {0};
    va_list args;

    va_start(args, format);
    text_vformat(&out, format, args);
    va_end(args);
    page_html_put(h, text_view(&out));
    text_free(&out);
}

static struct str escape_of(char c)
{
    switch (c) {
    case '<':
        return S("&lt;");
    case '>':
        return S("&gt;");
    case '&':
        return S("&amp;");
    case '"':
        return S("&quot;");
    case '\'':
        return S("&#39;");
    default:
        return S("");
    }
}

static void put_escaped(struct page_html *h, struct str text)
{
    size_t from = 0;

    for (size_t i = 0; i < text.n; i++) {
        struct str escape = escape_of(text.at[i]);
        if (escape.n == 0)
            continue;
        page_html_put(h, str_part(text, from, i - from));
        page_html_put(h, escape);
        from = i + 1;
    }
    page_html_put(h, str_part(text, from, text.n - from));
}

void page_html_text(struct page_html *h, struct str text)
{
    char buf[INERT_ESCAPE];
    struct str piece;

    while (inert_next(&text, INERT_LINES, buf, &piece))
        put_escaped(h, piece);
}

void page_html_wording(struct page_html *h, struct wording text)
{
    page_html_text(h, page_wording(h->page, h->lang, text));
}

void page_html_message(struct page_html *h, const struct message *m)
{
    page_html_text(h, message_in(h->lang, m));
}

void page_html_heading(struct page_html *h, const char *id, struct str text, struct str hint,
                       struct str link)
{
    page_html_format(h, "<div class=\"row\"><h2 id=\"h-%s-%s\">", id, lang_name(h->lang));
    page_html_text(h, text);
    page_html_put(h, S("</h2>"));
    if (link.n > 0) {
        page_html_put(h, S("<a class=\"hint\" href=\""));
        page_html_text(h, link);
        page_html_put(h, S("\">"));
        page_html_text(h, hint);
        page_html_put(h, S(" →</a>"));
    } else if (hint.n > 0) {
        page_html_put(h, S("<span class=\"hint\">"));
        page_html_text(h, hint);
        page_html_put(h, S("</span>"));
    }
    page_html_put(h, S("</div>\n"));
}
