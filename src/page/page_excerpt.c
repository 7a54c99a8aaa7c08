/*
 * Pieces of the timeline on the first screen: around a gap or a kernel, and two steps aligned.
 */
#include "page/page_html.h"
#include "page/page_number.h"
#include "text/page.h"

enum {
    ROW = 30, /* of the excerpt */
    ROW_BAR = 22,
    ROWS_DEVICE = 4,
    ROWS_HOST = 3,
    PLOT = 86,    /* percent of the width, beside the names of lanes */
    SHORTEST = 6, /* columns of a name */
    BRIEF = 9,    /* columns of a label on a narrow screen */
    NAMED = 3,    /* percent of the width from which on slices have names */
};

#define LABEL_ROOM (page_label_room(100 - PLOT) + 1)

/* ---- a piece of the timeline ---- */

struct view {
    const struct page_set *set;
    nanos from, to; /* on the clock of the capture */
    nanos end;      /* nothing is drawn from here on */
    double y;
};

static double x_of(const struct view *v, nanos t)
{
    double x = 100.0 * (double)(t - v->from) / (double)(v->to - v->from);

    return x < 0 ? 0 : x > 100 ? 100 : x;
}

/* First slice of a lane that ends in the view or later; slices of a lane may hold each other. */
static bool is_in_view(const struct view *v, size_t slice)
{
    const struct slices *s = &v->set->cap->slices;

    return s->begin[slice] < v->end && slices_end(s, slice) > v->from;
}

/* A slice with its name. */
static void excerpt_put_slice(struct page_html *h, const struct view *v, size_t slice, double x,
                              double width)
{
    const struct slices *s = &v->set->cap->slices;
    const struct page_what *what = &v->set->whats.at[v->set->what[slice]];
    struct str name = page_name(v->set, capture_text(v->set->cap, s->name[slice]));

    if (what->family != PAGE_HOST)
        name = page_kernel_name(name);
    page_html_format(
        h,
        "<svg x=\"%.2f%%\" y=\"%.0f\" width=\"%.2f%%\" height=\"%d\"><title>%s%s</title><rect "
        "class=\"slice f%d\" width=\"100%%\" height=\"%d\"/>",
        x, v->y, width, ROW_BAR, page_escape(h, str_fit(name, 120)),
        page_escape(h,
                    arena_format(&h->page->arena, ", %.*s",
                                 STR_ARGS(page_time_text(&h->page->arena, (double)s->dur[slice])))),
        what->family, ROW_BAR);
    size_t room = page_label_room(width * PLOT / 100);
    if (room >= SHORTEST)
        page_html_format(h, "<text class=\"l%d\" x=\"6\" y=\"15\">%s</text>", what->family,
                         page_escape(h, page_cut(h, name, room)));
    page_html_put(h, S("</svg>\n"));
}

static void put_label_text(struct page_html *h, const struct view *v, const char *class,
                           struct str label, size_t room)
{
    page_html_format(h, "<text class=\"axis %s\" x=\"0\" y=\"%.0f\">%s</text>", class, v->y + 15,
                     page_escape(h, page_cut(h, label, room)));
}

/* `brief` stands for it on a narrow screen. */
static void put_row_label(struct page_html *h, const struct view *v, struct str label,
                          struct str brief)
{
    page_html_put(h, S("<svg class=\"row-label\" width=\"14%\" height=\"100%\">"));
    put_label_text(h, v, "wide", label, LABEL_ROOM);
    put_label_text(h, v, "narrow", brief, BRIEF);
    page_html_put(h, S("</svg>\n"));
}

static void begin_plot(struct page_html *h)
{
    page_html_put(h, S("<svg x=\"14%\" width=\"86%\" height=\"100%\">\n"));
}

/* Slices too small for a name: one path for each family, in thousandths of the width. */
struct small_slices {
    struct text paths[PAGE_FAMILIES];
    double to[PAGE_FAMILIES]; /* drawn so far */
};

static void add_small(struct small_slices *small, int family, double x, double width)
{
    double from = x * 10, to = (x + width) * 10;

    to = to - from < 1 ? from + 1 : to;
    if (to - small->to[family] < 0.5)
        return;
    from = from > small->to[family] ? from : small->to[family];
    text_format(&small->paths[family], "M%.1f 0h%.1fv%dH%.1fz", from, to - from, ROW_BAR, from);
    small->to[family] = to;
}

