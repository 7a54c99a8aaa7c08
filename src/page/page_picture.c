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
};

/* ---- classes as they are drawn ---- */

int page_part_of_class(int class)
{
    if (class < ACCOUNT_COMM)
        return (int)page_family_of((enum kernel_family)(class - ACCOUNT_COMPUTE));
    if (class == ACCOUNT_COMM)
        return PAGE_COMM;
    return class < ACCOUNT_IDLE ? PAGE_COPY : PAGE_FAMILIES + class - ACCOUNT_IDLE;
}

const struct message *page_part_label(int part)
{
    if (part == PAGE_COMM)
        return account_class_label(ACCOUNT_COMM);
    return part < PAGE_FAMILIES ? page_family_label((enum page_family)part)
                                : account_class_label(ACCOUNT_IDLE + part - PAGE_FAMILIES);
}

const char *page_draw_hatch(enum idle_cause cause)
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
    case CAUSE_START_UP:
        return "allocator";
    default:
        return "other";
    }
}

static void put_fill(struct page_html *h, int part)
{
    if (part < PAGE_FAMILIES)
        page_html_format(h, "class=\"f%d\"", part);
    else
        page_html_format(h, "fill=\"url(#h-%s)\"",
                         page_draw_hatch((enum idle_cause)(part - PAGE_FAMILIES)));
}

static void parts_of(const nanos *by, nanos parts[PAGE_PARTS])
{
    memset(parts, 0, PAGE_PARTS * sizeof(*parts));
    for (int class = 0; class < ACCOUNT_CLASSES; class ++)
        parts[page_part_of_class(class)] += by[class];
}

/* "idle (launch) 24.0 ms · 61 %" */
static struct str part_text(struct page_html *h, int part, nanos time, nanos all)
{
    struct arena *arena = &h->page->arena;

    return arena_format(arena, "%.*s %.*s · %.*s",
                        STR_ARGS(message_in(h->lang, page_part_label(part))),
                        STR_ARGS(page_time_text(arena, (double)time)),
                        STR_ARGS(page_share_text(arena, num_share((double)time, (double)all))));
}

void page_draw_begin(struct page_html *h, const char *id, int height, struct str title)
{
    page_html_format(h,
                     "<svg id=\"%s-%s\" class=\"picture\" width=\"100%%\" height=\"%d\" "
                     "role=\"group\"><title>%s</title>\n",
                     id, lang_name(h->lang), height, page_escape(h, title));
}

static void put_parts_desc(struct page_html *h, const nanos parts[PAGE_PARTS], nanos all)
{
    page_html_put(h, S("<desc>"));
    for (int part = 0; part < PAGE_PARTS; part++)
        if (parts[part] > 0)
            page_html_format(h, "%s; ", page_escape(h, part_text(h, part, parts[part], all)));
    page_html_put(h, S("</desc>\n"));
}

/* ---- accounting ---- */

#define SCREEN 9.8 /* pixels of a percent of the width, on a screen of 1024 */

/* About how many pixels a label takes. */
static double label_width(struct str text)
{
    return (double)str_width(text) * 6.4 + 18;
}

size_t page_label_room(double percent)
{
    double room = (percent * SCREEN - 12) / 6.4;

    return room > 1 ? (size_t)room : 1;
}

struct str page_cut(struct page_html *h, struct str name, size_t most)
{
    struct str front = str_fit(name, most), shorter = str_fit(name, most > 1 ? most - 1 : 1);

    return front.n == name.n ? name : arena_format(&h->page->arena, "%.*s…", STR_ARGS(shorter));
}

bool page_label_fits(struct str text, double percent)
{
    return label_width(text) <= percent * SCREEN;
}

/* The longest of the label's forms that fits; empty when none does. */
static struct str part_label_in(struct page_html *h, int part, nanos time, struct str text,
                                double width)
{
    struct arena *arena = &h->page->arena;
    struct str name = message_in(h->lang, page_part_label(part));
    struct str middle = arena_format(arena, "%.*s %.*s", STR_ARGS(name),
                                     STR_ARGS(page_time_text(arena, (double)time)));

    return page_label_fits(text, width)     ? text
           : page_label_fits(middle, width) ? middle
           : page_label_fits(name, width)   ? name
                                            : S("");
}

void page_draw_label(struct page_html *h, struct str label, const char *class, double y)
{
    bool is_idle = class[0] == 'i';

    if (label.n == 0)
        return;
    if (is_idle)
        page_html_format(
            h, "<rect class=\"plate\" x=\"4\" y=\"%.0f\" width=\"%.0f\" height=\"18\" rx=\"3\"/>",
            y - 13, label_width(label) - 8);
    page_html_format(h, "<text class=\"%s\" x=\"9\" y=\"%.0f\">%s</text>", class, y,
                     page_escape(h, label));
}

