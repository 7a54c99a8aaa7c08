/*
 * The first screen in one language: verdict, actions, pictures, what is missing, kernels.
 */
#include "page/page_html.h"
#include "page/page_number.h"
#include "page/page_panel.h"
#include "text/page.h"

enum { LEAST_LEFT = 50, TABLE_ROWS = 15, NAME_WIDTH = 80, SHAPE_WIDTH = 40 };

/* A change keeps its sign; a saving is time that goes away. Kernels without a clock have shares
 * only. */
static void put_action(struct page_html *h, const struct page_action *a, size_t number)
{
    struct arena *arena = &h->page->arena;
    bool is_change = a->verb != NULL;
    double shown = is_change ? (double)a->saving : -(double)a->saving;
    const char *class = is_change && strcmp(a->verb, "noise") == 0 ? "same"
                        : shown > 0                                ? "worse"
                                                                   : "better";

    page_html_format(
        h,
        "<article class=\"card\" data-action=\"%zu\"><h2><span class=\"number\">%zu</span> "
        "%s</h2>\n<p class=\"evidence\">%s</p>\n<p class=\"foot\"><a href=\"%s\">%s →</a>",
        number, number + 1, page_escape_wording(h, a->title), page_escape_wording(h, a->evidence),
        page_escape(h, a->link), page_escape_wording(h, a->show));
    if (a->saving != 0) {
        page_html_format(h, "<strong class=\"%s\">", class);
        bool has_time = !h->page->has_cycles;
        if (a->bound == SAVING_AT_MOST || a->bound == SAVING_AT_LEAST)
            page_html_format(h, "<span class=\"up-to\">%s</span> ",
                             page_escape_message(h, a->bound == SAVING_AT_MOST
                                                        ? &page_text.up_to
                                                        : &page_text.at_least));
        if (has_time)
            page_html_text(h, page_delta_text(arena, shown));
        if (!is_change)
            page_html_format(
                h, "%s<span class=\"of\">%s</span>", has_time ? " · " : "",
                a->share_text.english.n > 0
                    ? page_escape_wording(h, a->share_text)
                    : page_escape(h, page_share_text(arena, has_time ? a->share : -a->share)));
        page_html_put(h, S("</strong>"));
    }
    page_html_put(h, S("</p></article>\n"));
}

static void put_actions(struct page_html *h)
{
    struct page_file *page = h->page;

    if (page->n_actions == 0)
        return;
    page_html_format(h, "<section id=\"actions-%s\" class=\"cards\">\n", lang_name(h->lang));
    for (size_t i = 0; i < page->n_actions; i++)
        put_action(h, &page->actions[i], i);
    page_html_put(h, S("</section>\n"));
    bool has_rest = page->to > page->from / LEAST_LEFT; /* all savings are estimates */
    if (page->from > 0 && page->n_actions > 1 && has_rest)
        page_html_format(
            h, "<p class=\"together\">%s</p>\n",
            page_escape(h, MESSAGE(h->lang, &page->arena,
                                   page->is_bare ? &page_text.together_bare : &page_text.together,
                                   PLACE("from", page_time_text(&page->arena, (double)page->from)),
                                   PLACE("to", page_time_text(&page->arena, (double)page->to)))));
}

static void put_notes(struct page_html *h)
{
    struct page_file *page = h->page;

    if (page->n_missing > 0) {
        page_html_format(h, "<aside id=\"missing-%s\" class=\"missing\"><h2>%s</h2>\n<ul>",
                         lang_name(h->lang), page_escape_message(h, &page_text.heading_missing));
        for (size_t i = 0; i < page->n_missing; i++)
            page_html_format(h, "<li>%s</li>", page_escape_wording(h, page->missing[i]));
        page_html_put(h, S("</ul></aside>\n"));
    }
    if (page->thinned.english.n > 0)
        page_html_format(h, "<p class=\"note\">%s</p>\n", page_escape_wording(h, page->thinned));
    if (page->options.redact)
        page_html_format(h, "<p class=\"note\">%s</p>\n",
                         page_escape_message(h, &page_text.redacted));
}

/* ---- sections ---- */

struct section {
    const char *view;
    const struct message *label;
};

static void put_link(struct page_html *h, const struct section *s)
{
    page_html_format(h, "<a href=\"#v=%s\" data-view=\"%s\">%s</a>\n", s->view, s->view,
                     page_escape_message(h, s->label));
}

