/*
 * What bounds a kernel, on the first screen of its page.
 */
#include "page/page_number.h"
#include "page/page_panel.h"
#include "page/pages.h"
#include "text/page.h"

#define LEAST_SAVING 0.01 /* that an action is worth */

void page_bound(struct page_file *page, const struct limit_list *limits)
{
    struct str texts[LANGS];
    bool is_idle = limits->bound == LIMIT_NOTHING;

    for (enum lang lang = 0; lang < LANGS; lang++)
        texts[lang] = limits_text(limits, lang, &page->arena);
    const struct wording *help =
        wording_keep(&page->arena, wording_plain(str_of(limit_advice(limits->bound))));
    page->verdict = (struct page_verdict){
        .id = limit_name(limits->bound),
        .text = is_idle ? page_say(page, &page_text.nothing_to_judge)
                        : page_capital(page, page_pair(page, texts)),
        .evidence = is_idle || limits->bound == LIMIT_UNSEEN
                        ? wording_plain(S(""))
                        : PAGE_TELL(page, &page_text.to_try, place_wording("help", help)),
        .replay_error = -1,
    };
}

/* `row`: the table of the view has a row for each limit that was tried, whether it saves
 * anything or not. */
void page_limits(struct page_file *page, const struct limit_list *limits, double scale,
                 const char *view)
{
    size_t row = 0;

    for (size_t i = 0; i < limits->n && page->n_actions < PAGE_ACTIONS; i++) {
        const struct limiter *x = &limits->at[i];
        row += x->is_tried;
        if (!x->is_tried || x->saved_share < LEAST_SAVING)
            continue;
        const struct wording *name =
            wording_keep(&page->arena, wording_plain(str_of(limit_name(x->what))));
        page->actions[page->n_actions++] = (struct page_action){
            .id = limit_name(x->what),
            .title = page_capital(page, wording_plain(str_of(limit_advice(x->what)))),
            .evidence = PAGE_TELL(page, &page_text.limit_evidence, place_wording("bound", name),
                                  PLACE("share", page_share_text(&page->arena, x->path_share))),
            .show = page_say(page, &page_text.show_what_if),
            .saving = nanos_of((double)x->saved * scale),
            .share = x->saved_share,
            .bound = SAVING_AT_MOST,
            .link = page_row_address(page, view, row - 1),
        };
    }
}

int page_limit_family(enum limit what)
{
    switch (what) {
    case LIMIT_CUBE:
        return PAGE_MATRIX;
    case LIMIT_VECTOR:
        return PAGE_VECTOR;
    case LIMIT_READ:
        return PAGE_COPY;
    case LIMIT_WRITE:
        return PAGE_COMM;
    case LIMIT_ON_CHIP:
        return PAGE_LAYOUT;
    default:
        return PAGE_HOST;
    }
}