static void put_small(struct page_html *h, const struct view *v, struct small_slices *small)
{
    page_html_format(h,
                     "<svg y=\"%.0f\" width=\"100%%\" height=\"%d\" viewBox=\"0 0 1000 %d\" "
                     "preserveAspectRatio=\"none\">",
                     v->y, ROW_BAR, ROW_BAR);
    for (int family = 0; family < PAGE_FAMILIES; family++) {
        if (small->paths[family].n > 0) {
            page_html_format(h, "<path class=\"f%d\" d=\"", family);
            page_html_put(h, text_view(&small->paths[family]));
            page_html_put(h, S("\"/>"));
        }
        text_free(&small->paths[family]);
    }
    page_html_put(h, S("</svg>\n"));
}

/* One row: slices of a lane at a depth. */
static void excerpt_put_row(struct page_html *h, struct view *v, const struct page_lane *lane,
                            size_t depth)
{
    const struct lane *of = &v->set->cap->lanes.at[lane->lane];
    const struct slices *s = &v->set->cap->slices;
    VEC_OF(nanos) stack = {0};
    struct small_slices small = {0};

    for (size_t k = of->first; k < of->first + of->n && s->begin[k] < v->end; k++) {
        if (page_is_range(of->key.kind, s->kind[k]))
            continue;
        while (stack.n > 0 && stack.at[stack.n - 1] <= s->begin[k])
            stack.n--;
        size_t at = stack.n;
        vec_push(&stack, slices_end(s, k));
        if (at != depth || !is_in_view(v, k))
            continue;
        double x = x_of(v, s->begin[k]), width = x_of(v, slices_end(s, k)) - x;
        if (width >= NAMED)
            excerpt_put_slice(h, v, k, x, width);
        else
            add_small(&small, v->set->whats.at[v->set->what[k]].family, x, width);
    }
    vec_free(&stack);
    put_small(h, v, &small);
}

static bool has_any(const struct view *v, const struct page_lane *lane)
{
    const struct lane *of = &v->set->cap->lanes.at[lane->lane];

    for (size_t k = of->first; k < of->first + of->n; k++)
        if (is_in_view(v, k) && !page_is_range(of->key.kind, v->set->cap->slices.kind[k]))
            return true;
    return false;
}

static void put_idle_piece(struct page_html *h, const struct view *v, const struct idle_piece *p)
{
    double x = x_of(v, p->at.begin), width = x_of(v, p->at.end) - x;
    struct arena *arena = &h->page->arena;

    if (width < 0.1)
        return;
    struct str cause = message_in(h->lang, account_class_label(ACCOUNT_IDLE + p->cause));
    struct str text =
        arena_format(arena, "%.*s %.*s", STR_ARGS(cause),
                     STR_ARGS(page_time_text(arena, (double)(p->at.end - p->at.begin))));
    page_html_format(
        h,
        "<svg x=\"%.3f%%\" y=\"%.0f\" width=\"%.3f%%\" height=\"%d\"><title>%s</title><rect "
        "width=\"100%%\" height=\"%d\" fill=\"url(#h-%s)\"/>",
        x, v->y, width, ROW_BAR, page_escape(h, text), ROW_BAR,
        page_draw_hatch((enum idle_cause)p->cause));
    page_draw_label(h, page_label_fits(text, width * 0.86) ? text : S(""), "i0", 15);
    page_html_put(h, S("</svg>\n"));
}

static void put_idle_row(struct page_html *h, struct view *v)
{
    const struct accounting *a = v->set->a;
    size_t at;

    put_row_label(h, v, message_in(h->lang, &page_text.idle_row),
                  message_in(h->lang, &page_text.word_idle));
    begin_plot(h);
    vec_bisect(at, a->pieces.n, i, a->pieces.at[i].at.end <= v->from);
    for (; at < a->pieces.n && a->pieces.at[at].at.begin < v->to; at++)
        put_idle_piece(h, v, &a->pieces.at[at]);
    page_html_put(h, S("</svg>\n"));
    v->y += ROW;
}

