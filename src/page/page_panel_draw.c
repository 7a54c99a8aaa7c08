/*
 * Parts of views on the first screen, as HTML and inline SVG that need no script.
 */
#include <math.h>
#include <stdio.h>

#include "page/page_html.h"
#include "page/page_number.h"
#include "page/page_panel.h"
#include "text/page.h"

enum {
    BARS_SHOWN = 8,
    STACK = 34,
    CHART_W = 560, /* units of a chart's drawing */
    CHART_H = 260,
    CHART_LEFT = 84,
    CHART_RIGHT = 12,
    CHART_TOP = 24,
    CHART_FOOT = 38,
    POINTS_SHOWN = 150,
    NAMES_SHOWN = 8, /* beside their points */
};

/* "class=\"f3\"", or the hatch of waiting. */
static void put_fill(struct page_html *h, int family)
{
    if (family >= 0)
        page_html_format(h, "class=\"f%d\"", family);
    else
        page_html_put(h, family == PAGE_HATCHED ? S("fill=\"url(#h-sync)\"") : S("class=\"f7\""));
}

static void put_link(struct page_html *h, struct str link, struct wording text)
{
    if (link.n > 0)
        page_html_format(h, "<a href=\"%s\">", page_escape(h, link));
    page_html_format(h, "%s%s", page_escape_wording(h, text), link.n > 0 ? "</a>" : "");
}

/* ---- bars ---- */

static struct str draw_number_of(struct page_html *h, enum page_unit unit, double value)
{
    return page_number_text(h->page, unit, value);
}

static double percent_of(double value, double most)
{
    double percent = most > 0 ? 100 * value / most : 0;

    return percent > 100 ? 100 : percent < 0 ? 0 : percent;
}

static void draw_bars(struct page_html *h, const struct page_bars *bars)
{
    page_html_put(h, S("<ul class=\"bars\">\n"));
    for (size_t i = 0; i < bars->at.n && i < BARS_SHOWN; i++) {
        const struct page_bar *bar = &bars->at.at[i];
        page_html_put(h, S("<li><span class=\"label\">"));
        put_link(h, bar->link, bar->label);
        page_html_put(h, S("</span><svg class=\"track\" height=\"14\" aria-hidden=\"true\">"));
        if (bar->before > 0)
            page_html_format(h, "<rect class=\"before\" width=\"%.2f%%\" height=\"14\"/>",
                             percent_of(bar->before, bars->most));
        page_html_format(h, "<rect width=\"%.2f%%\" height=\"14\" ",
                         percent_of(bar->value, bars->most));
        put_fill(h, bar->family);
        page_html_format(h, "/></svg><span class=\"value\">%s",
                         page_escape(h, draw_number_of(h, bars->unit, bar->value)));
        if (bars->is_saved && bar->before > 0)
            page_html_format(
                h, " <b class=\"better-text\">%s</b>",
                page_escape(h, draw_number_of(h, PAGE_CHANGE, bar->value / bar->before - 1)));
        page_html_put(h, S("</span></li>\n"));
    }
    page_html_put(h, S("</ul>\n"));
}

/* The longest form of a label that fits; empty when none does. */
static struct str stack_label(struct str whole, struct str name, double width)
{
    return page_label_fits(whole, width) ? whole : page_label_fits(name, width) ? name : S("");
}

static void draw_stack(struct page_html *h, const char *id, const struct page_part *part)
{
    const struct page_bars *bars = part->bars;
    double from = 0;

    page_draw_begin(h, id, STACK, page_wording(h->page, h->lang, part->title));
    for (size_t i = 0; i < bars->at.n; i++) {
        const struct page_bar *bar = &bars->at.at[i];
        double width = percent_of(bar->value, bars->most);
        struct str name = page_wording(h->page, h->lang, bar->label);
        struct str whole = arena_format(
            &h->page->arena, "%.*s %.*s · %.*s", STR_ARGS(name),
            STR_ARGS(draw_number_of(h, bars->unit, bar->value)),
            STR_ARGS(draw_number_of(h, PAGE_SHARE, bars->most > 0 ? bar->value / bars->most : 0)));
        page_html_format(h,
                         "<svg class=\"part\" x=\"%.3f%%\" width=\"%.3f%%\" "
                         "height=\"%d\"><title>%s</title><rect width=\"100%%\" height=\"%d\" ",
                         from, width, STACK, page_escape(h, whole), STACK);
        put_fill(h, bar->family);
        page_html_put(h, S("/>"));
        char class[8] = {bar->family >= 0 ? 'l' : 'i',
                         (char)('0' + (bar->family >= 0 ? bar->family % 10 : 0)), '\0'};
        page_draw_label(h, stack_label(whole, name, width), class, 21);
        page_html_put(h, S("</svg>\n"));
        from += width;
    }
    page_html_put(h, S("</svg>\n"));
}