static bool has_section(const struct page_file *page, const char *view)
{
    bool has_memory = false, has_comm = false, has_layers = false;

    for (size_t i = 0; i < page->n_sets; i++) {
        const struct capture *cap = page->sets[i]->cap;
        has_memory |= page_has_memory(page->sets[i]);
        has_comm |= cap->comm_ops.n > 0 || cap->comm_links.n > 0;
        has_layers |= page->sets[i]->arch != NULL;
    }
    return strcmp(view, "memory") == 0  ? has_memory
           : strcmp(view, "comm") == 0  ? has_comm
           : strcmp(view, "model") == 0 ? has_layers
           : strcmp(view, "diff") == 0  ? page->diff != NULL
                                        : true;
}

/* A page of views alone, not of captures with some. */
static bool is_result(const struct page_file *page)
{
    return page->panels.n > 0 && page->ranks == NULL;
}

static void put_nav(struct page_html *h)
{
    static const struct section sections[] = {
        {"summary", &page_text.nav_summary},   {"diff", &page_text.nav_difference},
        {"timeline", &page_text.nav_timeline}, {"kernels", &page_text.nav_kernels},
        {"model", &page_text.nav_model},       {"memory", &page_text.nav_memory},
        {"comm", &page_text.nav_comm},         {"data", &page_text.nav_data},
    };
    const struct page_file *page = h->page;
    bool has_timeline = page->n_sets > 0;

    if (!has_timeline && page->panels.n == 0)
        return;
    page_html_put(h, S("<nav class=\"sections js-only\">\n"));
    for (size_t i = 0; i < ARRAY_LEN(sections) && !is_result(page); i++)
        if (has_section(page, sections[i].view))
            put_link(h, &sections[i]);
    if (is_result(page) && has_timeline)
        put_link(h, &(struct section){"timeline", &page_text.nav_timeline});
    for (size_t i = 0; i < page->panels.n; i++)
        put_link(h, &(struct section){page->panels.at[i]->id, page->panels.at[i]->title});
    if (is_result(page))
        put_link(h, &(struct section){"data", &page_text.nav_data});
    page_html_put(h, S("</nav>\n"));
}

/* ---- kernels ---- */

static void screen_put_cell(struct page_html *h, bool is_number, struct str text)
{
    page_html_format(h, "%s%s</td>", is_number ? "<td class=\"n\">" : "<td>", page_escape(h, text));
}

/* Times are told a step: steps are marked, and they are alike. */
static bool screen_has_steps(const struct page_set *set)
{
    return !set->a->is_pseudo && !account_mean_of(set->a).is_mixed;
}

static void screen_put_kernel(struct page_html *h, const struct page_set *set,
                              const struct page_kernel *k, size_t number)
{
    struct arena *arena = &h->page->arena;
    const struct page_what *what = &set->whats.at[k->what];
    bool has_steps = screen_has_steps(set);

    page_html_format(h,
                     "<tr><td><span class=\"swatch f%d\"></span><a "
                     "href=\"#v=kernels&amp;set=%zu&amp;kernel=%zu\">",
                     what->family, h->page->lead, number);
    struct str name = page_kernel_name(page_name(set, capture_text(set->cap, what->name)));
    page_html_format(h, "%s</a></td>", page_escape(h, str_fit(name, NAME_WIDTH)));
    screen_put_cell(h, true, page_share_text(arena, k->share));
    screen_put_cell(h, true, page_time_text(arena, (double)(has_steps ? k->per_step : k->total)));
    screen_put_cell(h, true, page_count_text(arena, k->count));
    screen_put_cell(h, true, page_time_text(arena, (double)k->mean));
    screen_put_cell(h, true, k->roof > 0 ? page_share_text(arena, k->roof) : S(""));
    screen_put_cell(h, false, str_fit(page_shape(set, what->shapes), SHAPE_WIDTH));
    page_html_put(h, S("</tr>\n"));
}

static void screen_put_head(struct page_html *h, const struct message *m, bool is_number)
{
    page_html_format(h, "%s%s</th>",
                     is_number ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">",
                     page_escape_message(h, m));
}

