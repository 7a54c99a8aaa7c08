/*
 * A against B: classes of time from one to the other, operators, and the steps drawn side by side.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/compare/compare.h"
#include "analysis/diagnose/diagnosis.h"
#include "page/page_data.h"
#include "page/page_html.h"
#include "page/page_number.h"
#include "text/page.h"

enum {
    BARS = 6,       /* of the waterfall besides the rest */
    FALL = 220,     /* its height, */
    FALL_TOP = 20,  /* the room above, */
    FALL_FOOT = 38, /* and below */
    OPS_MOST = 500,
    NAME_WIDTH = 44,
    SAME_PERCENT = 1, /* of A's step: classes that change by less are not told */
};

/* ---- what changed ---- */

/* The kind of units that decides; NULL: none is compared. */
static const struct compare_kind *main_kind(const struct comparison *c)
{
    return c->likeness.is_comparable || c->is_equal ? c->worst : NULL;
}

/* A change of a unit's length that is shown, not noise. */
static bool is_change(const struct comparison *c)
{
    return c->verdict == NOISE_SLOWER || c->verdict == NOISE_FASTER;
}

ORDER_BY(kernels_by_name, struct compare_part, str_compare(x->name, y->name));
ORDER_BY(kernels_by_change, struct compare_part,
         ORDER(llabs(y->delta), llabs(x->delta)) ?: str_compare(x->name, y->name));

/* Kernels, whatever operator launched them, by size of the change. */
static void add_kernels(struct page_file *page, struct page_diff *diff,
                        const struct compare_kind *k)
{
    size_t n = 0, room = 1;

    for (size_t i = 0; i < k->n_parts; i++)
        room += k->parts[i].n_kernels;
    diff->kernels = ARENA_ARRAY(&page->arena, struct compare_part, room);
    for (size_t i = 0; i < k->n_parts; i++)
        for (size_t j = 0; j < k->parts[i].n_kernels; j++)
            diff->kernels[n++] = k->parts[i].kernels[j];
    if (n > 1)
        qsort(diff->kernels, n, sizeof(*diff->kernels), kernels_by_name);
    for (size_t i = 0; i < n; i++) {
        struct compare_part *last =
            diff->n_kernels > 0 ? &diff->kernels[diff->n_kernels - 1] : NULL;
        const struct compare_part *one = &diff->kernels[i];
        if (last == NULL || !str_equal(last->name, one->name)) {
            diff->kernels[diff->n_kernels++] = *one;
            continue;
        }
        for (int side = 0; side < SIDES; side++) {
            last->time[side] += one->time[side];
            last->calls[side] += one->calls[side];
        }
        last->delta += one->delta;
    }
    if (diff->n_kernels > 1)
        qsort(diff->kernels, diff->n_kernels, sizeof(*diff->kernels), kernels_by_change);
}

ORDER_BY(by_change, struct page_change,
         ORDER(llabs(y->time[1] - y->time[0]), llabs(x->time[1] - x->time[0]))
             ?: ORDER(x->class, y->class));

static void add_classes(struct page_file *page, struct page_diff *diff)
{
    struct account_mean mean[2] = {account_mean_of(page->sets[0]->a),
                                   account_mean_of(page->sets[1]->a)};

    diff->classes = ARENA_ARRAY(&page->arena, struct page_change, ACCOUNT_CLASSES);
    for (int class = 0; class < ACCOUNT_CLASSES; class ++)
        if (mean[0].by[class] != mean[1].by[class])
            diff->classes[diff->n_classes++] =
                (struct page_change){class,
                                     page_say(page, account_class_label(class)),
                                     {mean[0].by[class], mean[1].by[class]}};
    qsort(diff->classes, diff->n_classes, sizeof(*diff->classes), by_change);
    diff->time[0] = mean[0].time;
    diff->time[1] = mean[1].time;
}