/* ---- tables ---- */

static void put_number_cell(struct page_html *h, const struct page_table *t, size_t column,
                            double number)
{
    page_html_format(h, "<td class=\"n%s\">", t->columns[column].has_bar ? " with-bar" : "");
    if (t->columns[column].has_bar) {
        double most = 0;
        for (size_t i = column; i < t->cells.n; i += t->n_columns)
            most = t->cells.at[i].number > most ? t->cells.at[i].number : most;
        page_html_format(
            h,
            "<svg class=\"track\" height=\"10\" aria-hidden=\"true\"><rect class=\"f0\" "
            "width=\"%.2f%%\" height=\"10\"/></svg>",
            percent_of(number, most));
    }
    if (isfinite(number))
        page_html_text(h, draw_number_of(h, t->columns[column].unit, number));
    page_html_put(h, S("</td>"));
}

static void put_text_cell(struct page_html *h, const struct page_table *t, size_t column,
                          struct wording text, struct str link)
{
    static const char *const classes[] = {[PAGE_TEXT] = "<td>",
                                          [PAGE_NAME] = "<td class=\"long\">",
                                          [PAGE_CODE] = "<td class=\"code\">"};

    page_html_put(h, str_of(classes[t->columns[column].unit]));
    put_link(h, column == 0 || t->columns[column].unit == PAGE_CODE ? link : S(""), text);
    page_html_put(h, S("</td>"));
}

/* Numbers that no row has need no column. */
static bool has_numbers(const struct page_table *t, size_t column)
{
    for (size_t i = column; i < t->cells.n; i += t->n_columns)
        if (isfinite(t->cells.at[i].number))
            return true;
    return t->cells.n == 0;
}

static void draw_table(struct page_html *h, const struct page_table *t)
{
    size_t rows = page_table_rows(t), n = t->shown > 0 && t->shown < rows ? t->shown : rows;
    size_t columns = t->columns_shown > 0 ? t->columns_shown : t->n_columns;

    page_html_put(h, S("<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>"));
    for (size_t c = 0; c < columns; c++) {
        if (!page_is_text(t->columns[c].unit) && !has_numbers(t, c))
            continue;
        page_html_format(h, "%s%s</th>",
                         page_is_text(t->columns[c].unit) ? "<th scope=\"col\">"
                                                          : "<th scope=\"col\" class=\"n\">",
                         page_escape_message(h, t->columns[c].head));
    }
    page_html_put(h, S("</tr></thead><tbody>\n"));
    for (size_t i = 0; i < n; i++) {
        page_html_put(h, S("<tr>"));
        for (size_t c = 0; c < columns; c++) {
            const struct page_cell *cell = &t->cells.at[i * t->n_columns + c];
            if (page_is_text(t->columns[c].unit))
                put_text_cell(h, t, c, cell->text, t->links.at[i]);
            else if (has_numbers(t, c))
                put_number_cell(h, t, c, cell->number);
        }
        page_html_put(h, S("</tr>\n"));
    }
    page_html_put(h, S("</tbody></table></div>\n"));
}

/* ---- charts ---- */

/* Powers of ten around what is shown. */
struct scale {
    double from, to; /* logarithms */
    double begin, length;
};

static void widen(struct scale *s, double value)
{
    if (!(value > 0) || !isfinite(value))
        return;
    s->from = fmin(s->from, log10(value));
    s->to = fmax(s->to, log10(value));
}

static double draw_place(const struct scale *s, double value)
{
    return s->begin + (log10(value) - s->from) / (s->to - s->from) * s->length;
}

static void finish_scale(struct scale *s)
{
    if (!(s->to >= s->from)) {
        s->from = 0;
        s->to = 1;
    }
    s->from = floor(s->from - 0.1);
    s->to = ceil(s->to + 0.1);
    s->from -= s->to - s->from < 2; /* two decades at least */
}

/* Curves leave the chart at both ends; their second point is the one that has to be seen. */
static void scales_of(const struct page_chart *c, struct scale *x, struct scale *y)
{
    *x = *y = (struct scale){.from = INFINITY, .to = -INFINITY};
    for (size_t i = 0; i < c->points.n; i++) {
        widen(x, c->points.at[i].x);
        widen(y, c->points.at[i].y);
    }
    for (size_t i = 0; i < c->curves.n; i++)
        if (c->curves.at[i].x.n > 1) {
            widen(x, c->curves.at[i].x.at[1]);
            widen(y, c->curves.at[i].y.at[1]);
        }
    finish_scale(x);
    finish_scale(y);
    if (c->is_square) {
        x->from = y->from = fmin(x->from, y->from);
        x->to = y->to = fmax(x->to, y->to);
    }
    x->begin = CHART_LEFT;
    x->length = CHART_W - CHART_LEFT - CHART_RIGHT;
    y->begin = CHART_H - CHART_FOOT;
    y->length = -(CHART_H - CHART_FOOT - CHART_TOP);
}

