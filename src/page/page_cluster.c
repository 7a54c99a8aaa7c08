/*
 * All ranks of a run as views of a page: who is slow in which step, who waits for whom, what goes
 * from where to where, and the slowest step on one clock.
 */
#include <math.h>
#include <stdlib.h>

#include "base/tables/ranked.h"
#include "page/page_cluster.h"
#include "page/page_number.h"
#include "page/pages.h"
#include "text/page.h"

enum {
    ROWS = 256,   /* ranks of the heat map */
    COLUMNS = 48, /* of it; more steps share one */
    GROUPS = 512,
};

struct wording page_cluster_rank(struct cluster_page *p, int64_t rank)
{
    return PAGE_TELL(p->page, &page_text.rank, PLACE("n", rank));
}

/* ---- first screen ---- */

static struct wording who_of(struct cluster_page *p, const struct culprit *one)
{
    if (one->link != NULL)
        return PAGE_TELL(p->page, &page_text.cluster_link, PLACE("from", one->link->from),
                         PLACE("to", one->link->to));
    if (one->rank >= 0)
        return page_cluster_rank(p, one->rank);
    return PAGE_TELL(p->page, &page_text.cluster_group, PLACE("from", one->ranks[0]),
                     PLACE("to", one->ranks[one->n_ranks - 1]));
}

static void add_action(struct cluster_page *p, const struct culprit *one)
{
    static const struct message *const titles[CULPRIT_KINDS] = {
        [CULPRIT_COMPUTE_SLOW] = &page_text.cluster_do_compute,
        [CULPRIT_HOST_STALL] = &page_text.cluster_do_stall,
        [CULPRIT_SLOW_LINK] = &page_text.cluster_do_link,
        [CULPRIT_STORAGE] = &page_text.cluster_do_storage,
        [CULPRIT_IMBALANCE] = &page_text.cluster_do_imbalance,
    };
    struct page_file *page = p->page;
    bool is_link = one->kind == CULPRIT_SLOW_LINK;

    page->actions[page->n_actions++] = (struct page_action){
        .id = culprit_kind_name(one->kind),
        .title = PAGE_TELL(page, titles[one->kind], page_placed(page, "who", who_of(p, one))),
        .evidence = one->evidence,
        .show =
            page_say(page, is_link ? &page_text.cluster_show_link : &page_text.cluster_show_step),
        .confidence = wording_plain(str_of(culprit_confidence_name(one->confidence))),
        .saving = nanos_of(one->total_ms * 1e6), /* as the title */
        .share = one->share,
        .share_text = WORDING(&page->arena, &page_text.cluster_share,
                              place_quantity("share", one->share, UNIT_RATIO),
                              place_quantity("base", one->base_ms * 1e6, UNIT_NS)),
        .link = is_link ? S("#v=links") : page_cluster_lane(p, one->place),
    };
}

static double worst_residual(const struct cluster *c)
{
    double most = 0;

    for (size_t i = 0; i < c->n_ranks; i++)
        if (c->clocks[i].is_known)
            most = fmax(most, c->clocks[i].residual_ns);
    return most;
}

/* The picture shows what is wrong with the first culprit. */
static void set_focus(struct cluster_page *p)
{
    struct page_file *page = p->page;
    const struct culprit *first = &p->c->culprits[0];
    const struct page_set *set = page->n_sets > 0 ? page->sets[page->lead] : NULL;

    if (set != NULL && first->rank >= 0 && set->cap->facts.rank == first->rank)
        page->focus = first->kind == CULPRIT_COMPUTE_SLOW ? page_longest_task(set, S(""))
                                                          : page_longest_gap(set, -1);
}

/* The culprits in place of what the page says of a single rank: what that waits for is theirs, and
 * savings of the run and of one rank do not add up. */
static void cluster_describe_page(struct cluster_page *p)
{
    struct page_file *page = p->page;
    const struct cluster *c = p->c;
    struct arena *arena = &page->arena;

    if (page->n_sets == 0 || c->n_culprits > 0)
        page->verdict = (struct page_verdict){
            .id = "cluster",
            .text = page_capital(page, c->verdict),
            .evidence = PAGE_TELL(page, &page_text.cluster_evidence, PLACE("n", c->n_ranks),
                                  PLACE("steps", c->n_steps),
                                  PLACE("time", page_time_text(arena, c->times.median_ns)),
                                  PLACE("residual", page_time_text(arena, worst_residual(c))),
                                  PLACE("error", page_share_text(arena, c->replay_error))),
            .confidence = wording_plain(str_of(
                c->n_culprits > 0 ? culprit_confidence_name(c->culprits[0].confidence) : "")),
            .replay_error = c->replay_error,
        };
    if (c->n_culprits == 0)
        return;
    set_focus(p);
    page->n_actions = 0;
    page->from = page->to = 0;
    for (size_t i = 0; i < c->n_culprits && page->n_actions < PAGE_ACTIONS; i++)
        add_action(p, &c->culprits[i]);
}

