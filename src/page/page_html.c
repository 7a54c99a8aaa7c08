/*
 * The writer of markup.
 */
#include "page/page_html.h"

#include "base/text/inert.h"

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

static struct text escaped(struct str text)
{
    struct text out = {0};
    char buf[INERT_ESCAPE];
    struct str piece;

    while (inert_next(&text, INERT_LINES, buf, &piece)) {
        size_t from = 0;
        for (size_t i = 0; i < piece.n; i++) {
            struct str escape = escape_of(piece.at[i]);
            if (escape.n == 0)
                continue;
            text_put(&out, str_part(piece, from, i - from));
            text_put(&out, escape);
            from = i + 1;
        }
        text_put(&out, str_part(piece, from, piece.n - from));
    }
    return out;
}

void page_html_text(struct page_html *h, struct str text)
{
    struct text out = escaped(text);

    page_html_put(h, text_view(&out));
    text_free(&out);
}

const char *page_escape(struct page_html *h, struct str text)
{
    struct text out = escaped(text);
    const char *kept = arena_cstr(&h->page->arena, text_view(&out));

    text_free(&out);
    return kept;
}

const char *page_escape_wording(struct page_html *h, struct wording text)
{
    return page_escape(h, page_wording(h->page, h->lang, text));
}

const char *page_escape_message(struct page_html *h, const struct message *m)
{
    return page_escape(h, message_in(h->lang, m));
}

void page_html_heading(struct page_html *h, const char *id, struct str text, struct str hint,
                       struct str link)
{
    page_html_format(h, "<div class=\"row\"><h2 id=\"h-%s-%s\">%s</h2>", id, lang_name(h->lang),
                     page_escape(h, text));
    if (link.n > 0) {
        page_html_format(h, "<a class=\"hint\" href=\"%s\">%s →</a>", page_escape(h, link),
                         page_escape(h, hint));
    } else if (hint.n > 0) {
        page_html_format(h, "<span class=\"hint\">%s</span>", page_escape(h, hint));
    }
    page_html_put(h, S("</div>\n"));
}