/* The step whose time is nearest to the median. */
static size_t median_step(const struct accounting *a)
{
    size_t best = 0;

    for (size_t i = 1; i < a->n; i++)
        if (best == 0 || llabs(account_step_time(&a->steps[i]) - a->step_time) <
                             llabs(account_step_time(&a->steps[best]) - a->step_time))
            best = i;
    return best;
}

static nanos delta_of(const struct page_change *c)
{
    return c->time[1] - c->time[0];
}

static bool is_small(const struct page_diff *diff, nanos delta)
{
    return llabs(delta) * 100 < diff->time[0] * SAME_PERCENT;
}

/* ---- words ---- */

static struct wording change_text(struct page_file *page, const struct page_change *c)
{
    return PAGE_TELL(page, &page_text.diff_change, page_placed(page, "class", c->label),
                     PLACE("delta", page_delta_text(&page->arena, (double)delta_of(c))));
}

static struct wording largest_changes(struct page_file *page, const struct page_diff *diff)
{
    struct wording first = change_text(page, &diff->classes[0]);

    if (diff->n_classes < 2)
        return first;
    struct wording second = change_text(page, &diff->classes[1]);
    return PAGE_TELL(page, &page_text.both, page_placed(page, "a", first),
                     page_placed(page, "b", second));
}

static void add_verdict(struct page_file *page, const struct page_diff *diff)
{
    struct arena *arena = &page->arena;

    page->verdict = (struct page_verdict){
        .id = !diff->is_matched                            ? "unmatched"
              : diff->comparison->verdict == NOISE_UNKNOWN ? "unknown"
              : diff->comparison->verdict == NOISE_NOTHING ? "same"
              : diff->comparison->verdict == NOISE_FASTER  ? "faster"
                                                           : "slower",
        .text = diff->comparison->text,
        .replay_error = -1,
    };
    if (diff->n_classes > 0)
        page->verdict.evidence = PAGE_TELL(
            page, &page_text.diff_evidence, PLACE("n", (long long)diff->comparison->steps[SIDE_A]),
            PLACE("m", (long long)diff->comparison->steps[SIDE_B]),
            place_wording("what", wording_keep(arena, largest_changes(page, diff))));
}

/* A change that a card is about: of a part of the time, or of an operator. */
struct candidate {
    int part;                      /* of page_part_of_class(); -1: the operator alone */
    nanos time[2];                 /* of the part */
    const struct compare_part *op; /* that changed most of the part; NULL: not known */
    double delta;
};

/* Without arguments of templates, which fill a card. */
static struct str short_name(struct page_file *page, struct str key)
{
    struct str name = page_kernel_name(page_name(page->sets[0], key));
    struct str plain = str_part(name, 0, str_find_char(name, '<')),
               front = str_fit(plain, NAME_WIDTH);

    return front.n < plain.n ? arena_format(&page->arena, "%.*s…", STR_ARGS(front)) : plain;
}

static const struct message *title_of(const struct candidate *c, const char *verb)
{
    if (strcmp(verb, "noise") == 0)
        return &page_text.diff_noise;
    if (strcmp(verb, "keep") == 0)
        return c->part >= 0 ? &page_text.diff_keep_class : &page_text.diff_keep;
    return c->part >= 0 ? &page_text.diff_fix_class : &page_text.diff_fix;
}

static struct wording evidence_of(struct page_file *page, const struct candidate *c,
                                  const char *verb)
{
    struct arena *arena = &page->arena;

    if (strcmp(verb, "noise") == 0)
        return page_say(page, &page_text.diff_within);
    if (c->part >= 0) {
        struct str from = page_time_text(arena, (double)c->time[0]);
        struct str to = page_time_text(arena, (double)c->time[1]);
        if (c->op == NULL)
            return PAGE_TELL(page, &page_text.diff_times, PLACE("a", from), PLACE("b", to));
        return PAGE_TELL(page, &page_text.diff_mostly, PLACE("a", from), PLACE("b", to),
                         PLACE("name", short_name(page, c->op->name)),
                         PLACE("delta", page_delta_text(arena, (double)c->op->delta)));
    }
    return PAGE_TELL(page, &page_text.diff_calls,
                     PLACE("a", page_time_text(arena, (double)c->op->time[SIDE_A])),
                     PLACE("b", page_time_text(arena, (double)c->op->time[SIDE_B])),
                     PLACE("n", c->op->calls[SIDE_A]), PLACE("m", c->op->calls[SIDE_B]));
}

