/*
 * Pictures of the first screen as inline SVG. Widths are percentages, so that text keeps its size.
 */
#include <stdio.h>

#include "page/page_html.h"
#include "page/page_number.h"
#include "text/page.h"

enum {
    BAR = 34,         /* height of the accounting bar */
    STRIP = 92,       /* of the step strip, */
    STRIP_TOP = 18,   /* the room for labels above it, */
    STRIP_FOOT = 18,  /* and below */
    STEPS_MOST = 400, /* bars of the strip */
    ROW = 30,         /* of the excerpt */
    ROW_BAR = 22,
    ROWS_DEVICE = 4,
    ROWS_HOST = 3,
    NAMED = 3, /* percent of the width from which on slices have names */
};

/* ---- classes as they are drawn ---- */

enum { PARTS = PAGE_FAMILIES + IDLE_CAUSES };

/* Part of a stack: compute by family of the page, then communication, copies, idle by cause. */
static int part_of_class(int class)
{
    if (class < ACCOUNT_COMM)
        return (int)page_family_of((enum kernel_family)(class - ACCOUNT_COMPUTE));
    if (class == ACCOUNT_COMM)
        return PAGE_COMM;
    return class < ACCOUNT_IDLE ? PAGE_COPY : PAGE_FAMILIES + class - ACCOUNT_IDLE;
}

static const struct message *part_label(int part)
{
    if (part == PAGE_COMM)
        return &page_text.class_comm;
    return part < PAGE_FAMILIES ? page_family_label((enum page_family)part)
                                : page_class_label(ACCOUNT_IDLE + part - PAGE_FAMILIES);
}

static const char *hatch_of(enum idle_cause cause)
{
    switch (cause) {
    case CAUSE_LAUNCH:
    case CAUSE_OPERATOR:
    case CAUSE_PYTHON:
        return "launch";
    case CAUSE_SYNC:
    case CAUSE_DEVICE_DEPENDENCY:
        return "sync";
    case CAUSE_INPUT:
    case CAUSE_COPY_STAGING:
        return "input";
    case CAUSE_ALLOCATOR:
    case CAUSE_COMPILE:
        return "allocator";
    default:
        return "other";
    }
}

static void put_fill(struct page_html *h, int part)
{
    if (part < PAGE_FAMILIES)
        html_format(h, "class=\"f%d\"", part);
    else
        html_format(h, "fill=\"url(#h-%s)\"", hatch_of((enum idle_cause)(part - PAGE_FAMILIES)));
}

static void parts_of(const nanos *by, nanos parts[PARTS])
{
    memset(parts, 0, PARTS * sizeof(*parts));
    for (int class = 0; class < ACCOUNT_CLASSES; class ++)
        parts[part_of_class(class)] += by[class];
}

/* "idle: launch 24.0 ms · 61 %" */
static struct str part_text(struct page_html *h, int part, nanos time, nanos all)
{
    struct arena *arena = &h->page->arena;

    return arena_format(arena, "%.*s %.*s · %.*s", STR_ARGS(message_in(h->lang, part_label(part))),
                        STR_ARGS(page_time_text(arena, (double)time)),
                        STR_ARGS(page_share_text(arena, num_share((double)time, (double)all))));
}

static void begin_picture(struct page_html *h, const char *id, int height, struct str title)
{
    html_format(
        h,
        "<svg id=\"%s-%s\" class=\"picture\" width=\"100%%\" height=\"%d\" role=\"group\"><title>",
        id, lang_name(h->lang), height);
    html_text(h, title);
    html_put(h, S("</title>\n"));
}

static void put_parts_desc(struct page_html *h, const nanos parts[PARTS], nanos all)
{
    html_put(h, S("<desc>"));
    for (int part = 0; part < PARTS; part++)
        if (parts[part] > 0) {
            html_text(h, part_text(h, part, parts[part], all));
            html_put(h, S("; "));
        }
    html_put(h, S("</desc>\n"));
}

/* ---- accounting ---- */

static void put_classes_of_part(struct page_html *h, const nanos *by, int part)
{
    bool is_first = true;

    html_put(h, S(" data-class=\""));
    for (int class = 0; class < ACCOUNT_CLASSES; class ++)
        if (by[class] > 0 && part_of_class(class) == part) {
            html_format(h, "%s%s", is_first ? "" : " ", account_class_name(class));
            is_first = false;
        }
    html_put(h, S("\""));
}