static void put_part(struct page_html *h, const nanos *by, int part, double from, double width,
                     nanos time, struct str text)
{
    char class[8] = "i0";

    if (part < PAGE_FAMILIES)
        snprintf(class, sizeof(class), "l%d", part % 10);
    page_html_format(h, "<svg class=\"part\" x=\"%.3f%%\" width=\"%.3f%%\" height=\"%d\"", from,
                     width, BAR);
    bool is_first = true;
    page_html_put(h, S(" data-class=\""));
    for (int i = 0; i < ACCOUNT_CLASSES; i++)
        if (by[i] > 0 && page_part_of_class(i) == part) {
            page_html_format(h, "%s%s", is_first ? "" : " ", account_class_name(i));
            is_first = false;
        }
    page_html_format(h, "\"><title>%s</title><rect width=\"100%%\" height=\"%d\" ",
                     page_escape(h, text), BAR);
    put_fill(h, part);
    page_html_put(h, S("/>"));
    page_draw_label(h, part_label_in(h, part, time, text, width), class, 21);
    page_html_put(h, S("</svg>\n"));
}

void page_draw_accounting(struct page_html *h)
{
    const struct accounting *a = h->page->sets[h->page->lead]->a;
    struct account_mean mean = account_mean_of(a);
    struct arena *arena = &h->page->arena;
    nanos parts[PAGE_PARTS], all = 0;
    double from = 0;

    if (mean.time <= 0)
        return;
    parts_of(mean.by, parts);
    for (int part = 0; part < PAGE_PARTS; part++)
        all += parts[part];
    struct str heading =
        message_in(h->lang, a->is_pseudo || mean.is_mixed ? &page_text.heading_accounting_whole
                                                          : &page_text.heading_accounting);
    page_html_put(h, S("<section>\n"));
    page_html_heading(h, "accounting", heading,
                      a->is_pseudo || mean.is_mixed
                          ? page_time_text(arena, (double)mean.time)
                          : MESSAGE(h->lang, arena, &page_text.accounting_mean,
                                    PLACE("n", mean.steps),
                                    PLACE("time", page_time_text(arena, (double)mean.time))),
                      S(""));
    page_draw_begin(h, "accounting", BAR, heading);
    put_parts_desc(h, parts, all);
    for (int part = 0; part < PAGE_PARTS; part++) {
        if (parts[part] <= 0)
            continue;
        double width = 100.0 * (double)parts[part] / (double)all;
        put_part(h, mean.by, part, from, width, parts[part], part_text(h, part, parts[part], all));
        from += width;
    }
    page_html_put(h, S("</svg>\n</section>\n"));
}

void page_draw_stack(struct page_html *h, const nanos *by, double percent, int height)
{
    nanos parts[PAGE_PARTS], all = 0;
    double x = 0;

    parts_of(by, parts);
    for (int part = 0; part < PAGE_PARTS; part++)
        all += parts[part];
    for (int part = 0; part < PAGE_PARTS; part++) {
        double width = all > 0 ? percent * (double)parts[part] / (double)all : 0;
        if (width <= 0)
            continue;
        page_html_format(h, "<rect x=\"%.3f%%\" width=\"%.3f%%\" height=\"%d\" ", x, width, height);
        put_fill(h, part);
        page_html_format(h, "><title>%s</title></rect>",
                         page_escape(h, part_text(h, part, parts[part], all)));
        x += width;
    }
}