/* What to look at: in the run that has more of it. */
static struct page_focus focus_of(const struct page_set *set, const struct candidate *c)
{
    if (c->op != NULL)
        return page_longest_op(set, c->op->name);
    if (c->part >= PAGE_FAMILIES)
        return page_longest_gap(set, c->part - PAGE_FAMILIES);
    return page_longest_task(set, S(""));
}

static void add_card(struct page_file *page, const struct candidate *c, const char *verb)
{
    assert(c->part >= 0 || c->op != NULL);
    size_t set = c->delta < 0 ? 0 : 1;
    struct page_focus focus = focus_of(page->sets[set], c);
    struct wording what = c->part >= 0 ? page_say(page, page_part_label(c->part))
                                       : wording_plain(short_name(page, c->op->name));

    page->actions[page->n_actions++] = (struct page_action){
        .id = c->part >= 0 ? "family" : "operator",
        .verb = verb,
        .title = PAGE_TELL(page, title_of(c, verb), page_placed(page, "what", what)),
        .evidence = evidence_of(page, c, verb),
        .show = page_say(page, &page_text.show_timelines),
        .saving = nanos_of(c->delta),
        .share = num_share(fabs(c->delta), (double)page->diff->time[0]),
        .link = focus.at.end > focus.at.begin ? page_link(page, set, &focus) : S("#v=diff"),
    };
}

static void prefer(struct candidate *best, struct candidate c)
{
    if (fabs(c.delta) > fabs(best->delta))
        *best = c;
}

/* The operator that changed most in the direction of a part, of its family. */
static const struct compare_part *op_of_part(const struct page_file *page, int part, double delta)
{
    const struct page_diff *diff = page->diff;
    const struct page_set *set = page->sets[delta < 0 ? 0 : 1];

    for (size_t i = 0; part < PAGE_FAMILIES && i < diff->n_kernels; i++) {
        const struct compare_part *op = &diff->kernels[i];
        if ((double)op->delta * delta <= 0)
            continue;
        struct page_focus focus = page_longest_op(set, op->name);
        if (focus.at.end > focus.at.begin &&
            set->whats.at[set->what[focus.slice]].family == (uint8_t)part)
            return op;
    }
    return NULL;
}

/* The largest changes of kernel families and of idle time by cause. */
static void prefer_parts(const struct page_file *page, struct candidate *keep,
                         struct candidate *fix)
{
    nanos time[2][PAGE_PARTS] = {{0}};

    for (size_t i = 0; i < page->diff->n_classes; i++)
        for (size_t side = 0; side < 2; side++)
            time[side][page_part_of_class(page->diff->classes[i].class)] +=
                page->diff->classes[i].time[side];
    for (int part = 0; part < PAGE_PARTS; part++) {
        nanos delta = time[1][part] - time[0][part];
        if (!is_small(page->diff, delta))
            prefer(delta < 0 ? keep : fix,
                   (struct candidate){.part = part,
                                      .time = {time[0][part], time[1][part]},
                                      .delta = (double)delta});
    }
    keep->op = op_of_part(page, keep->part, keep->delta);
    fix->op = op_of_part(page, fix->part, fix->delta);
}

/* The largest change to the better and to the worse, and the largest that is none. */
static void add_cards(struct page_file *page)
{
    struct candidate keep = {.part = -1}, fix = keep;

    if (page->diff->is_noise)
        return;
    prefer_parts(page, &keep, &fix);
    if (keep.delta < 0)
        add_card(page, &keep, "keep");
    if (fix.delta > 0)
        add_card(page, &fix, "fix");
}