/* About how many pixels a label takes, and a part of the width has on a screen. */
static double label_width(struct str text)
{
    return (double)str_width(text) * 6.4 + 18;
}

static bool fits(struct str text, double percent)
{
    return label_width(text) <= percent * 12.3;
}

/* The longest of the label's forms that fits; empty when none does. */
static struct str part_label_in(struct page_html *h, int part, nanos time, struct str text,
                                double width)
{
    struct arena *arena = &h->page->arena;
    struct str name = message_in(h->lang, part_label(part));
    struct str middle = arena_format(arena, "%.*s %.*s", STR_ARGS(name),
                                     STR_ARGS(page_time_text(arena, (double)time)));

    return fits(text, width)     ? text
           : fits(middle, width) ? middle
           : fits(name, width)   ? name
                                 : S("");
}

static void put_label(struct page_html *h, struct str label, const char *class, double y)
{
    bool is_idle = class[0] == 'i';

    if (label.n == 0)
        return;
    if (is_idle)
        html_format(
            h, "<rect class=\"plate\" x=\"4\" y=\"%.0f\" width=\"%.0f\" height=\"18\" rx=\"3\"/>",
            y - 13, label_width(label) - 8);
    html_format(h, "<text class=\"%s\" x=\"9\" y=\"%.0f\">", class, y);
    html_text(h, label);
    html_put(h, S("</text>"));
}

static void put_part(struct page_html *h, const nanos *by, int part, double from, double width,
                     nanos time, struct str text)
{
    char class[8] = "i0";

    if (part < PAGE_FAMILIES)
        snprintf(class, sizeof(class), "l%d", part % 10);
    html_format(h, "<svg class=\"part\" x=\"%.3f%%\" width=\"%.3f%%\" height=\"%d\"", from, width,
                BAR);
    put_classes_of_part(h, by, part);
    html_put(h, S("><title>"));
    html_text(h, text);
    html_format(h, "</title><rect width=\"100%%\" height=\"%d\" ", BAR);
    put_fill(h, part);
    html_put(h, S("/>"));
    put_label(h, part_label_in(h, part, time, text, width), class, 21);
    html_put(h, S("</svg>\n"));
}

void page_draw_accounting(struct page_html *h)
{
    const struct accounting *a = h->page->sets[0]->a;
    struct page_mean mean = page_mean_of(a);
    struct arena *arena = &h->page->arena;
    nanos parts[PARTS], all = 0;
    double from = 0;

    if (mean.time <= 0)
        return;
    parts_of(mean.by, parts);
    for (int part = 0; part < PARTS; part++)
        all += parts[part];
    struct str heading = message_in(h->lang, a->is_pseudo ? &page_text.heading_accounting_whole
                                                          : &page_text.heading_accounting);
    html_put(h, S("<section>\n"));
    html_heading(h, "accounting", heading,
                 a->is_pseudo
                     ? page_time_text(arena, (double)mean.time)
                     : MESSAGE(h->lang, arena, &page_text.accounting_mean, PLACE("n", mean.steps),
                               PLACE("time", page_time_text(arena, (double)mean.time))),
                 S(""));
    begin_picture(h, "accounting", BAR, heading);
    put_parts_desc(h, parts, all);
    for (int part = 0; part < PARTS; part++) {
        if (parts[part] <= 0)
            continue;
        double width = 100.0 * (double)parts[part] / (double)all;
        put_part(h, mean.by, part, from, width, parts[part], part_text(h, part, parts[part], all));
        from += width;
    }
    html_put(h, S("</svg>\n</section>\n"));
}

/* ---- steps ---- */

/* Bars of the strip: a step each, or several of which the longest is drawn as an outline. */
struct strip {
    const struct accounting *a;
    size_t per_bar, bars;
    nanos longest;
};

static struct strip strip_of(const struct accounting *a)
{
    struct strip s = {.a = a, .per_bar = (a->n + STEPS_MOST - 1) / STEPS_MOST};

    s.bars = s.per_bar > 0 ? (a->n + s.per_bar - 1) / s.per_bar : 0;
    for (size_t i = 0; i < a->n; i++) {
        nanos time = account_step_time(&a->steps[i]);
        s.longest = time > s.longest ? time : s.longest;
    }
    return s;
}