static void add_facts(struct cluster_page *p)
{
    struct page_file *page = p->page;
    const struct cluster *c = p->c;
    struct str layout = cluster_layout_text(&c->layout, &page->arena);

    for (size_t i = 0; i < c->n_notes; i++)
        page_add_missing(page, page_capital(page, c->said[i]));
    page_add_fact(page, PAGE_TELL(page, &page_text.ranks, PLACE("n", c->n_ranks)));
    page_add_fact(page, PAGE_TELL(page, &page_text.steps, PLACE("n", c->n_steps)));
    if (layout.n > 0)
        page_add_fact(page, PAGE_TELL(page, &page_text.cluster_layout, PLACE("layout", layout)));
}

/* ---- ranks by steps ---- */

/* Time that half of the others were there before the last one, by step and rank. */
static void sum_awaited(struct cluster_page *p)
{
    const struct cluster_model *m = p->m;
    double *room = ARENA_ARRAY(&p->page->arena, double, m->n + 1);

    p->awaited = ARENA_ARRAY(&p->page->arena, double, m->n_steps * m->n + 1);
    for (size_t i = 0; i < m->n_nodes; i++) {
        const struct cluster_node *node = &m->nodes[i];
        if (node->is_lone || node->step < 0)
            continue;
        for (uint32_t k = 0; k < node->n; k++) {
            const struct cluster_member *at = &m->members[node->first + k];
            room[k] = cluster_time(m, at->rank, m->ranks[at->rank].calls[at->call].begin);
        }
        ranked_sort(room, node->n);
        p->awaited[(size_t)node->step * m->n + node->late] +=
            fmax(0, node->last - ranked_middle(room, node->n));
    }
}

enum heat { HEAT_COMPUTE, HEAT_EXPOSED, HEAT_AWAITED, HEATS };

static double heat_value(const struct cluster_page *p, enum heat what, size_t rank, size_t step)
{
    const struct cluster_model *m = p->m;

    if (what == HEAT_AWAITED)
        return p->awaited[step * m->n + rank];
    if (what == HEAT_COMPUTE) {
        const struct cluster_work *w = p->c->work;
        double usual = w->median[WORK_COMPUTE][w->kind_of[rank] * m->n_steps + step];
        double own = work_at(w, WORK_COMPUTE, rank, step);
        return isfinite(usual) && usual > 0 ? own / usual : NAN;
    }
    for (size_t i = 0; i < m->ranks[rank].n_steps; i++)
        if (cluster_step_of(m, rank, (int32_t)i) == (int32_t)step)
            return (double)m->ranks[rank].steps[i].exposed;
    return NAN;
}

ORDER_BY(largest_first, struct ranked_rank, ORDER(y->value, x->value) ?: ORDER(x->place, y->place));

ORDER_BY(by_place, struct ranked_rank, ORDER(x->place, y->place));

/* At most `most` ranks: culprits and those with the largest values; in their own order. */
struct ranked_rank *page_cluster_choose(struct cluster_page *p, const double *value, size_t most,
                                        size_t *n)
{
    struct ranked_rank *list = ARENA_ARRAY(&p->page->arena, struct ranked_rank, p->m->n + 1);

    for (size_t r = 0; r < p->m->n; r++)
        list[r] = (struct ranked_rank){p->is_marked[r] ? INFINITY : value[r], r};
    qsort(list, p->m->n, sizeof(*list), largest_first);
    *n = p->m->n < most ? p->m->n : most;
    if (p->m->n <= CLUSTER_MATRIX || most <= CLUSTER_MATRIX)
        qsort(list, *n, sizeof(*list), by_place);
    return list;
}

static void fill_heat(struct cluster_page *p, enum heat what, const struct ranked_rank *rows,
                      size_t n, size_t per_column, double *out)
{
    size_t columns = (p->m->n_steps + per_column - 1) / per_column;

    for (size_t i = 0; i < n; i++)
        for (size_t s = 0; s < p->m->n_steps; s++) {
            double value = heat_value(p, what, rows[i].place, s);
            double *cell = &out[i * columns + s / per_column];
            if (isfinite(value) && (!isfinite(*cell) || value > *cell))
                *cell = value;
        }
}