void page_put_compare(struct page_file *page, const struct comparison *comparison)
{
    struct page_diff *diff = ARENA_NEW(&page->arena, struct page_diff);
    const struct compare_kind *k = main_kind(comparison);

    *diff = (struct page_diff){.comparison = comparison, .p = NAN};
    page->diff = diff;
    add_classes(page, diff);
    diff->relative = num_share((double)(diff->time[1] - diff->time[0]), (double)diff->time[0]);
    diff->is_matched = k != NULL;
    diff->is_noise = !is_change(comparison);
    if (k != NULL) {
        diff->p = k->change.probability;
        add_kernels(page, diff, k);
    }
    for (size_t side = 0; side < 2; side++)
        diff->step[side] = median_step(page->sets[side]->a);
    page->title = arena_format(&page->arena, "A %.*s → B %.*s",
                               STR_ARGS(page_name(page->sets[0], comparison->name[0])),
                               STR_ARGS(page_name(page->sets[1], comparison->name[1])));
    page_add_fact(page, PAGE_TELL(page, &page_text.diff_facts,
                                  PLACE("n", (long long)comparison->steps[0]),
                                  PLACE("m", (long long)comparison->steps[1])));
    add_verdict(page, diff);
    if (k != NULL)
        add_cards(page);
    for (size_t side = 0; side < 2; side++) {
        const struct diagnosis *d = study_diagnosis(page->sets[side]->st);
        for (size_t i = 0; i < d->n_missing; i++)
            page_add_missing(page, PAGE_TELL(page, &page_text.diff_side,
                                             PLACE("side", side == 0 ? "A:" : "B:"),
                                             place_wording("name", &d->missing[i])));
    }
}

/* ---- waterfall ---- */

struct fall {
    double scale; /* pixels a nanosecond */
    double width; /* of a column, percent */
};

static double fall_y(const struct fall *f, double t)
{
    return FALL_TOP + FALL - t * f->scale;
}

/* In two lines where one is too short: cut at the space before the middle or at a comma. */
static void put_label(struct page_html *h, const struct fall *f, size_t at, struct str label)
{
    size_t cut = page_label_fits(label, f->width) ? label.n : str_find_char(label, ',');

    if (cut == label.n && !page_label_fits(label, f->width))
        for (size_t i = 0; i < label.n && (i <= label.n / 2 || cut == label.n); i++)
            cut = label.at[i] == ' ' ? i : cut;
    struct str lines[2] = {str_part(label, 0, cut + (cut < label.n && label.at[cut] == ',')),
                           str_trim(str_part(label, cut + (cut < label.n), label.n))};
    for (int i = 0; i < 2; i++)
        page_html_format(h,
                         "<svg x=\"%.3f%%\" width=\"%.3f%%\" height=\"100%%\"><text class=\"axis\" "
                         "x=\"50%%\" y=\"%d\" text-anchor=\"middle\">%s</text></svg>\n",
                         (double)at * f->width, f->width, FALL_TOP + FALL + 16 + 15 * i,
                         page_escape(h, lines[i]));
}

static void put_column(struct page_html *h, const struct fall *f, size_t at, double from, double to,
                       const char *class, struct str value, struct str label)
{
    double top = fall_y(f, from > to ? from : to), bottom = fall_y(f, from > to ? to : from);
    double x = ((double)at + 0.14) * f->width, middle = ((double)at + 0.5) * f->width;

    page_html_format(
        h,
        "<rect class=\"%s\" x=\"%.3f%%\" y=\"%.2f\" width=\"%.3f%%\" height=\"%.2f\"/><text "
        "class=\"value %s-text\" x=\"%.3f%%\" y=\"%.2f\" text-anchor=\"middle\">",
        class, x, top, f->width * 0.72, bottom - top < 1 ? 1 : bottom - top, class, middle,
        top - 5);
    page_html_format(h, "%s</text>", page_escape(h, value));
    put_label(h, f, at, label);
}

