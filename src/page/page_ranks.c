/*
 * Several ranks: what they tell together, each rank's mean step, and rank by step.
 */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/ranks/fleet_study.h"
#include "analysis/ranks/rank_verdicts.h"
#include "base/tables/ranked.h"
#include "page/page_html.h"
#include "page/page_number.h"
#include "text/page.h"

enum {
    LABEL = 12,   /* percent of the width */
    COLUMNS = 48, /* of the heat map; more steps share one */
    FEW = 16,     /* ranks that get high rows */
    HIGH = 24,    /* pixels of a row */
    LOW = 12,     /* of many */
    WARM = 5,     /* percent above the median that get the full colour at least */
};

/* ---- each against the median ---- */

/* The step of a rank that is the same as `like`: by its number, else by its place. */
static const struct account_step *step_like(const struct page_set *set, size_t place,
                                            const struct account_step *like)
{
    const struct accounting *a = set->a;

    if (place < a->n && (like->number < 0 || a->steps[place].number == like->number))
        return &a->steps[place];
    for (size_t i = 0; i < a->n && like->number >= 0; i++)
        if (a->steps[i].number == like->number)
            return &a->steps[i];
    return NULL;
}

/* Compute of each rank against the median of all in one step; 0: the rank has no such step. */
static void ratios_of_step(const struct page_file *page, size_t place, double *out)
{
    const struct account_step *like = &page->sets[0]->a->steps[place];
    double sorted[PAGE_SETS];
    size_t n = 0;

    for (size_t i = 0; i < page->n_sets; i++) {
        const struct account_step *step = step_like(page->sets[i], place, like);
        out[i] = step != NULL ? (double)step->compute : 0;
        if (out[i] > 0)
            sorted[n++] = out[i];
    }
    ranked_sort(sorted, n);
    double median = n > 0 ? ranked_middle(sorted, n) : 0;
    for (size_t i = 0; i < page->n_sets; i++)
        out[i] = median > 0 ? out[i] / median : 0;
}

/* The median over the steps, of each rank; the first step is left out when there are more. */
static void ratios_of_ranks(const struct page_file *page, double *out)
{
    size_t steps = page->sets[0]->a->n, first = steps > 1;
    double *all = mem_grow(NULL, sizeof(double), (steps + 1) * page->n_sets);
    double of_step[PAGE_SETS];

    for (size_t k = first; k < steps; k++) {
        ratios_of_step(page, k, of_step);
        for (size_t i = 0; i < page->n_sets; i++)
            all[i * steps + k - first] = of_step[i];
    }
    for (size_t i = 0; i < page->n_sets; i++) {
        ranked_sort(all + i * steps, steps - first);
        out[i] = steps > first ? ranked_middle(all + i * steps, steps - first) : 0;
    }
    mem_free(all);
}

/* Ranks of one job that have about as many kernels each: their work can be compared. */
static bool is_one_run(struct page_file *page)
{
    size_t least = SIZE_MAX, most = 0;

    for (size_t i = 0; i < page->n_sets; i++) {
        size_t n = page->sets[i]->a->tasks.n;
        least = n < least ? n : least;
        most = n > most ? n : most;
    }
    return least > 0 && most <= least + least / 5 && fleet_study_jobs(page->fleet)->n < 2;
}

void page_ranks_find(struct page_file *page)
{
    struct page_ranks *ranks = ARENA_NEW(&page->arena, struct page_ranks);
    double least = 0;

    *ranks = (struct page_ranks){.is_one_run = is_one_run(page)};
    page->ranks = ranks;
    ratios_of_ranks(page, ranks->ratio);
    for (size_t i = 0; i < page->n_sets; i++) {
        double off = ranks->ratio[i] > 1 ? ranks->ratio[i] - 1 : 1 - ranks->ratio[i];
        ranks->mean[i] = account_mean_of(page->sets[i]->a);
        if (ranks->mean[i].time > ranks->mean[page->lead].time)
            page->lead = i;
        if (i == 0 || off < least) {
            least = off;
            ranks->usual = i;
        }
    }
}

/* The rank that the others wait for, else the slowest. */
void page_lead_ranks(struct page_file *page)
{
    const struct rank_verdicts *v = fleet_study_verdicts(page->fleet);
    size_t lead = v->slowest;

    page->ranks->verdicts = v;
    for (size_t i = 0; i < v->n && v->n_culprits > 0; i++)
        if (v->list[i].rank >= 0 && v->list[i].rank == v->culprits[0].rank)
            lead = i;
    page->lead = lead < page->n_sets ? lead : 0;
}