static void add_heat(struct cluster_page *p, struct page_panel *panel)
{
    static const struct page_metric metrics[HEATS] = {
        [HEAT_COMPUTE] = {.name = &page_text.cluster_compute, .is_ratio = true},
        [HEAT_EXPOSED] = {.name = &page_text.cluster_exposed, .unit = PAGE_NS},
        [HEAT_AWAITED] = {.name = &page_text.cluster_others, .unit = PAGE_NS},
    };
    const struct cluster *c = p->c;
    size_t per_column = p->m->n_steps > 0 ? (p->m->n_steps - 1) / COLUMNS + 1 : 1, n;
    size_t columns = (p->m->n_steps + per_column - 1) / per_column;
    double *value = ARENA_ARRAY(&p->page->arena, double, p->m->n + 1);

    for (size_t r = 0; r < p->m->n; r++)
        value[r] = c->ranks[r].awaited_ns;
    const struct ranked_rank *rows = page_cluster_choose(p, value, ROWS, &n);
    struct page_grid *g = page_grid_add(panel, &page_text.cluster_heat, n, columns);
    for (int what = 0; what < HEATS; what++)
        fill_heat(p, (enum heat)what, rows, n, per_column,
                  page_metric_add(panel, g, metrics[what]));
    g->links = ARENA_ARRAY(&p->page->arena, struct str, n * columns);
    for (size_t i = 0; i < n; i++) {
        g->rows.names[i] = page_cluster_rank(p, p->m->ranks[rows[i].place].rank);
        g->rows.is_marked[i] = p->is_marked[rows[i].place];
        for (size_t k = 0; k < columns; k++)
            g->links[i * columns + k] = page_cluster_lane(p, rows[i].place);
    }
    for (size_t k = 0; k < columns; k++)
        g->columns.names[k] =
            PAGE_TELL(p->page, &page_text.cluster_step, PLACE("n", p->m->steps[k * per_column]));
    page_part(panel)->room = p->page->n_sets == 0 ? PAGE_WHOLE : PAGE_BELOW;
    page_part(panel)->note = page_say(p->page, &page_text.cluster_heat_note);
}

/* What is wrong with a rank; nothing where it is no culprit. */
static struct wording cluster_kind_of(struct cluster_page *p, int64_t rank)
{
    for (size_t i = 0; i < p->c->n_culprits; i++) {
        const struct culprit *one = &p->c->culprits[i];
        if (one->rank == rank ||
            (one->link != NULL && (one->link->from == rank || one->link->to == rank)))
            return culprit_kind_wording(&p->page->arena, one->kind);
    }
    return wording_plain(S("–"));
}

static void add_rank_table(struct cluster_page *p, struct page_panel *panel)
{
    static const struct page_table_column columns[] = {
        {&page_text.col_rank, PAGE_TEXT, false},   {&page_text.col_culprit, PAGE_TEXT, false},
        {&page_text.col_awaited, PAGE_NS, true},   {&page_text.col_waited, PAGE_NS, false},
        {&page_text.col_speed, PAGE_PLAIN, false}, {&page_text.col_compute, PAGE_NS, false},
        {&page_text.col_exposed, PAGE_NS, false},  {&page_text.col_idle, PAGE_NS, false},
        {&page_text.col_storage, PAGE_NS, false},  {&page_text.col_step, PAGE_NS, false},
    };
    const struct cluster *c = p->c;
    const struct cluster_rank *const *order = cluster_ranks_ordered(c, &p->page->arena);
    struct page_table *t =
        page_table_add(panel, &page_text.cluster_table, columns, ARRAY_LEN(columns));

    for (size_t i = 0; i < c->n_ranks; i++) {
        const struct cluster_rank *r = order[i];
        page_cell_wording(t, page_cluster_rank(p, r->rank));
        page_row_link(t, page_cluster_lane(p, (size_t)(r - c->ranks)));
        page_cell_wording(t, cluster_kind_of(p, r->rank));
        page_cell_number(t, r->awaited_ns);
        page_cell_number(t, r->waited_ns);
        page_cell_number(t, num_round(r->speed, 3));
        page_cell_number(t, r->compute_ns);
        page_cell_number(t, r->exposed_ns);
        page_cell_number(t, r->idle_ns);
        page_cell_number(t, r->storage_ns);
        page_cell_number(t, r->step_ns);
    }
    t->shown = 8;
    t->columns_shown = 6;
    page_part(panel)->room = c->n_ranks <= CLUSTER_FEW ? PAGE_HALF : PAGE_WHOLE;
}