/* Every power of ten, or every second, third, … where they would crowd. */
static int stride(const struct scale *s, double least)
{
    double each = fabs(s->length) / (s->to - s->from);

    return (int)ceil(least / each);
}

static void put_axes(struct page_html *h, const struct page_chart *c, const struct scale *x,
                     const struct scale *y)
{
    for (int k = (int)x->from; k <= (int)x->to; k += stride(x, 56)) {
        double at = draw_place(x, pow(10, k));
        page_html_format(h,
                         "<line class=\"rule\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/><text "
                         "class=\"axis\" x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%s</text>\n",
                         at, at, CHART_TOP, CHART_H - CHART_FOOT, at, CHART_H - CHART_FOOT + 15,
                         k == (int)x->from ? "start"
                         : k == (int)x->to ? "end"
                                           : "middle",
                         page_escape(h, draw_number_of(h, c->x_unit, pow(10, k))));
    }
    for (int k = (int)y->from; k <= (int)y->to; k += stride(y, 26)) {
        double at = draw_place(y, pow(10, k));
        page_html_format(h,
                         "<line class=\"rule\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/><text "
                         "class=\"axis\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                         CHART_LEFT, CHART_W - CHART_RIGHT, at, at, CHART_LEFT - 6, at + 4,
                         page_escape(h, draw_number_of(h, c->y_unit, pow(10, k))));
    }
    page_html_format(h,
                     "<text class=\"axis\" x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n<text "
                     "class=\"axis\" x=\"%d\" y=\"%d\">%s</text>\n",
                     CHART_W - CHART_RIGHT, CHART_H - 5, page_escape_message(h, c->x_label),
                     CHART_LEFT, CHART_TOP - 10, page_escape_message(h, c->y_label));
}

static void put_curve(struct page_html *h, const struct page_curve *curve, const struct scale *x,
                      const struct scale *y)
{
    double last = fmin(draw_place(y, curve->y.at[curve->y.n - 1]), CHART_H);

    page_html_format(h,
                     "<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" viewBox=\"%d %d %d %d\">"
                     "<polyline class=\"roof\" points=\"",
                     CHART_LEFT, CHART_TOP, CHART_W - CHART_LEFT - CHART_RIGHT,
                     CHART_H - CHART_TOP - CHART_FOOT, CHART_LEFT, CHART_TOP,
                     CHART_W - CHART_LEFT - CHART_RIGHT, CHART_H - CHART_TOP - CHART_FOOT);
    for (size_t i = 0; i < curve->x.n; i++)
        page_html_format(h, "%.1f,%.1f ", draw_place(x, curve->x.at[i]),
                         draw_place(y, curve->y.at[i]));
    page_html_format(
        h, "\"/></svg><text class=\"axis\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
        CHART_W - CHART_RIGHT - 4, fmax(last - 4, CHART_TOP + 12),
        page_escape_wording(h, curve->label));
}

static double radius_of(const struct page_chart *c, const struct page_point *p)
{
    double most = 0;

    for (size_t i = 0; i < c->points.n; i++)
        most = fmax(most, c->points.at[i].size);
    return most > 0 ? fmax(3, 14 * sqrt(p->size / most)) : 5;
}

/* A logarithm has no place for the others. */
static bool is_drawn(const struct page_point *p)
{
    return p->x > 0 && p->y > 0;
}

static void put_point(struct page_html *h, const char *view, const struct page_chart *c,
                      const struct page_point *p, const struct scale *x, const struct scale *y)
{
    bool has_link = p->row != SIZE_MAX;

    if (!is_drawn(p))
        return;
    if (has_link)
        page_html_format(h, "<a href=\"%s\">",
                         page_escape(h, page_row_address(h->page, view, p->row)));
    page_html_format(h, "<circle class=\"dot f%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"><title>%s%s",
                     p->family >= 0 ? p->family : 0, draw_place(x, p->x), draw_place(y, p->y),
                     radius_of(c, p),
                     page_escape(h, arena_format(&h->page->arena, "%.*s: %.*s, %.*s",
                                                 STR_ARGS(page_wording(h->page, h->lang, p->name)),
                                                 STR_ARGS(draw_number_of(h, c->x_unit, p->x)),
                                                 STR_ARGS(draw_number_of(h, c->y_unit, p->y)))),
                     has_link ? "</title></circle></a>\n" : "</title></circle>\n");
}

