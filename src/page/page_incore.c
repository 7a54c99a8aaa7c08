/*
 * The trace of one kernel as a page: pipes, waits, instructions and source lines.
 */
#include "kernels/incore/study.h"
#include "kernels/incore/view.h"
#include "page/page_number.h"
#include "page/page_panel.h"
#include "page/pages.h"
#include "text/page.h"

enum { WAITS_SHOWN = 6 };

/* Where less saves nothing that is known: the longest waits, one for each pair of pipes. */
static void add_actions(struct page_file *page, const struct incore_view *view)
{
    for (size_t i = 0; i < view->stalls.n && page->n_actions < PAGE_ACTIONS; i++) {
        const struct incore_sum *s = &view->stalls.at[i];
        bool is_told = false;
        for (size_t k = 0; k < i; k++)
            is_told |= str_equal(view->stalls.at[k].key[0], s->key[0]) &&
                       str_equal(view->stalls.at[k].key[1], s->key[1]);
        if (is_told)
            continue;
        page->actions[page->n_actions++] = (struct page_action){
            .id = "wait",
            .title = PAGE_TELL(page, &page_text.wait_title, PLACE("pipe", s->key[1]),
                               PLACE("other", s->key[0])),
            .evidence = PAGE_TELL(page, &page_text.wait_evidence, PLACE("n", s->count),
                                  PLACE("time", page_time_text(&page->arena, s->total * 1e3)),
                                  PLACE("longest", page_time_text(&page->arena, s->longest * 1e3)),
                                  PLACE("flag", s->key[2])),
            .show = page_say(page, &page_text.show_waits),
            .link = page_row_address(page, "waits", i),
        };
    }
}

static void add_pipes(struct page_file *page, const struct incore_breakdown *b)
{
    static const struct page_table_column columns[] = {
        {&page_text.col_pipe, PAGE_TEXT, false},    {&page_text.col_core, PAGE_TEXT, false},
        {&page_text.col_busy, PAGE_SHARE, true},    {&page_text.col_cycles, PAGE_COUNT, false},
        {&page_text.col_waited, PAGE_COUNT, false}, {&page_text.col_count, PAGE_COUNT, false},
        {&page_text.col_depth, PAGE_COUNT, false},  {&page_text.col_bytes, PAGE_BYTES, false},
    };
    struct page_panel *panel = page_panel_add(page, "pipes", &page_text.nav_pipes);
    struct page_table *t = page_table_add(panel, NULL, columns, ARRAY_LEN(columns));

    page_part(panel)->note = page_say(page, &page_text.pipes_table_note);
    for (size_t i = 0; i < b->uses.n; i++) {
        const struct incore_use *use = &b->uses.at[i];
        page_cell_text(t, use->pipe);
        page_cell_text(t, use->core);
        page_cell_number(t, use->busy);
        page_cell_number(t, (double)use->busy_cycles);
        page_cell_number(t, (double)use->wait_cycles);
        page_cell_number(t, (double)use->executed);
        page_cell_number(t, (double)use->max_depth);
        page_cell_number(t, (double)use->bytes);
    }
}

/* The list is in picoseconds. */
static void add_what_ifs(struct page_file *page, const struct limit_list *limits)
{
    static const struct page_table_column columns[] = {
        {&page_text.col_resource, PAGE_TEXT, false}, {&page_text.col_saves, PAGE_SHARE, true},
        {&page_text.col_time, PAGE_NS, false},       {&page_text.nav_path, PAGE_SHARE, false},
        {&page_text.col_advice, PAGE_TEXT, false},
    };
    double total = (double)limits->total / 1e3;

    if (limits->n == 0)
        return;
    struct page_panel *panel = page_panel_add(page, "whatif", &page_text.nav_what_if);
    struct page_bars *bars = page_bars_add(panel, &page_text.heading_free, PAGE_NS, total);
    page_part(panel)->room = PAGE_HALF;
    page_part(panel)->note = page_say(page, &page_text.what_if_note);
    bars->is_saved = true;
    struct page_table *t = page_table_add(panel, NULL, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < limits->n; i++) {
        const struct limiter *x = &limits->at[i];
        if (!x->is_tried)
            continue;
        struct wording name = wording_plain(str_of(limit_name(x->what)));
        double after = total - (double)x->saved / 1e3;
        page_bar_add(
            bars, (struct page_bar){.label = name,
                                    .value = after,
                                    .before = total,
                                    .family = page_limit_family(x->what),
                                    .link = page_row_address(page, "whatif", page_table_rows(t))});
        page_cell_wording(t, name);
        page_cell_number(t, x->saved_share);
        page_cell_number(t, after);
        page_cell_number(t, x->path_share);
        page_cell_wording(t, wording_plain(str_of(limit_advice(x->what))));
    }
}