/* ---- who waits for whom ---- */

/* Ranks by ranks, with their names; gives the row of each rank, SIZE_MAX: none. */
static size_t *name_matrix(struct cluster_page *p, struct page_grid *g,
                           const struct ranked_rank *rows, bool is_marked)
{
    size_t *row_of = ARENA_ARRAY(&p->page->arena, size_t, p->m->n + 1);

    for (size_t r = 0; r < p->m->n; r++)
        row_of[r] = SIZE_MAX;
    for (size_t i = 0; i < g->rows.n; i++) {
        int64_t rank = p->m->ranks[rows[i].place].rank;
        row_of[rows[i].place] = i;
        g->rows.names[i] = page_cluster_rank(p, rank);
        g->columns.names[i] = PAGE_TELL(p->page, &page_text.cluster_to, PLACE("n", rank));
        g->rows.is_marked[i] = g->columns.is_marked[i] = is_marked && p->is_marked[rows[i].place];
    }
    return row_of;
}

/* Adds what the members of a collective wait for its last one. */
static void add_node_waits(struct cluster_page *p, const struct cluster_node *node,
                           const size_t *row_of, size_t n, double *cells)
{
    const struct cluster_model *m = p->m;
    size_t to = row_of[node->late];

    for (uint32_t k = 0; k < node->n && !node->is_lone && to != SIZE_MAX; k++) {
        const struct cluster_member *at = &m->members[node->first + k];
        const struct summary_call *call = &m->ranks[at->rank].calls[at->call];
        double wait = node->last - cluster_time(m, at->rank, call->begin);
        if (row_of[at->rank] == SIZE_MAX || at->rank == node->late || wait <= 0)
            continue;
        double *cell = &cells[row_of[at->rank] * n + to];
        *cell = (isfinite(*cell) ? *cell : 0) + wait / page_cluster_steps(p->c);
    }
}

static void page_cluster_add_waits(struct cluster_page *p)
{
    const struct cluster_model *m = p->m;
    struct page_panel *panel = page_panel_add(p->page, "waits", &page_text.cluster_waits);
    double *value = ARENA_ARRAY(&p->page->arena, double, m->n + 1);
    size_t n;

    for (size_t r = 0; r < m->n; r++)
        value[r] = p->c->ranks[r].awaited_ns;
    const struct ranked_rank *rows = page_cluster_choose(p, value, CLUSTER_MATRIX, &n);
    struct page_grid *g = page_grid_add(panel, &page_text.cluster_waits_title, n, n);
    double *cells = page_metric_add(
        panel, g, (struct page_metric){.name = &page_text.cluster_waits, .unit = PAGE_NS});
    const size_t *row_of = name_matrix(p, g, rows, true);
    for (size_t i = 0; i < m->n_nodes; i++)
        add_node_waits(p, &m->nodes[i], row_of, n, cells);
    page_part(panel)->room = n <= CLUSTER_FEW ? PAGE_HALF : PAGE_BELOW;
    page_part(panel)->note = page_say(p->page, &page_text.cluster_waits_note);
}

/* ---- communication ---- */

/* What went from one rank to another, by matrices of the profiler or by transfers of two. */
struct flow_sum {
    int64_t from, to;
    double bytes, time;
};

ORDER_BY(by_ends, struct flow_sum, ORDER(x->from, y->from) ?: ORDER(x->to, y->to));

/* A matrix of communication, when the files have one; else calls of groups of two, whose ends
 * are known. Flows in one direction between one pair are one. */
static size_t list_flows(const struct cluster_page *p, struct flow_sum *out)
{
    const struct cluster_links *links = p->c->links;
    size_t n = 0, kept = 0;

    for (size_t i = 0; i < links->n_pairs; i++)
        out[n++] = (struct flow_sum){links->pairs[i].from, links->pairs[i].to,
                                     links->pairs[i].megabytes * 1e6, links->pairs[i].ms * 1e6};
    for (size_t g = 0; g < p->m->n_groups && links->n_pairs == 0; g++) {
        const struct cluster_group *group = &p->m->groups[g];
        if (group->n == 2 && group->transit > 0 && group->bytes > 0)
            out[n++] =
                (struct flow_sum){group->ranks[0], group->ranks[1], group->bytes, group->transit};
    }
    if (n > 0)
        qsort(out, n, sizeof(*out), by_ends);
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && by_ends(&out[kept - 1], &out[i]) == 0) {
            out[kept - 1].bytes += out[i].bytes;
            out[kept - 1].time += out[i].time;
        } else {
            out[kept++] = out[i];
        }
    }
    return kept;
}

