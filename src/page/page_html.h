/*
 * page_html - writes HTML: markup as it is, texts escaped.
 */
#ifndef STRATA_PAGE_PAGE_HTML_H
#define STRATA_PAGE_PAGE_HTML_H

#include "page/page.h"

struct page_html {
    struct sink sink;
    struct page_file *page;
    enum lang lang;
    bool has_failed; /* later calls write nothing */
};

/* Markup of ours: never anything from a capture. */
void html_put(struct page_html *h, struct str markup);
void html_format(struct page_html *h, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Text, also inside quotes of an attribute. */
void html_text(struct page_html *h, struct str text);
void html_wording(struct page_html *h, struct wording text);
void html_message(struct page_html *h, const struct message *m);

/* A heading with a hint or a link at its right; either may be empty. */
void html_heading(struct page_html *h, const char *id, struct str text, struct str hint,
                  struct str link);

/* Pictures. */
void page_draw_accounting(struct page_html *h);
void page_draw_steps(struct page_html *h);
void page_draw_excerpt(struct page_html *h);
void page_draw_waterfall(struct page_html *h);
void page_draw_medians(struct page_html *h);

#endif