static void incore_add_waits(struct page_file *page, const struct incore_view *view)
{
    static const struct page_table_column columns[] = {
        {&page_text.col_waits, PAGE_TEXT, false},  {&page_text.col_for, PAGE_TEXT, false},
        {&page_text.col_flag, PAGE_TEXT, false},   {&page_text.col_time, PAGE_NS, true},
        {&page_text.col_count, PAGE_COUNT, false}, {&page_text.col_longest, PAGE_NS, false},
    };

    if (view->stalls.n == 0)
        return;
    struct page_panel *panel = page_panel_add(page, "waits", &page_text.nav_waits);
    struct page_table *t =
        page_table_add(panel, &page_text.heading_waits, columns, ARRAY_LEN(columns));
    page_part(panel)->room = PAGE_HALF;
    t->shown = WAITS_SHOWN;
    for (size_t i = 0; i < view->stalls.n; i++) {
        const struct incore_sum *s = &view->stalls.at[i];
        page_cell_text(t, s->key[1]);
        page_cell_text(t, s->key[0]);
        page_cell_text(t, s->key[2]);
        page_cell_number(t, s->total * 1e3);
        page_cell_number(t, (double)s->count);
        page_cell_number(t, s->longest * 1e3);
    }
}

void page_incore(struct page_file *page, const struct incore_study *study,
                 const struct incore_view *view)
{
    const struct incore_breakdown *b = &study->breakdown;

    page->title = arena_str(&page->arena, str_basename(str_of(study->bin)));
    if (page->sets[0]->cap->origin != ORIGIN_MEASURED)
        page_add_fact(page, page_say(page, &page_text.simulated));
    page_add_fact(page,
                  PAGE_TELL(page, b->is_assumed ? &page_text.clock_assumed : &page_text.clock_known,
                            PLACE("mhz", b->mhz)));
    page_add_fact(page, PAGE_TELL(page, &page_text.instructions, PLACE("n", study->t.instrs.n)));
    page_add_fact(page, PAGE_TELL(page, &page_text.cores, PLACE("n", b->cores.n)));
    page_bound(page, &study->breakdown.limits);
    page->verdict.evidence =
        PAGE_TELL(page, &page_text.incore_evidence,
                  PLACE("time", page_time_text(&page->arena, (view->end - view->begin) * 1e3)),
                  page_placed(page, "help", page->verdict.evidence));
    page_limits(page, &study->breakdown.limits, 1e-3, "whatif");
    if (page->n_actions == 0)
        add_actions(page, view);
    add_what_ifs(page, &study->breakdown.limits);
    add_pipes(page, &study->breakdown);
    page_source(page, NULL);
    incore_add_waits(page, view);
    page_instructions(page);
    const struct page_panel *source = NULL;
    for (size_t i = 0; i < page->panels.n; i++)
        if (strcmp(page->panels.at[i]->id, "source") == 0)
            source = page->panels.at[i];
    if (source == NULL)
        page_add_missing(page, page_say(page, &page_text.missing_lines));
    if (study->breakdown.is_assumed)
        page_add_missing(page, page_say(page, &page_text.missing_clock));
}