/* Ranks with the slowest transfers. */
static const struct ranked_rank *slow_ranks(struct cluster_page *p, const struct flow_sum *flows,
                                            size_t n_flows, size_t *n)
{
    double *slow = ARENA_ARRAY(&p->page->arena, double, p->m->n + 1);

    for (size_t i = 0; i < n_flows; i++) {
        uint32_t ends[] = {cluster_place(p->m, flows[i].from), cluster_place(p->m, flows[i].to)};
        double per_byte = flows[i].bytes > 0 ? flows[i].time / flows[i].bytes : 0;
        for (size_t k = 0; k < ARRAY_LEN(ends); k++)
            if (ends[k] != CLUSTER_NONE)
                slow[ends[k]] = fmax(slow[ends[k]], per_byte);
    }
    return page_cluster_choose(p, slow, CLUSTER_MATRIX, n);
}

static void add_matrix(struct cluster_page *p, struct page_panel *panel)
{
    enum { RATE, BYTES, TIME, METRICS };
    static const struct page_metric metrics[METRICS] = {
        [RATE] = {.name = &page_text.col_bandwidth, .unit = PAGE_BANDWIDTH, .is_low = true},
        [BYTES] = {.name = &page_text.col_bytes, .unit = PAGE_BYTES},
        [TIME] = {.name = &page_text.cluster_matrix_time, .unit = PAGE_NS},
    };
    struct flow_sum *flows =
        ARENA_ARRAY(&p->page->arena, struct flow_sum, p->m->n_groups + p->c->links->n_pairs + 1);
    size_t rows, n = list_flows(p, flows);
    double *cells[METRICS];

    if (n == 0)
        return;
    const struct ranked_rank *list = slow_ranks(p, flows, n, &rows);
    struct page_grid *g = page_grid_add(panel, &page_text.cluster_matrix, rows, rows);
    for (size_t i = 0; i < METRICS; i++)
        cells[i] = page_metric_add(panel, g, metrics[i]);
    const size_t *row_of = name_matrix(p, g, list, false);
    for (size_t i = 0; i < n; i++) {
        uint32_t from = cluster_place(p->m, flows[i].from), to = cluster_place(p->m, flows[i].to);
        if (from == CLUSTER_NONE || to == CLUSTER_NONE || row_of[from] == SIZE_MAX ||
            row_of[to] == SIZE_MAX)
            continue;
        size_t at = row_of[from] * rows + row_of[to];
        cells[RATE][at] = flows[i].time > 0 ? flows[i].bytes / flows[i].time * 1e9 : NAN;
        cells[BYTES][at] = flows[i].bytes;
        cells[TIME][at] = flows[i].time;
    }
}

static void add_group_table(struct cluster_page *p, struct page_panel *panel)
{
    static const struct page_table_column columns[] = {
        {&page_text.col_role, PAGE_TEXT, false},
        {&page_text.col_group_ranks, PAGE_TEXT, false},
        {&page_text.col_calls, PAGE_COUNT, false},
        {&page_text.col_bytes, PAGE_BYTES, false},
        {&page_text.col_transfer, PAGE_NS, true},
        {&page_text.col_bandwidth, PAGE_BANDWIDTH, false},
        {&page_text.col_against, PAGE_PLAIN, false},
    };
    size_t n;
    const struct cluster_group **order = cluster_groups_ordered(p->c, &p->page->arena, &n);

    if (n == 0)
        return;
    struct page_table *t =
        page_table_add(panel, &page_text.cluster_groups, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < n && i < GROUPS; i++) {
        const struct cluster_group *g = order[i];
        page_cell_text(t, str_of(cluster_role_name(g->role)));
        page_cell_text(t, cluster_rank_list(&p->page->arena, g->ranks, g->n));
        page_cell_number(t, (double)g->matched / (double)(g->n > 0 ? g->n : 1));
        page_cell_number(t, g->bytes);
        page_cell_number(t, g->transit);
        page_cell_number(t, g->transit > 0 && g->bytes > 0 ? g->bytes / g->transit * 1e9 : NAN);
        page_cell_number(t, g->slow > 0 ? num_round(g->slow, 3) : NAN);
    }
    t->shown = 8;
    page_part(panel)->room = p->c->links->n > 0 ? PAGE_HALF : PAGE_BELOW;
}