/* Names beside the points, where they do not lie over another name. */
static void put_names(struct page_html *h, const struct page_chart *c, const struct scale *x,
                      const struct scale *y)
{
    struct {
        double x, y, width;
    } put[NAMES_SHOWN];
    size_t n = 0;

    for (size_t i = 0; i < c->points.n && c->points.n <= NAMES_SHOWN; i++) {
        const struct page_point *p = &c->points.at[i];
        struct str name = page_wording(h->page, h->lang, p->name);
        double at = draw_place(x, p->x) + radius_of(c, p) + 4, line = draw_place(y, p->y) + 4;
        double width = 6.6 * (double)str_width(name);
        bool is_free = is_drawn(p) && at + width < CHART_W - CHART_RIGHT;
        for (size_t k = 0; k < n; k++)
            is_free &=
                fabs(put[k].y - line) > 13 || at > put[k].x + put[k].width || at + width < put[k].x;
        for (size_t k = 0; k < c->points.n; k++) { /* nor over a point */
            const struct page_point *o = &c->points.at[k];
            double away = draw_place(x, o->x);
            is_free &= k == i || fabs(draw_place(y, o->y) - line) > radius_of(c, o) + 6 ||
                       away + radius_of(c, o) < at || away - radius_of(c, o) > at + width;
        }
        if (!is_free)
            continue;
        put[n].x = at;
        put[n].y = line;
        put[n++].width = width;
        page_html_format(h, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", at, line,
                         page_escape(h, name));
    }
}

static void draw_chart(struct page_html *h, const char *id, const struct page_part *part)
{
    const struct page_chart *c = part->chart;
    struct scale x, y;

    scales_of(c, &x, &y);
    page_html_format(h,
                     "<svg id=\"%s-%s\" class=\"picture drawing\" viewBox=\"0 0 %d %d\" "
                     "role=\"group\"><title>%s</title>\n",
                     id, lang_name(h->lang), CHART_W, CHART_H, page_escape_wording(h, part->title));
    put_axes(h, c, &x, &y);
    for (size_t i = 0; i < c->curves.n; i++)
        put_curve(h, &c->curves.at[i], &x, &y);
    for (size_t i = 0; i < c->points.n && i < POINTS_SHOWN; i++)
        put_point(h, id, c, &c->points.at[i], &x, &y);
    put_names(h, c, &x, &y);
    page_html_put(h, S("</svg>\n"));
}

/* ---- where they stand ---- */

static void put_heading(struct page_html *h, const struct page_panel *panel, size_t at)
{
    const struct page_part *part = &panel->parts.at[at];
    char id[64];
    snprintf(id, sizeof(id), "%s%zu", panel->id, at);
    struct str link = arena_format(&h->page->arena, "#v=%s", panel->id);

    page_html_heading(h, id,
                      part->title.english.n > 0 ? page_wording(h->page, h->lang, part->title)
                                                : message_in(h->lang, panel->title),
                      message_in(h->lang, &page_text.all_rows), link);
}

static void draw_part(struct page_html *h, const struct page_panel *panel, size_t at)
{
    const struct page_part *part = &panel->parts.at[at];

    page_html_format(h, "<section class=\"%s\">\n", part->room == PAGE_HALF ? "half" : "whole");
    put_heading(h, panel, at);
    if (part->kind == PAGE_PART_BARS && part->bars->is_stack)
        draw_stack(h, panel->id, part);
    else if (part->kind == PAGE_PART_BARS)
        draw_bars(h, part->bars);
    else if (part->kind == PAGE_PART_TABLE)
        draw_table(h, part->table);
    else if (part->kind == PAGE_PART_CHART)
        draw_chart(h, panel->id, part);
    else if (part->kind == PAGE_PART_GRID)
        page_grid_draw(h, panel->id, part);
    else if (part->kind == PAGE_PART_LANES)
        page_lanes_draw(h, panel->id, part);
    if (part->note.english.n > 0)
        page_html_format(h, "<p class=\"note\">%s</p>\n", page_escape_wording(h, part->note));
    page_html_put(h, S("</section>\n"));
}

void page_draw_panels(struct page_html *h, bool is_top)
{
    if (!is_top)
        page_html_put(h, S("<div class=\"panels\">\n"));
    for (size_t i = 0; i < h->page->panels.n; i++) {
        const struct page_panel *panel = h->page->panels.at[i];
        for (size_t k = 0; k < panel->parts.n; k++)
            if (panel->parts.at[k].room != PAGE_BELOW &&
                (panel->parts.at[k].room == PAGE_TOP) == is_top)
                draw_part(h, panel, k);
    }
    if (!is_top)
        page_html_put(h, S("</div>\n"));
}
