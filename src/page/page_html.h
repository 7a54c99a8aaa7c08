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
void page_html_put(struct page_html *h, struct str markup);
void page_html_format(struct page_html *h, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Text, also inside quotes of an attribute: written, or kept with the page for a format. */
void page_html_text(struct page_html *h, struct str text);
const char *page_escape(struct page_html *h, struct str text);
const char *page_escape_wording(struct page_html *h, struct wording text);
const char *page_escape_message(struct page_html *h, const struct message *m);

/* A heading with a hint or a link at its right; either may be empty. */
void page_html_heading(struct page_html *h, const char *id, struct str text, struct str hint,
                       struct str link);

/* Parts of pictures: the hatch of idle time; the opening of one; a text on a bar, on a plate where
 * the class is that of idle time ("i0"); whether it fits so many percent of a screen's width, and
 * how many columns do; a name cut to so many. */
const char *page_draw_hatch(enum idle_cause cause);
void page_draw_begin(struct page_html *h, const char *id, int height, struct str title);
void page_draw_label(struct page_html *h, struct str label, const char *class, double y);
bool page_label_fits(struct str text, double percent);
size_t page_label_room(double percent); /* columns of text */
struct str page_cut(struct page_html *h, struct str name, size_t most);

/* Parts of a bar: compute by family of the page, then communication, copies, idle by cause. */
enum { PAGE_PARTS = PAGE_FAMILIES + IDLE_CAUSES };
int page_part_of_class(int class);
const struct message *page_part_label(int part);

/* A bar of so many percent by class of time; what its colours mean; "6" of "ProfilerStep#6". */
void page_draw_stack(struct page_html *h, const nanos *by, double percent, int height);
void page_draw_legend(struct page_html *h);
struct str page_step_name(struct page_html *h, const struct account_step *step);

/* Pictures. */
void page_draw_ranks(struct page_html *h);
void page_draw_heat(struct page_html *h);
void page_draw_accounting(struct page_html *h);
void page_draw_steps(struct page_html *h);
void page_draw_excerpt(struct page_html *h);
void page_draw_waterfall(struct page_html *h);
void page_draw_medians(struct page_html *h);

#endif