static void put_change(struct page_html *h, const struct fall *f, size_t at, double from,
                       const struct page_change *c)
{
    struct page_file *page = h->page;
    nanos delta = delta_of(c);

    page_html_format(h,
                     "<a href=\"#v=diff&amp;class=%s\"><line class=\"link\" x1=\"%.3f%%\" "
                     "y1=\"%.2f\" x2=\"%.3f%%\" y2=\"%.2f\"/>",
                     c->class >= 0 ? account_class_name(c->class) : "",
                     ((double)at - 0.14) * f->width, fall_y(f, from),
                     ((double)at + 0.14) * f->width, fall_y(f, from));
    put_column(h, f, at, from, from + (double)delta,
               is_small(page->diff, delta) ? "same"
               : delta < 0                 ? "better"
                                           : "worse",
               page_delta_text(&page->arena, (double)delta),
               wording_text(h->lang, &page->arena, c->label));
    page_html_put(h, S("</a>"));
}

/* The highest point that the columns reach. */
static double fall_peak(const struct page_diff *diff, size_t shown)
{
    double at = (double)diff->time[0], peak = at;

    for (size_t i = 0; i < shown; i++) {
        at += (double)delta_of(&diff->classes[i]);
        peak = at > peak ? at : peak;
    }
    return peak > (double)diff->time[1] ? peak : (double)diff->time[1];
}

static void put_total(struct page_html *h, const struct fall *f, size_t at, size_t side)
{
    double time = (double)h->page->diff->time[side];

    put_column(h, f, at, 0, time, "total", page_time_text(&h->page->arena, time),
               side == 0 ? S("A") : S("B"));
}

/* The largest changes, and the others as one. */
static void put_changes(struct page_html *h, const struct fall *f, size_t shown)
{
    const struct page_diff *diff = h->page->diff;
    double at = (double)diff->time[0];

    for (size_t i = 0; i < shown; i++) {
        put_change(h, f, i + 1, at, &diff->classes[i]);
        at += (double)delta_of(&diff->classes[i]);
    }
    if (diff->n_classes > shown) {
        struct page_change rest = {
            .class = -1,
            .label = PAGE_TELL(h->page, &page_text.diff_other, PLACE("n", diff->n_classes - shown)),
            .time = {0, diff->time[1] - nanos_of(at)}};
        put_change(h, f, shown + 1, at, &rest);
    }
}

void page_draw_waterfall(struct page_html *h)
{
    const struct page_diff *diff = h->page->diff;
    size_t shown = diff->n_classes < BARS ? diff->n_classes : BARS;
    size_t columns = shown + 2 + (diff->n_classes > shown);
    double peak = fall_peak(diff, shown);
    struct str heading = message_in(h->lang, &page_text.heading_waterfall);

    if (peak <= 0)
        return;
    const struct fall f = {(double)FALL / peak, 100.0 / (double)columns};
    page_html_put(h, S("<section>\n"));
    page_html_heading(h, "waterfall", heading, S(""), S(""));
    page_draw_begin(h, "waterfall", FALL_TOP + FALL + FALL_FOOT, heading);
    put_total(h, &f, 0, 0);
    put_changes(h, &f, shown);
    put_total(h, &f, columns - 1, 1);
    page_html_put(h, S("</svg>\n</section>\n"));
}

/* ---- JSON ---- */

static void put_classes(struct json_writer *w, const struct page_diff *diff)
{
    page_put_diff_classes(w);
    for (size_t i = 0; i < diff->n_classes; i++) {
        const struct page_change *c = &diff->classes[i];
        json_write_object(w);
        page_put_diff_class_id(w, account_class_name(c->class));
        page_put_diff_class_a(w, c->time[0]);
        page_put_diff_class_b(w, c->time[1]);
        page_put_diff_class_delta(w, delta_of(c));
        page_put_diff_class_noise(w, is_small(diff, delta_of(c)));
        json_write_end(w);
    }
    json_write_end(w);
}