static void put_lane_row(struct page_html *h, struct view *v, const struct page_lane *lane,
                         size_t depth, bool has_name)
{
    const struct page_group *group = &v->set->groups.at[lane->group];
    struct str name = page_name(v->set, lane->name);
    struct str whole = group->kind == GROUP_DEVICE
                           ? arena_format(&h->page->arena, "%.*s %.*s",
                                          STR_ARGS(page_name(v->set, group->name)), STR_ARGS(name))
                           : name;

    if (has_name) /* lanes of a device differ at the end */
        put_row_label(h, v, str_fit(whole, LABEL_ROOM).n == whole.n ? whole : name, name);
    begin_plot(h);
    excerpt_put_row(h, v, lane, depth);
    page_html_put(h, S("</svg>\n"));
    v->y += ROW;
}

/* Where the arrow from a launch to its task goes. */
static void put_arrow(struct page_html *h, const struct view *v, const struct page_focus *focus,
                      double from_y, double to_y)
{
    const struct accounting *a = v->set->a;
    const struct slices *s = &v->set->cap->slices;

    for (size_t i = 0; i < a->tasks.n; i++) {
        const struct device_task *t = &a->tasks.at[i];
        if (t->slice != focus->slice || t->call == NO_CALL)
            continue;
        const struct host_call *call = &a->host.calls[t->call];
        if (s->begin[call->slice] < v->from)
            return;
        begin_plot(h);
        page_html_format(
            h,
            "<line class=\"arrow\" x1=\"%.3f%%\" y1=\"%.0f\" x2=\"%.3f%%\" y2=\"%.0f\"/></svg>\n",
            x_of(v, call->begin), from_y, x_of(v, t->begin), to_y);
        return;
    }
}

static struct view view_of(const struct page_set *set, const struct page_focus *focus)
{
    nanos length = focus->at.end - focus->at.begin;
    nanos around = focus->is_gap ? length / 2 : length * 2;

    nanos from = nanos_sub(focus->at.begin, around + 1), to = nanos_add(focus->at.end, around + 1);

    from = from > set->origin ? from : set->origin;
    to = to < nanos_add(set->origin, set->to) ? to : nanos_add(set->origin, set->to);
    return (struct view){.set = set, .from = from, .to = to, .end = to};
}

static size_t host_rows(const struct page_lane *lane)
{
    return lane->depth < ROWS_HOST ? lane->depth : ROWS_HOST;
}

static const struct page_lane *host_lane(const struct page_set *set)
{
    for (size_t i = 0; i < set->lanes.n; i++)
        if (set->lanes.at[i].is_open && set->groups.at[set->lanes.at[i].group].kind == GROUP_HOST)
            return &set->lanes.at[i];
    return NULL;
}

/* Lanes of devices with work in view; the one of the slice that is looked at in any case. */
static size_t device_lanes(const struct view *v, uint32_t slice,
                           const struct page_lane *out[ROWS_DEVICE])
{
    size_t n = 0, wanted = slice != NO_SLICE ? page_lane_of(v->set, slice) : UINT32_MAX;
    bool is_ahead = wanted < v->set->lanes.n; /* comes further down */

    for (size_t i = 0; i < v->set->lanes.n; i++) {
        const struct page_lane *lane = &v->set->lanes.at[i];
        bool is_other = v->set->groups.at[lane->group].kind <= GROUP_PIPES && lane->is_open &&
                        lane->part != LANE_RANGES && n + is_ahead < ROWS_DEVICE && has_any(v, lane);
        if (i == wanted || is_other)
            out[n++] = lane;
        is_ahead = is_ahead && i != wanted;
    }
    return n;
}