static void put_kernels(struct page_html *h, const struct page_set *set)
{
    const struct page_kernels *kernels = &set->kernels;
    size_t n = kernels->n < TABLE_ROWS ? kernels->n : TABLE_ROWS;

    if (n == 0)
        return;
    page_html_format(h, "<section id=\"kernels-%s\" class=\"plain\">\n", lang_name(h->lang));
    page_html_heading(h, "kernels", message_in(h->lang, &page_text.heading_kernels),
                      n < kernels->all ? MESSAGE(h->lang, &h->page->arena, &page_text.more_rows,
                                                 PLACE("n", n), PLACE("all", kernels->all))
                                       : S(""),
                      S(""));
    page_html_put(h, S("<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>"));
    screen_put_head(h, &page_text.col_kernel, false);
    screen_put_head(h, &page_text.col_share, true);
    screen_put_head(h, !screen_has_steps(set) ? &page_text.col_total : &page_text.col_step, true);
    screen_put_head(h, &page_text.col_count, true);
    screen_put_head(h, &page_text.col_mean, true);
    screen_put_head(h, &page_text.col_roof, true);
    screen_put_head(h, &page_text.col_shape, false);
    page_html_put(h, S("</tr></thead><tbody>\n"));
    for (size_t i = 0; i < n; i++)
        screen_put_kernel(h, set, &kernels->at[i], i);
    page_html_put(h, S("</tbody></table></div></section>\n"));
}

static void put_captures(struct page_html *h)
{
    const struct page_file *page = h->page;

    if (page->ranks != NULL)
        page_draw_ranks(h);
    else if (page->n_sets > 0 && page->diff == NULL)
        page_draw_accounting(h);
    put_actions(h);
    if (page->ranks != NULL)
        page_draw_heat(h);
    if (page->ranks != NULL && page->panels.n > 0)
        page_draw_panels(h, false);
    if (page->diff != NULL) {
        page_draw_waterfall(h);
        page_draw_medians(h);
    } else if (page->n_sets > 0) {
        page_draw_steps(h);
        page_draw_excerpt(h);
    }
    if (page->n_sets > 0)
        put_notes(h);
    put_nav(h);
}

/* The report in full; where panels show it, it is for paper and for readers without a script. */
static void put_fragments(struct page_html *h)
{
    const struct page_file *page = h->page;

    page_html_format(h, "<section class=\"report%s\">\n", page->panels.n > 0 ? " plain" : "");
    page_html_put(h, text_view(&page->fragments[h->lang].html));
    page_html_put(h, S("</section>\n"));
}

static struct page_html screen_begin(struct page_file *page, enum lang lang, struct sink out)
{
    struct page_html h = {.sink = out, .page = page, .lang = lang};

    page_html_format(&h, "<div class=\"static\" lang=\"%s\"%s>\n", lang_name(lang),
                     lang == page->options.lang ? "" : " hidden");
    return h;
}

void page_write_fragments(struct page_file *page, enum lang lang, struct sink out)
{
    struct page_html h = screen_begin(page, lang, out);

    if (page->fragments[lang].html.n > 0)
        put_fragments(&h);
    if (page->n_actions == 0)
        put_notes(&h);
    page_html_put(&h, S("</div>\n"));
}

void page_write_screen(struct page_file *page, enum lang lang, struct sink out)
{
    struct page_html h = screen_begin(page, lang, out);
    const struct page_verdict *v = &h.page->verdict;

    page_html_format(&h,
                     "<h1 id=\"verdict-%s\">%s</h1>\n<p id=\"evidence-%s\" class=\"lead\">%s</p>\n",
                     lang_name(h.lang), page_escape_wording(&h, v->text), lang_name(h.lang),
                     page_escape_wording(&h, v->evidence));
    if (is_result(page)) {
        /* The pictures of a result that is no capture, around its actions. */
        page_draw_panels(&h, true);
        put_actions(&h);
        if (h.page->n_sets > 0)
            page_draw_pipes(&h);
        page_draw_panels(&h, false);
        put_notes(&h);
        put_nav(&h);
    } else if (page->view != NULL && page->n_actions == 0)
        put_nav(&h);
    else
        put_captures(&h);
    if (page->fragments != NULL && page->view == NULL)
        put_fragments(&h);
    if (page->n_sets > 0 && !is_result(page))
        put_kernels(&h, page->sets[page->lead]);
    page_html_put(&h, S("</div>\n"));
}
