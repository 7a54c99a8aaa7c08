/*
 * The trace of one kernel as a page: pipes, waits, instructions and source lines.
 */
#include "flow/pages.h"
#include "incore/study.h"
#include "incore/view.h"
#include "page/page_number.h"
#include "page/page_panel.h"
#include "text/page.h"

enum { WAITS_SHOWN = 6, INSTRUCTIONS_SHOWN = 6 };

/* The pipe with the most busy time of all cores. */
static const struct incore_use *busiest(const struct incore_breakdown *b)
{
    const struct incore_use *most = NULL;

    for (size_t i = 0; i < b->totals.n; i++)
        if (most == NULL || b->totals.at[i].busy_cycles > most->busy_cycles)
            most = &b->totals.at[i];
    return most;
}

static struct str span_text(struct page_file *page, double us)
{
    return page_time_text(&page->arena, us * 1e3);
}

static void add_title(struct page_file *page, const struct incore_study *study)
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
}

static void add_verdict(struct page_file *page, const struct incore_study *study,
                        const struct incore_view *view)
{
    const struct incore_breakdown *b = &study->breakdown;
    const struct incore_use *most = busiest(b);
    struct page_verdict v = {.id = "incore",
                             .confidence = wording_plain(S("")),
                             .replay_error = -1,
                             .text = page_say(page, &page_text.incore_balanced),
                             .evidence = page_say(page, &page_text.help_balanced)};

    if (str_equal(b->verdict, S("sync-bound"))) {
        v.text = PAGE_TELL(page, &page_text.incore_sync,
                           PLACE("share", page_share_text(&page->arena, b->wait_share)));
        v.evidence = page_say(page, &page_text.help_sync);
    } else if (most != NULL && str_ends(b->verdict, S("-bound"))) {
        v.text = PAGE_TELL(page, &page_text.incore_pipe, PLACE("pipe", most->pipe),
                           PLACE("share", page_share_text(&page->arena, most->busy)),
                           PLACE("time", span_text(page, view->end - view->begin)));
        v.evidence = page_say(page, str_equal(most->pipe, S("MTE2"))     ? &page_text.help_mte2
                                    : str_equal(most->pipe, S("VECTOR")) ? &page_text.help_vector
                                                                         : &page_text.help_pipe);
    }
    page->verdict = v;
}

/* The longest waits, one for each pair of pipes; what less waiting saves is not known. */
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
            .evidence =
                PAGE_TELL(page, &page_text.wait_evidence, PLACE("n", s->count),
                          PLACE("time", span_text(page, s->total)),
                          PLACE("longest", span_text(page, s->longest)), PLACE("flag", s->key[2])),
            .show = page_say(page, &page_text.show_waits),
            .confidence = wording_plain(S("")),
            .link = page_row_address(page, "waits", i),
        };
    }
}

static void add_pipes(struct page_file *page, const struct incore_breakdown *b)
{
    static const struct page_column columns[] = {
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

static void add_waits(struct page_file *page, const struct incore_view *view)
{
    static const struct page_column columns[] = {
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

static void add_missing(struct page_file *page, const struct incore_study *study)
{
    const struct page_panel *source = NULL;

    for (size_t i = 0; i < page->panels.n; i++)
        if (strcmp(page->panels.at[i]->id, "source") == 0)
            source = page->panels.at[i];
    if (source == NULL)
        page_add_missing(page, page_say(page, &page_text.missing_lines));
    if (study->breakdown.is_assumed)
        page_add_missing(page, page_say(page, &page_text.missing_clock));
    page_add_missing(page, page_say(page, &page_text.missing_what_if));
}

/* On the first screen beside the waits. */
static void show_instructions(struct page_file *page)
{
    struct page_part *part = page_part(page->panels.at[page->panels.n - 1]);

    part->room = PAGE_HALF;
    part->table->shown = INSTRUCTIONS_SHOWN;
}

void flow_page_incore(struct page_file *page, const struct incore_study *study,
                      const struct incore_view *view)
{
    add_title(page, study);
    add_verdict(page, study, view);
    add_actions(page, view);
    add_pipes(page, &study->breakdown);
    flow_page_source(page);
    add_waits(page, view);
    flow_page_instructions(page);
    show_instructions(page);
    add_missing(page, study);
}