/* ---- the first screen ---- */

static struct wording rank_wording(struct page_file *page, size_t i)
{
    const struct page_set *set = page->sets[i];

    return set->cap->facts.rank >= 0
               ? PAGE_TELL(page, &page_text.rank, PLACE("n", set->cap->facts.rank))
               : wording_plain(page_name(set, str_of(set->cap->name)));
}

static struct str rank_name(struct page_html *h, size_t i)
{
    return page_wording(h->page, h->lang, rank_wording(h->page, i));
}

/* What all tell together, in front of what limits the one that is shown. */
void page_put_ranks(struct page_file *page)
{
    const struct rank_verdicts *v = page->ranks->verdicts;
    struct arena *arena = &page->arena;
    const struct wording *what = wording_keep(arena, page->verdict.text);
    const struct wording *evidence = wording_keep(arena, page->verdict.evidence);

    page->verdict.text = v->what;
    page->verdict.evidence =
        PAGE_TELL(page, &page_text.ranks_shown,
                  place_wording("name", wording_keep(arena, rank_wording(page, page->lead))),
                  place_wording("what", what), place_wording("evidence", evidence));
}

/* ---- pictures ---- */

static int row_height(const struct page_file *page)
{
    return page->n_sets <= FEW ? HIGH : LOW;
}

/* That others wait for, by itself or with others. */
static bool is_culprit(const struct page_file *page, size_t rank)
{
    const struct rank_verdicts *v = page->ranks->verdicts;

    return v != NULL && rank < v->n && v->list[rank].part == RANK_CULPRIT;
}

static void put_rank_label(struct page_html *h, size_t rank, int y)
{
    int high = row_height(h->page);
    struct str name = rank_name(h, rank);

    if (high == HIGH || rank % 4 == 0)
        page_html_format(h, "<text class=\"axis%s\" x=\"0\" y=\"%d\">%s</text>",
                         is_culprit(h->page, rank) ? " slow" : "", y + (high == HIGH ? 15 : 9),
                         page_escape(h, str_fit(name, 20)));
}

/* A rank's mean step, as long as it lasts against the longest. */
static void put_strip(struct page_html *h, size_t rank, nanos longest, int y)
{
    const struct account_mean *mean = &h->page->ranks->mean[rank];
    int high = row_height(h->page);

    put_rank_label(h, rank, y);
    page_html_format(h,
                     "<svg x=\"%d%%\" y=\"%d\" width=\"%d%%\" height=\"%d\"><a "
                     "href=\"#v=timeline&amp;set=%zu&amp;rank=%zu\"><title>%s: %s</title>",
                     LABEL, y, 100 - LABEL, high - 2, rank, rank,
                     page_escape(h, rank_name(h, rank)),
                     page_escape(h, page_time_text(&h->page->arena, (double)mean->time)));
    page_draw_stack(h, mean->by, 100.0 * (double)mean->time / (double)longest, high - 2);
    page_html_put(h, S("</a></svg>\n"));
}

void page_draw_ranks(struct page_html *h)
{
    struct page_file *page = h->page;
    int high = row_height(page), n = (int)page->n_sets;
    nanos longest = 1;

    for (size_t i = 0; i < page->n_sets; i++)
        if (page->ranks->mean[i].time > longest)
            longest = page->ranks->mean[i].time;
    struct str heading = message_in(h->lang, &page_text.heading_ranks);
    page_html_put(h, S("<section>\n"));
    page_html_heading(h, "ranks", heading,
                      MESSAGE(h->lang, &page->arena, &page_text.accounting_mean,
                              PLACE("n", page->ranks->mean[page->lead].steps),
                              PLACE("time", page_time_text(&page->arena, (double)longest))),
                      S(""));
    page_draw_begin(h, "ranks", n * high, heading);
    for (int i = 0; i < n; i++)
        put_strip(h, (size_t)i, longest, i * high);
    page_html_put(h, S("</svg>\n"));
    page_draw_legend(h);
    page_html_put(h, S("</section>\n"));
}

/* How strong the colour of a ratio is: least up to the median, most for the largest of the page. */
static double heat_of(double ratio, double most)
{
    double top = most > 1 + WARM / 100.0 ? most : 1 + WARM / 100.0;

    return 0.05 + (ratio > 1 ? (ratio - 1) / (top - 1) * 0.45 : 0);
}