static void put_stack(struct page_html *h, const nanos parts[PARTS], double x, double width,
                      double scale)
{
    double y = STRIP_TOP + STRIP;

    for (int part = 0; part < PARTS; part++) {
        double height = (double)parts[part] * scale;
        if (height <= 0)
            continue;
        y -= height;
        html_format(h, "<rect x=\"%.3f%%\" y=\"%.2f\" width=\"%.3f%%\" height=\"%.2f\" ", x, y,
                    width, height);
        put_fill(h, part);
        html_put(h, S("/>"));
    }
}

/* "ProfilerStep#6" is 6. */
static struct str step_name(struct page_html *h, const struct account_step *step)
{
    return step->number >= 0 ? arena_format(&h->page->arena, "%lld", (long long)step->number)
                             : step->id;
}

static void put_step_label(struct page_html *h, const struct strip *s, size_t step, double x)
{
    struct arena *arena = &h->page->arena;
    const struct account_step *of = &s->a->steps[step];
    double excess = (double)account_step_time(of) - (double)s->a->step_time;

    html_format(h, "<text class=\"mark\" x=\"%.3f%%\" y=\"12\" text-anchor=\"%s\">", x,
                x < 6    ? "start"
                : x > 94 ? "end"
                         : "middle");
    html_text(h, MESSAGE(h->lang, arena, &page_text.step_excess, PLACE("step", of->id),
                         PLACE("excess", page_delta_text(arena, excess))));
    html_put(h, S("</text>"));
}

static void put_bar(struct page_html *h, const struct strip *s, size_t bar, double width)
{
    struct arena *arena = &h->page->arena;
    size_t first = bar * s->per_bar,
           end = first + s->per_bar < s->a->n ? first + s->per_bar : s->a->n;
    double x = (double)bar * width,
           scale = (double)STRIP / (double)(s->longest > 0 ? s->longest : 1);
    nanos by[ACCOUNT_CLASSES] = {0}, parts[PARTS], most = 0;

    for (size_t i = first; i < end; i++) {
        nanos time = account_step_time(&s->a->steps[i]);
        most = time > most ? time : most;
        for (int class = 0; class < ACCOUNT_CLASSES; class ++)
            by[class] += s->a->steps[i].by[class] / (nanos)(end - first);
    }
    parts_of(by, parts);
    html_format(h, "<a href=\"#v=timeline&amp;step=%zu\" data-step=\"%zu\"><title>", first, first);
    html_text(h, arena_format(arena, "%.*s: %.*s", STR_ARGS(step_name(h, &s->a->steps[first])),
                              STR_ARGS(page_time_text(arena, (double)most))));
    html_put(h, S("</title>"));
    html_format(h, "<rect class=\"hit\" x=\"%.3f%%\" y=\"0\" width=\"%.3f%%\" height=\"%d\"/>", x,
                width, STRIP_TOP + STRIP);
    put_stack(h, parts, x, width * (s->bars > 100 ? 1 : 0.96), scale);
    if (s->per_bar > 1)
        html_format(
            h, "<rect class=\"most\" x=\"%.3f%%\" y=\"%.2f\" width=\"%.3f%%\" height=\"%.2f\"/>", x,
            STRIP_TOP + STRIP - (double)most * scale, width, (double)most * scale);
    html_put(h, S("</a>\n"));
}

static void put_bar_name(struct page_html *h, const struct strip *s, size_t bar, double width)
{
    size_t every = (s->bars + 15) / 16;

    if (every == 0 || bar % every != 0)
        return;
    html_format(h, "<text class=\"axis\" x=\"%.3f%%\" y=\"%d\" text-anchor=\"middle\">",
                ((double)bar + 0.5) * width, STRIP_TOP + STRIP + 14);
    html_text(h, step_name(h, &s->a->steps[bar * s->per_bar]));
    html_put(h, S("</text>"));
}

