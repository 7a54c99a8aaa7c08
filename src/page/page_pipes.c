/*
 * The first screen's picture of one core: how busy each pipe was over time, and when it waited.
 */
#include <stdio.h>

#include "page/page_encode.h"
#include "page/page_html.h"
#include "page/page_number.h"
#include "page/page_panel.h"
#include "text/page.h"

enum { LANES_SHOWN = 14, ROW = 18, COLUMNS = 256, BUCKETS_A_COLUMN = PAGE_BUCKETS / COLUMNS };

#define LEAST_BUSY 0.0005 /* lanes with less are left out */

static double busy_of(const struct page_set *set, const struct page_lane *lane)
{
    return lane->told > 0 ? lane->told : num_share((double)lane->busy, (double)set->to);
}

/* One filled line over all columns; `y` is how far it is from the top. */
static void put_area(struct page_html *h, const double *shares, const char *fill)
{
    double before = -1;

    page_html_format(h, "<path %s d=\"M0 %d", fill, ROW);
    for (int i = 0; i < COLUMNS; i++) {
        double share = 0;
        for (int k = 0; k < BUCKETS_A_COLUMN; k++)
            share += shares[i * BUCKETS_A_COLUMN + k] / BUCKETS_A_COLUMN;
        if (share != before)
            page_html_format(h, "H%dV%.1f", i, ROW * (1 - (share > 1 ? 1 : share)));
        before = share;
    }
    page_html_format(h, "H%dV%dZ\"/>", COLUMNS, ROW);
}

/* "core0.veccore1" is "veccore1". */
static struct str brief(struct str core)
{
    size_t at = str_find_char(core, '.');

    return at < core.n ? str_part(core, at + 1, core.n) : core;
}

static void put_lane(struct page_html *h, const struct page_set *set, size_t place, bool has_groups)
{
    const struct page_lane *lane = &set->lanes.at[place];
    double busy[PAGE_BUCKETS], waits[PAGE_BUCKETS], all[PAGE_BUCKETS];
    char fill[32];
    int family = page_lane_shares(set, place, busy, waits);

    for (int i = 0; i < PAGE_BUCKETS; i++)
        all[i] = busy[i] + waits[i];
    page_html_put(h, S("<li><span class=\"label\"><a href=\"#v=timeline\">"));
    if (has_groups)
        page_html_format(h, "%s ", page_escape(h, brief(set->groups.at[lane->group].name)));
    page_html_format(h,
                     "%s</a></span><svg class=\"track\" height=\"%d\" viewBox=\"0 0 %d %d\" "
                     "preserveAspectRatio=\"none\" aria-hidden=\"true\">",
                     page_escape(h, lane->name), ROW, COLUMNS, ROW);
    put_area(h, all, "class=\"waits\"");
    snprintf(fill, sizeof(fill), "class=\"f%d\"", family);
    put_area(h, busy, fill);
    page_html_format(h, "</svg><span class=\"value\">%s</span></li>\n",
                     page_escape(h, page_share_text(&h->page->arena, busy_of(set, lane))));
}

void page_draw_pipes(struct page_html *h)
{
    const struct page_set *set = h->page->sets[0];
    size_t shown = 0;

    page_html_put(h, S("<section>\n"));
    page_html_heading(h, "pipes", message_in(h->lang, &page_text.heading_pipes),
                      message_in(h->lang, &page_text.open), S("#v=timeline"));
    page_html_format(h, "<ul id=\"pipes-%s\" class=\"bars pipes\">\n", lang_name(h->lang));
    for (size_t i = 0; i < set->lanes.n && shown < LANES_SHOWN; i++)
        if (busy_of(set, &set->lanes.at[i]) >= LEAST_BUSY) {
            put_lane(h, set, i, set->groups.n > 1);
            shown++;
        }
    page_html_format(h, "</ul>\n<p class=\"note\">%s</p>\n</section>\n",
                     page_escape_message(h, &page_text.pipes_note));
}