struct heat_map {
    size_t steps, per_column, columns;
    double *ratio; /* of column and rank: the largest of its steps */
    size_t *step;  /* the step that has it */
    double most;
};

/* A column of several steps shows, for each rank, the one in which it was slowest. */
static struct heat_map heat_map_of(struct page_file *page)
{
    struct heat_map m = {.steps = page->sets[0]->a->n};
    double of_step[PAGE_SETS];

    m.per_column = m.steps > 0 ? (m.steps - 1) / COLUMNS + 1 : 1;
    m.columns = (m.steps + m.per_column - 1) / m.per_column;
    m.ratio = ARENA_ARRAY(&page->arena, double, m.columns * page->n_sets + 1);
    m.step = ARENA_ARRAY(&page->arena, size_t, m.columns * page->n_sets + 1);
    for (size_t k = 0; k < m.steps; k++) {
        ratios_of_step(page, k, of_step);
        for (size_t i = 0; i < page->n_sets; i++) {
            size_t cell = k / m.per_column * page->n_sets + i;
            if (k % m.per_column == 0 || of_step[i] > m.ratio[cell]) {
                m.ratio[cell] = of_step[i];
                m.step[cell] = k;
            }
            m.most = of_step[i] > m.most ? of_step[i] : m.most;
        }
    }
    return m;
}

static void ranks_put_cell(struct page_html *h, const struct heat_map *m, size_t column,
                           size_t rank)
{
    struct page_file *page = h->page;
    size_t cell = column * page->n_sets + rank, usual = page->ranks->usual;
    double width = (100.0 - LABEL) / (double)m->columns;
    int high = row_height(page);
    const struct account_step *like = &page->sets[0]->a->steps[m->step[cell]];
    const struct account_step *step = step_like(page->sets[rank], m->step[cell], like);

    if (step == NULL)
        return;
    page_html_format(h, "<a href=\"#v=timeline&amp;set=%zu&amp;rank=%zu", rank, rank);
    if (usual != rank)
        page_html_format(h, ",%zu", usual);
    page_html_format(
        h,
        "&amp;step=%zu\"><title>%s</title><svg x=\"%.3f%%\" y=\"%d\" width=\"%.3f%%\" "
        "height=\"%d\"><rect class=\"heat\" width=\"100%%\" height=\"100%%\" "
        "fill-opacity=\"%.2f\"/>",
        (size_t)(step - page->sets[rank]->a->steps),
        page_escape(h, MESSAGE(h->lang, &page->arena, &page_text.heat_cell,
                               PLACE("rank", rank_name(h, rank)), PLACE("step", step->id),
                               PLACE("ratio", m->ratio[cell]),
                               PLACE("time", page_time_text(&page->arena, (double)step->compute)))),
        LABEL + (double)column * width, (int)rank * high, width * 0.97, high - 2,
        heat_of(m->ratio[cell], m->most));
    if (high == HIGH && m->columns <= 16)
        page_html_format(
            h, "<text class=\"wide\" x=\"50%%\" y=\"15\" text-anchor=\"middle\">%.2f ×</text>",
            m->ratio[cell]);
    page_html_put(h, S("</svg></a>\n"));
}

void page_draw_heat(struct page_html *h)
{
    struct page_file *page = h->page;
    struct heat_map m = heat_map_of(page);

    if (!page->ranks->is_one_run || page->sets[0]->a->is_pseudo || m.columns == 0 || m.most <= 0)
        return;
    struct str heading = message_in(h->lang, &page_text.heading_heat);
    page_html_put(h, S("<section>\n"));
    page_html_heading(h, "heat", heading, message_in(h->lang, &page_text.heat_hint), S(""));
    page_draw_begin(h, "heat", (int)page->n_sets * row_height(page) + 20, heading);
    for (size_t i = 0; i < page->n_sets; i++) {
        put_rank_label(h, i, (int)i * row_height(page));
        for (size_t column = 0; column < m.columns; column++)
            ranks_put_cell(h, &m, column, i);
    }
    for (size_t column = 0; column < m.columns; column += (m.columns + 15) / 16)
        page_html_format(
            h, "<text class=\"axis\" x=\"%.3f%%\" y=\"%d\" text-anchor=\"middle\">%s</text>",
            LABEL + ((double)column + 0.5) * (100.0 - LABEL) / (double)m.columns,
            (int)page->n_sets * row_height(page) + 14,
            page_escape(h, page_step_name(h, &page->sets[0]->a->steps[column * m.per_column])));
    page_html_put(h, S("</svg>\n</section>\n"));
}