void page_draw_steps(struct page_html *h)
{
    const struct accounting *a = h->page->sets[0]->a;
    struct strip s = strip_of(a);
    size_t slow = SIZE_MAX;

    html_put(h, S("<section>\n"));
    html_heading(h, "steps", message_in(h->lang, &page_text.heading_steps),
                 a->is_pseudo ? S("") : message_in(h->lang, &page_text.steps_hint), S(""));
    if (a->is_pseudo || a->n == 0) {
        html_put(h, S("<p class=\"note\">"));
        html_message(h, &page_text.no_steps);
        html_put(h, S("</p>\n</section>\n"));
        return;
    }
    double width = 100.0 / (double)s.bars;
    begin_picture(h, "steps", STRIP_TOP + STRIP + STRIP_FOOT,
                  message_in(h->lang, &page_text.heading_steps));
    for (size_t bar = 0; bar < s.bars; bar++) {
        put_bar(h, &s, bar, width);
        put_bar_name(h, &s, bar, width);
    }
    for (size_t i = 0; i < a->n; i++)
        if (a->steps[i].is_slow && (slow == SIZE_MAX || account_step_time(&a->steps[i]) >
                                                            account_step_time(&a->steps[slow])))
            slow = i;
    if (slow != SIZE_MAX)
        put_step_label(h, &s, slow, ((double)(slow / s.per_bar) + 0.5) * width);
    html_put(h, S("</svg>\n</section>\n"));
}

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
static void put_slice(struct page_html *h, const struct view *v, size_t slice, double x,
                      double width)
{
    const struct slices *s = &v->set->cap->slices;
    const struct page_what *what = &v->set->whats.at[v->set->what[slice]];
    struct str name = page_name(v->set, capture_text(v->set->cap, s->name[slice]));

    if (what->family != PAGE_HOST)
        name = page_kernel_name(name);
    html_format(h, "<svg x=\"%.2f%%\" y=\"%.0f\" width=\"%.2f%%\" height=\"%d\"><title>", x, v->y,
                width, ROW_BAR);
    html_text(h, str_fit(name, 120));
    html_text(h, arena_format(&h->page->arena, ", %.*s",
                              STR_ARGS(page_time_text(&h->page->arena, (double)s->dur[slice]))));
    html_format(h, "</title><rect class=\"slice f%d\" width=\"100%%\" height=\"%d\"/>",
                what->family, ROW_BAR);
    html_format(h, "<text class=\"l%d\" x=\"6\" y=\"15\">", what->family);
    html_text(h, str_fit(name, 80));
    html_put(h, S("</text></svg>\n"));
}

static void put_row_label(struct page_html *h, const struct view *v, struct str label)
{
    html_format(h, "<svg width=\"14%%\" height=\"100%%\"><text class=\"axis\" x=\"0\" y=\"%.0f\">",
                v->y + 15);
    html_text(h, label);
    html_put(h, S("</text></svg>\n"));
}

static void begin_plot(struct page_html *h)
{
    html_put(h, S("<svg x=\"14%\" width=\"86%\" height=\"100%\">\n"));
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
    html_format(h,
                "<svg y=\"%.0f\" width=\"100%%\" height=\"%d\" viewBox=\"0 0 1000 %d\" "
                "preserveAspectRatio=\"none\">",
                v->y, ROW_BAR, ROW_BAR);
    for (int family = 0; family < PAGE_FAMILIES; family++) {
        if (small->paths[family].n > 0) {
            html_format(h, "<path class=\"f%d\" d=\"", family);
            html_put(h, text_view(&small->paths[family]));
            html_put(h, S("\"/>"));
        }
        text_free(&small->paths[family]);
    }
    html_put(h, S("</svg>\n"));
}

/* One row: slices of a lane at a depth. */
static void put_row(struct page_html *h, struct view *v, const struct page_lane *lane, size_t depth)
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
            put_slice(h, v, k, x, width);
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
    struct str cause = message_in(h->lang, page_class_label(ACCOUNT_IDLE + p->cause));
    struct str text =
        arena_format(arena, "%.*s %.*s", STR_ARGS(cause),
                     STR_ARGS(page_time_text(arena, (double)(p->at.end - p->at.begin))));
    html_format(h, "<svg x=\"%.3f%%\" y=\"%.0f\" width=\"%.3f%%\" height=\"%d\"><title>", x, v->y,
                width, ROW_BAR);
    html_text(h, text);
    html_format(h, "</title><rect width=\"100%%\" height=\"%d\" fill=\"url(#h-%s)\"/>", ROW_BAR,
                hatch_of((enum idle_cause)p->cause));
    put_label(h, fits(text, width * 0.86) ? text : S(""), "i0", 15);
    html_put(h, S("</svg>\n"));
}

static void put_idle_row(struct page_html *h, struct view *v)
{
    const struct accounting *a = v->set->a;
    size_t at;

    put_row_label(h, v, message_in(h->lang, &page_text.idle_row));
    begin_plot(h);
    vec_bisect(at, a->pieces.n, i, a->pieces.at[i].at.end <= v->from);
    for (; at < a->pieces.n && a->pieces.at[at].at.begin < v->to; at++)
        put_idle_piece(h, v, &a->pieces.at[at]);
    html_put(h, S("</svg>\n"));
    v->y += ROW;
}