void page_draw_legend(struct page_html *h)
{
    nanos by[ACCOUNT_CLASSES] = {0}, parts[PAGE_PARTS];

    for (size_t i = 0; i < h->page->n_sets; i++)
        for (int class = 0; class < ACCOUNT_CLASSES; class ++)
            by[class] += h->page->sets[i]->a->all.by[class];
    parts_of(by, parts);
    page_html_put(h, S("<ul class=\"legend\">"));
    for (int part = 0; part < PAGE_FAMILIES; part++)
        if (parts[part] > 0)
            page_html_format(h, "<li><span class=\"swatch f%d\"></span>%s</li>", part,
                             page_escape_message(h, page_part_label(part)));
    page_html_format(h,
                     "<li><svg class=\"hatched\" width=\"10\" height=\"10\"><rect width=\"10\" "
                     "height=\"10\" fill=\"url(#h-launch)\"/></svg>%s</li></ul>\n",
                     page_escape_message(h, &page_text.word_idle));
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

static void put_stack(struct page_html *h, const nanos parts[PAGE_PARTS], double x, double width,
                      double scale)
{
    double y = STRIP_TOP + STRIP;

    for (int part = 0; part < PAGE_PARTS; part++) {
        double height = (double)parts[part] * scale;
        if (height <= 0)
            continue;
        y -= height;
        page_html_format(h, "<rect x=\"%.3f%%\" y=\"%.2f\" width=\"%.3f%%\" height=\"%.2f\" ", x, y,
                         width, height);
        put_fill(h, part);
        page_html_put(h, S("/>"));
    }
}

/* "ProfilerStep#6" is 6. */
struct str page_step_name(struct page_html *h, const struct account_step *step)
{
    return step->number >= 0 ? arena_format(&h->page->arena, "%lld", (long long)step->number)
                             : step->id;
}

static void put_step_label(struct page_html *h, const struct strip *s, size_t step, double x)
{
    struct arena *arena = &h->page->arena;
    const struct account_step *of = &s->a->steps[step];
    double excess = (double)account_step_time(of) - (double)s->a->step_time;

    page_html_format(h, "<text class=\"mark\" x=\"%.3f%%\" y=\"12\" text-anchor=\"%s\">%s</text>",
                     x,
                     x < 6    ? "start"
                     : x > 94 ? "end"
                              : "middle",
                     page_escape(h, MESSAGE(h->lang, arena, &page_text.step_excess,
                                            PLACE("step", page_step_name(h, of)),
                                            PLACE("excess", page_delta_text(arena, excess)))));
}

/* A bar of several steps is their mean, with the longest of them as a frame. */
static void put_bar(struct page_html *h, const struct strip *s, size_t bar, double width)
{
    struct arena *arena = &h->page->arena;
    size_t first = bar * s->per_bar,
           end = first + s->per_bar < s->a->n ? first + s->per_bar : s->a->n;
    double x = (double)bar * width,
           scale = (double)STRIP / (double)(s->longest > 0 ? s->longest : 1);
    nanos by[ACCOUNT_CLASSES] = {0}, parts[PAGE_PARTS], most = 0;

    for (size_t i = first; i < end; i++) {
        nanos time = account_step_time(&s->a->steps[i]);
        most = time > most ? time : most;
        for (int class = 0; class < ACCOUNT_CLASSES; class ++)
            by[class] += s->a->steps[i].by[class] / (nanos)(end - first);
    }
    parts_of(by, parts);
    page_html_format(
        h,
        "<a href=\"#v=timeline&amp;set=%zu&amp;step=%zu\" data-step=\"%zu\"><title>%s</title><rect "
        "class=\"hit\" x=\"%.3f%%\" y=\"0\" width=\"%.3f%%\" height=\"%d\"/>",
        h->page->lead, first, first,
        page_escape(h, arena_format(arena, "%.*s: %.*s",
                                    STR_ARGS(page_step_name(h, &s->a->steps[first])),
                                    STR_ARGS(page_time_text(arena, (double)most)))),
        x, width, STRIP_TOP + STRIP);
    put_stack(h, parts, x, width * (s->bars > 100 ? 1 : 0.96), scale);
    if (s->per_bar > 1)
        page_html_format(
            h, "<rect class=\"most\" x=\"%.3f%%\" y=\"%.2f\" width=\"%.3f%%\" height=\"%.2f\"/>", x,
            STRIP_TOP + STRIP - (double)most * scale, width, (double)most * scale);
    page_html_put(h, S("</a>\n"));
}

static void put_bar_name(struct page_html *h, const struct strip *s, size_t bar, double width)
{
    size_t every = (s->bars + 15) / 16;

    if (every == 0 || bar % every != 0)
        return;
    page_html_format(h,
                     "<text class=\"axis\" x=\"%.3f%%\" y=\"%d\" text-anchor=\"middle\">%s</text>",
                     ((double)bar + 0.5) * width, STRIP_TOP + STRIP + 14,
                     page_escape(h, page_step_name(h, &s->a->steps[bar * s->per_bar])));
}

void page_draw_steps(struct page_html *h)
{
    const struct accounting *a = h->page->sets[h->page->lead]->a;
    struct strip s = strip_of(a);
    size_t slow = SIZE_MAX;

    if (a->n == 1 && !a->is_pseudo)
        return; /* a single bar shows nothing that the accounting does not */
    page_html_put(h, S("<section>\n"));
    page_html_heading(h, "steps", message_in(h->lang, &page_text.heading_steps),
                      a->is_pseudo ? S("") : message_in(h->lang, &page_text.steps_hint), S(""));
    if (a->is_pseudo || a->n == 0) {
        page_html_format(h, "<p class=\"note\">%s</p>\n</section>\n",
                         page_escape_message(h, &page_text.no_steps));
        return;
    }
    double width = 100.0 / (double)s.bars;
    page_draw_begin(h, "steps", STRIP_TOP + STRIP + STRIP_FOOT,
                    message_in(h->lang, &page_text.heading_steps));
    for (size_t bar = 0; bar < s.bars; bar++) {
        put_bar(h, &s, bar, width);
        put_bar_name(h, &s, bar, width);
    }
    for (size_t i = 0; i < a->n; i++)
        if (a->steps[i].is_slow && (slow == SIZE_MAX || account_step_time(&a->steps[i]) >
                                                            account_step_time(&a->steps[slow])))
            slow = i;
    if (slow != SIZE_MAX) {
        size_t bar = slow / s.per_bar;
        put_step_label(h, &s, slow, ((double)bar + 0.5) * width);
    }
    page_html_put(h, S("</svg>\n</section>\n"));
}