/* ---- clocks, what if ---- */

static void add_clocks(struct cluster_page *p, struct page_panel *panel)
{
    static const struct page_table_column columns[] = {
        {&page_text.col_rank, PAGE_TEXT, false},   {&page_text.col_offset, PAGE_NS, false},
        {&page_text.col_drift, PAGE_PLAIN, false}, {&page_text.col_residual, PAGE_NS, false},
        {&page_text.col_ends, PAGE_COUNT, false},
    };
    struct page_table *t =
        page_table_add(panel, &page_text.cluster_clocks, columns, ARRAY_LEN(columns));

    for (size_t i = 0; i < p->c->n_ranks; i++) {
        const struct cluster_clock_row *row = &p->c->clocks[i];
        page_cell_wording(t, page_cluster_rank(p, row->rank));
        page_cell_number(t, row->is_known ? (double)row->offset_ns : NAN);
        page_cell_number(t, row->is_known ? num_round(row->drift_ppm, 3) : NAN);
        page_cell_number(t, row->is_known ? row->residual_ns : NAN);
        page_cell_number(t, (double)row->ends);
    }
}

static void add_what_if(struct cluster_page *p, struct page_panel *panel)
{
    static const struct message *const labels[] = {
        &page_text.cluster_if_even, &page_text.cluster_if_links, &page_text.cluster_if_hidden};
    const struct cluster *c = p->c;
    double today = c->replay.recorded / page_cluster_steps(c);
    struct page_bars *bars = page_bars_add(panel, &page_text.cluster_what_if_title, PAGE_NS, today);

    bars->is_saved = true;
    for (size_t i = 0; i < c->n_gains && i < ARRAY_LEN(labels); i++)
        page_bar_add(bars, (struct page_bar){.label = page_say(p->page, labels[i]),
                                             .value = c->gains[i].step_ns,
                                             .before = today,
                                             .family = (int)i});
    page_part(panel)->room = PAGE_HALF;
}

/* The timelines of the ranks on one clock. */
static void align_sets(struct cluster_page *p)
{
    for (size_t i = 0; i < p->page->n_sets; i++) {
        struct page_set *set = p->page->sets[i];
        uint32_t place = cluster_place(p->m, set->cap->facts.rank);
        if (place == CLUSTER_NONE || !p->m->clocks[place].is_known)
            continue;
        const struct cluster_clock *k = &p->m->clocks[place];
        set->has_clock = true;
        set->drift = k->drift;
        set->ahead =
            (double)k->coarse + k->fine + k->drift * (double)(set->origin - p->m->base - k->coarse);
    }
}

static void mark_culprits(struct cluster_page *p)
{
    const struct cluster *c = p->c;

    p->is_marked = ARENA_ARRAY(&p->page->arena, bool, p->m->n + 1);
    for (size_t i = 0; i < c->n_culprits; i++) {
        const struct culprit *one = &c->culprits[i];
        int64_t ends[] = {one->rank, one->link != NULL ? one->link->from : -1,
                          one->link != NULL ? one->link->to : -1};
        for (size_t k = 0; k < ARRAY_LEN(ends); k++) {
            uint32_t place = ends[k] >= 0 ? cluster_place(p->m, ends[k]) : CLUSTER_NONE;
            if (place != CLUSTER_NONE)
                p->is_marked[place] = true;
        }
    }
}

void page_cluster(struct page_file *page, const struct cluster *c)
{
    struct cluster_page p = {.page = page, .c = c, .m = c->model};

    mark_culprits(&p);
    sum_awaited(&p);
    align_sets(&p);
    page_cluster_choose_lanes(&p);
    cluster_describe_page(&p);
    if (page->n_sets == 0)
        add_facts(&p);
    struct page_panel *ranks = page_panel_add(page, "ranks", &page_text.cluster_ranks);
    add_heat(&p, ranks);
    add_rank_table(&p, ranks);
    add_what_if(&p, ranks);
    add_clocks(&p, ranks);
    page_cluster_add_waits(&p);
    struct page_panel *panel = page_panel_add(p.page, "links", &page_text.cluster_comm);
    add_matrix(&p, panel);
    add_group_table(&p, panel);
    page_cluster_add_slowest(&p);
}