static void put_lane_row(struct page_html *h, struct view *v, const struct page_lane *lane,
                         size_t depth, bool has_name)
{
    const struct page_group *group = &v->set->groups.at[lane->group];
    struct str name = page_name(v->set, lane->name);

    if (has_name)
        put_row_label(h, v,
                      group->kind == GROUP_DEVICE
                          ? arena_format(&h->page->arena, "%.*s %.*s",
                                         STR_ARGS(page_name(v->set, group->name)), STR_ARGS(name))
                          : name);
    begin_plot(h);
    put_row(h, v, lane, depth);
    html_put(h, S("</svg>\n"));
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
        html_format(
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

    nanos to = nanos_add(focus->at.end, around + 1);

    return (struct view){
        .set = set, .from = nanos_sub(focus->at.begin, around + 1), .to = to, .end = to};
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

static size_t device_lanes(const struct view *v, const struct page_lane *out[ROWS_DEVICE])
{
    size_t n = 0;

    for (size_t i = 0; i < v->set->lanes.n && n < ROWS_DEVICE; i++) {
        const struct page_lane *lane = &v->set->lanes.at[i];
        if (v->set->groups.at[lane->group].kind <= GROUP_PIPES && lane->is_open &&
            lane->part != LANE_RANGES && has_any(v, lane))
            out[n++] = lane;
    }
    return n;
}

void page_draw_excerpt(struct page_html *h)
{
    const struct page_set *set = h->page->sets[0];
    const struct page_focus *focus = &h->page->focus;
    const struct page_lane *devices[ROWS_DEVICE], *host = host_lane(set);

    if (focus->at.end <= focus->at.begin)
        return;
    struct view v = view_of(set, focus);
    size_t n = device_lanes(&v, devices), hosts = host != NULL ? host_rows(host) : 0;
    bool has_idle = set->a->pieces.n > 0;
    struct str heading =
        message_in(h->lang, focus->is_gap ? &page_text.heading_gap : &page_text.heading_slice);
    html_put(h, S("<section>\n"));
    html_heading(h, "excerpt", heading, message_in(h->lang, &page_text.open),
                 page_link(h->page, 0, focus));
    begin_picture(h, "excerpt", (int)(n + has_idle + hosts) * ROW, heading);
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
    html_put(h, S("</svg>\n</section>\n"));
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
    html_format(h, "<line class=\"arrow\" x1=\"%.3f%%\" y1=\"%.0f\" x2=\"%.3f%%\" y2=\"%.0f\"/>",
                x_of(v, v->end), v->y - 4, x_of(v, v->end), v->y + ROW_BAR);
    html_format(h, "<text class=\"mark\" x=\"%.3f%%\" dx=\"6\" y=\"%.0f\">", x_of(v, v->end),
                v->y + 15);
    html_text(h, MESSAGE(h->lang, arena, &page_text.diff_less,
                         PLACE("delta", page_time_text(arena, (double)less))));
    html_put(h, S("</text></svg>\n"));
}

static double put_side(struct page_html *h, size_t side, nanos longest, double y)
{
    const struct page_set *set = h->page->sets[side];
    struct interval at = set->a->steps[h->page->diff->step[side]].window;
    struct view v = {set, at.begin, nanos_add(at.begin, longest), at.end, y};
    const struct page_lane *devices[ROWS_DEVICE];
    size_t n = device_lanes(&v, devices);
    nanos less = longest - (at.end - at.begin);

    for (size_t i = 0; i < n && i < 2; i++) {
        put_row_label(h, &v,
                      arena_format(&h->page->arena, "%c %.*s", "AB"[side],
                                   STR_ARGS(page_name(set, devices[i]->name))));
        begin_plot(h);
        put_row(h, &v, devices[i], 0);
        html_put(h, S("</svg>\n"));
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
    html_put(h, S("<section>\n"));
    html_heading(h, "medians", heading, message_in(h->lang, &page_text.open),
                 arena_format(&page->arena, "#v=timeline&step=%zu", page->diff->step[0]));
    inside.sink = text_sink(&rows);
    for (size_t side = 0; side < 2; side++)
        y = put_side(&inside, side, longest, y);
    begin_picture(h, "medians", (int)y, heading);
    html_put(h, text_view(&rows));
    html_put(h, S("</svg>\n</section>\n"));
    text_free(&rows);
}