static void put_ops(struct json_writer *w, struct page_file *page)
{
    const struct page_diff *diff = page->diff;

    page_put_diff_kernels(w);
    for (size_t i = 0; i < diff->n_kernels && i < OPS_MOST; i++) {
        const struct compare_part *op = &diff->kernels[i];
        json_write_object(w);
        page_put_diff_kernel_name(w, page_name(page->sets[0], op->name));
        page_put_diff_kernel_a(w, op->time[SIDE_A]);
        page_put_diff_kernel_b(w, op->time[SIDE_B]);
        page_put_diff_kernel_delta(w, op->delta);
        page_put_diff_kernel_calls(w);
        for (int side = 0; side < SIDES; side++)
            json_write_f64(w, num_round(op->calls[side], 2));
        json_write_end(w);
        page_put_diff_kernel_noise(w, diff->is_noise || is_small(diff, op->delta));
        page_put_diff_kernel_what(w);
        for (size_t side = 0; side < 2; side++) {
            struct page_focus focus = page_longest_op(page->sets[side], op->name);
            json_write_i64(w, focus.at.end > focus.at.begin
                                  ? (int64_t)page->sets[side]->what[focus.slice]
                                  : -1);
        }
        json_write_end(w);
        json_write_end(w);
    }
    json_write_end(w);
}

/* Lanes of A with those of B that have the same name in a group of the same kind. */
static void put_lanes(struct json_writer *w, const struct page_file *page)
{
    const struct page_set *a = page->sets[0], *b = page->sets[1];
    bool *used = mem_grow(NULL, sizeof(*used), b->lanes.n + 1);

    memset(used, 0, (b->lanes.n + 1) * sizeof(*used));
    page_put_diff_lanes(w);
    for (size_t i = 0; i < a->lanes.n; i++) {
        int64_t partner = -1;
        for (size_t k = 0; k < b->lanes.n && partner < 0; k++)
            if (!used[k] && str_equal(a->lanes.at[i].name, b->lanes.at[k].name) &&
                a->groups.at[a->lanes.at[i].group].kind == b->groups.at[b->lanes.at[k].group].kind)
                partner = (int64_t)k;
        if (partner >= 0)
            used[partner] = true;
        page_json_numbers(w, NULL, (const int64_t[]){(int64_t)i, partner}, 2);
    }
    for (size_t k = 0; k < b->lanes.n; k++)
        if (!used[k])
            page_json_numbers(w, NULL, (const int64_t[]){-1, (int64_t)k}, 2);
    json_write_end(w);
    mem_free(used);
}

void page_json_diff(struct json_writer *w, struct page_file *page)
{
    const struct page_diff *diff = page->diff;

    if (diff == NULL) {
        page_null_model_diff(w);
        return;
    }
    page_put_model_diff(w);
    page_put_diff_time(w, diff->time, ARRAY_LEN(diff->time));
    page_put_diff_delta(w, diff->time[1] - diff->time[0]);
    page_put_diff_relative(w, diff->relative);
    page_put_diff_matched(w, diff->is_matched);
    page_put_diff_noise(w, diff->is_noise);
    page_put_diff_probability(w, diff->p);
    put_classes(w, diff);
    put_ops(w, page);
    put_lanes(w, page);
    /* Those drawn first, then by place. */
    size_t n =
        page->sets[0]->a->n < page->sets[1]->a->n ? page->sets[0]->a->n : page->sets[1]->a->n;
    page_put_diff_steps(w);
    for (size_t i = 0; i <= n && n > 0; i++) {
        int64_t pair[2];
        for (size_t side = 0; side < 2; side++)
            pair[side] = (int64_t)(i == 0 ? page->diff->step[side] : i - 1);
        page_json_numbers(w, NULL, pair, 2);
    }
    json_write_end(w);
    json_write_end(w);
}