void page_draw_excerpt(struct page_html *h)
{
    const struct page_set *set = h->page->sets[h->page->lead];
    const struct page_focus *focus = &h->page->focus;
    const struct page_lane *devices[ROWS_DEVICE], *host = host_lane(set);

    if (focus->at.end <= focus->at.begin)
        return;
    struct view v = view_of(set, focus);
    size_t n = device_lanes(&v, focus->slice, devices), hosts = host != NULL ? host_rows(host) : 0;
    bool has_idle = set->a->pieces.n > 0;
    struct str heading = message_in(h->lang, page_is_healthy(h->page) ? &page_text.heading_healthy
                                             : focus->is_gap          ? &page_text.heading_gap
                                                                      : &page_text.heading_slice);
    page_html_put(h, S("<section>\n"));
    page_html_heading(h, "excerpt", heading, message_in(h->lang, &page_text.open),
                      page_link(h->page, h->page->lead, focus));
    page_draw_begin(h, "excerpt", (int)(n + has_idle + hosts) * ROW, heading);
    double device_y = 0;
    for (size_t i = 0; i < n; i++) {
        if (devices[i]->lane == set->cap->slices.lane[focus->slice])
            device_y = v.y;
        put_lane_row(h, &v, devices[i], 0, true);
    }
    if (has_idle)
        put_idle_row(h, &v);
    double host_y = v.y;
    for (size_t depth = 0; depth < hosts; depth++)
        put_lane_row(h, &v, host, depth, depth == 0);
    if (hosts > 0)
        put_arrow(h, &v, focus, host_y + ROW * (double)(hosts - 1), device_y + ROW_BAR);
    page_html_put(h, S("</svg>\n</section>\n"));
}

/* ---- two steps ---- */

/* The time from the origin of both views that their steps last. */
static nanos step_length(const struct page_file *page, size_t side)
{
    const struct accounting *a = page->sets[side]->a;

    return page->diff->step[side] < a->n ? account_step_time(&a->steps[page->diff->step[side]]) : 0;
}

/* How much shorter the step of this view is. */
static void put_less(struct page_html *h, const struct view *v, nanos less)
{
    struct arena *arena = &h->page->arena;

    begin_plot(h);
    page_html_format(
        h,
        "<line class=\"arrow\" x1=\"%.3f%%\" y1=\"%.0f\" x2=\"%.3f%%\" y2=\"%.0f\"/><text "
        "class=\"mark\" x=\"%.3f%%\" dx=\"6\" y=\"%.0f\">%s</text></svg>\n",
        x_of(v, v->end), v->y - 4, x_of(v, v->end), v->y + ROW_BAR, x_of(v, v->end), v->y + 15,
        page_escape(h, MESSAGE(h->lang, arena, &page_text.diff_less,
                               PLACE("delta", page_time_text(arena, (double)less)))));
}

static double put_side(struct page_html *h, size_t side, nanos longest, double y)
{
    const struct page_set *set = h->page->sets[side];
    struct interval at = set->a->steps[h->page->diff->step[side]].window;
    struct view v = {set, at.begin, nanos_add(at.begin, longest), at.end, y};
    const struct page_lane *devices[ROWS_DEVICE];
    size_t n = device_lanes(&v, NO_SLICE, devices);
    nanos less = longest - (at.end - at.begin);

    for (size_t i = 0; i < n && i < 2; i++) {
        put_row_label(h, &v,
                      arena_format(&h->page->arena, "%c %.*s", "AB"[side],
                                   STR_ARGS(page_name(set, devices[i]->name))),
                      side == 0 ? S("A") : S("B"));
        begin_plot(h);
        excerpt_put_row(h, &v, devices[i], 0);
        page_html_put(h, S("</svg>\n"));
        if (i == 0 && less * 50 > longest)
            put_less(h, &v, less);
        v.y += ROW;
    }
    return v.y;
}

void page_draw_medians(struct page_html *h)
{
    struct page_file *page = h->page;
    struct text rows = {0};
    struct page_html inside = *h;
    double y = 0;

    nanos a = step_length(page, 0), b = step_length(page, 1), longest = a > b ? a : b;
    if (longest <= 0)
        return;
    struct str heading = message_in(h->lang, &page_text.heading_median);
    page_html_put(h, S("<section>\n"));
    page_html_heading(h, "medians", heading, message_in(h->lang, &page_text.open),
                      arena_format(&page->arena, "#v=timeline&step=%zu", page->diff->step[0]));
    inside.sink = text_sink(&rows);
    for (size_t side = 0; side < 2; side++)
        y = put_side(&inside, side, longest, y);
    page_draw_begin(h, "medians", (int)y, heading);
    page_html_put(h, text_view(&rows));
    page_html_put(h, S("</svg>\n</section>\n"));
    text_free(&rows);
}
