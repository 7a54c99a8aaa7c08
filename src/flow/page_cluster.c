/*
 * All ranks of a run as views of a page: who is slow in which step, who waits for whom, what goes
 * from where to where, and the slowest step on one clock.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/cluster/cluster.h"
#include "base/ranked.h"
#include "flow/pages.h"
#include "page/page_number.h"
#include "page/page_panel.h"
#include "text/diagnosis.h"
#include "text/page.h"

enum {
    ROWS = 256,    /* ranks of the heat map */
    COLUMNS = 48,  /* of it; more steps share one */
    MATRIX = 64,   /* ranks of a matrix */
    LANES = 64,    /* ranks of the slowest step, */
    LANES_FEW = 8, /* those that are open at first */
    GROUPS = 512,
    FINE = 4000, /* parts of the slowest step that are told apart */
};

struct cluster_page {
    struct page_file *page;
    const struct cluster *c;
    const struct cluster_model *m;
    double *awaited; /* by step and rank: others wait for it */
    bool *is_marked; /* by rank: a culprit */
};

static struct wording rank_wording(struct cluster_page *p, int64_t rank)
{
    return PAGE_TELL(p->page, &page_text.rank, PLACE("n", rank));
}

static double steps_of(const struct cluster *c)
{
    return c->n_steps > 0 ? (double)c->n_steps : 1;
}

/* ---- first screen ---- */

static struct wording who_of(struct cluster_page *p, const struct culprit *one)
{
    if (one->link != NULL)
        return PAGE_TELL(p->page, &page_text.cluster_link, PLACE("from", one->link->from),
                         PLACE("to", one->link->to));
    if (one->rank >= 0)
        return rank_wording(p, one->rank);
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
        .title = PAGE_TELL(page, titles[one->kind],
                           place_wording("who", wording_keep(&page->arena, who_of(p, one)))),
        .evidence = one->evidence,
        .show =
            page_say(page, is_link ? &page_text.cluster_show_link : &page_text.cluster_show_step),
        .confidence = wording_plain(str_of(culprit_confidence_name(one->confidence))),
        .saving = (nanos)(one->saving_ms * 1e6),
        .share = one->share,
        .link = is_link ? S("#v=links") : S("#v=slowest"),
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

/* The culprits in front of what the page says of a single rank. */
static void tell(struct cluster_page *p)
{
    struct page_file *page = p->page;
    const struct cluster *c = p->c;
    struct arena *arena = &page->arena;
    struct page_action others[PAGE_ACTIONS];
    size_t n_others = 0;

    if (page->n_sets == 0 || c->n_culprits > 0)
        page->verdict = (struct page_verdict){
            .id = "cluster",
            .text = page_capital(page, c->verdict),
            .evidence = PAGE_TELL(page, &page_text.cluster_evidence, PLACE("n", c->n_ranks),
                                  PLACE("steps", c->n_steps),
                                  PLACE("time", page_time_text(arena, c->times.median_ns)),
                                  PLACE("residual", page_time_text(arena, worst_residual(c))),
                                  PLACE("error", page_share_text(arena, c->replay_error))),
            .confidence = wording_plain(S("")),
            .replay_error = c->replay_error,
        };
    for (size_t i = 0; i < page->n_actions && c->n_culprits > 0; i++)
        if (strcmp(page->actions[i].id, "slow_rank") != 0)
            others[n_others++] = page->actions[i];
    if (c->n_culprits == 0)
        return;
    page->n_actions = 0;
    page->from = page->to = 0; /* savings of the run and of one rank do not add up */
    for (size_t i = 0; i < c->n_culprits && page->n_actions < PAGE_ACTIONS; i++)
        add_action(p, &c->culprits[i]);
    for (size_t i = 0; i < n_others && page->n_actions < PAGE_ACTIONS; i++)
        page->actions[page->n_actions++] = others[i];
}

static void add_facts(struct cluster_page *p)
{
    struct page_file *page = p->page;
    const struct cluster *c = p->c;
    struct str layout = S("");
    const int64_t sizes[] = {c->layout.tp, c->layout.pp, c->layout.ep, c->layout.dp};

    page_add_fact(page, PAGE_TELL(page, &page_text.ranks, PLACE("n", c->n_ranks)));
    page_add_fact(page, PAGE_TELL(page, &page_text.steps, PLACE("n", c->n_steps)));
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        if (sizes[i] > 0)
            layout = arena_format(
                &page->arena, "%.*s%s%s %lld", STR_ARGS(layout), layout.n > 0 ? ", " : "",
                ((const char *[]){"TP", "PP", "EP", "DP"})[i], (long long)sizes[i]);
    if (layout.n > 0)
        page_add_fact(page, PAGE_TELL(page, &page_text.cluster_layout, PLACE("layout", layout)));
    for (size_t i = 0; i < c->n_notes; i++)
        page_add_missing(page, page_capital(page, c->said[i]));
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

struct ranked_rank {
    double value;
    size_t place;
};

ORDER_BY(largest_first, struct ranked_rank, ORDER(y->value, x->value) ?: ORDER(x->place, y->place));

ORDER_BY(by_place, struct ranked_rank, ORDER(x->place, y->place));

/* At most `most` ranks: culprits and those with the largest values; in their own order. */
static struct ranked_rank *choose_ranks(struct cluster_page *p, const double *value, size_t most,
                                        size_t *n)
{
    struct ranked_rank *list = ARENA_ARRAY(&p->page->arena, struct ranked_rank, p->m->n + 1);

    for (size_t r = 0; r < p->m->n; r++)
        list[r] = (struct ranked_rank){p->is_marked[r] ? INFINITY : value[r], r};
    qsort(list, p->m->n, sizeof(*list), largest_first);
    *n = p->m->n < most ? p->m->n : most;
    if (p->m->n <= MATRIX || most <= MATRIX)
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
    const struct ranked_rank *rows = choose_ranks(p, value, ROWS, &n);
    struct page_grid *g = page_grid_add(panel, &page_text.cluster_heat, n, columns);
    for (int what = 0; what < HEATS; what++)
        fill_heat(p, (enum heat)what, rows, n, per_column,
                  page_metric_add(panel, g, metrics[what]));
    g->links = ARENA_ARRAY(&p->page->arena, struct str, n * columns);
    for (size_t i = 0; i < n; i++) {
        g->rows.names[i] = rank_wording(p, p->m->ranks[rows[i].place].rank);
        g->rows.is_marked[i] = p->is_marked[rows[i].place];
        for (size_t k = 0; k < columns; k++)
            g->links[i * columns + k] = arena_format(&p->page->arena, "#v=slowest&q=%lld",
                                                     (long long)p->m->ranks[rows[i].place].rank);
    }
    for (size_t k = 0; k < columns; k++)
        g->columns.names[k] =
            PAGE_TELL(p->page, &page_text.cluster_step, PLACE("n", p->m->steps[k * per_column]));
    page_part(panel)->room = p->page->n_sets == 0 ? PAGE_WHOLE : PAGE_BELOW;
    page_part(panel)->note = page_say(p->page, &page_text.cluster_heat_note);
}

static int by_awaited(const void *a, const void *b)
{
    const struct cluster_rank *x = *(const struct cluster_rank *const *)a;
    const struct cluster_rank *y = *(const struct cluster_rank *const *)b;

    return ORDER(y->awaited_ns, x->awaited_ns) ?: ORDER(x->rank, y->rank);
}

static void add_rank_table(struct cluster_page *p, struct page_panel *panel)
{
    static const struct page_table_column columns[] = {
        {&page_text.col_rank, PAGE_TEXT, false},  {&page_text.col_awaited, PAGE_NS, true},
        {&page_text.col_waited, PAGE_NS, false},  {&page_text.col_speed, PAGE_PLAIN, false},
        {&page_text.col_compute, PAGE_NS, false}, {&page_text.col_exposed, PAGE_NS, false},
        {&page_text.col_idle, PAGE_NS, false},    {&page_text.col_storage, PAGE_NS, false},
        {&page_text.col_step, PAGE_NS, false},
    };
    const struct cluster *c = p->c;
    const struct cluster_rank **order =
        ARENA_ARRAY(&p->page->arena, const struct cluster_rank *, c->n_ranks + 1);
    struct page_table *t =
        page_table_add(panel, &page_text.cluster_table, columns, ARRAY_LEN(columns));

    for (size_t i = 0; i < c->n_ranks; i++)
        order[i] = &c->ranks[i];
    qsort(order, c->n_ranks, sizeof(*order), by_awaited);
    for (size_t i = 0; i < c->n_ranks; i++) {
        const struct cluster_rank *r = order[i];
        page_cell_wording(t, rank_wording(p, r->rank));
        page_row_link(t, arena_format(&p->page->arena, "#v=slowest&q=%lld", (long long)r->rank));
        page_cell_number(t, r->awaited_ns / steps_of(c));
        page_cell_number(t, r->waited_ns / steps_of(c));
        page_cell_number(t, num_round(r->speed, 3));
        page_cell_number(t, r->compute_ns);
        page_cell_number(t, r->exposed_ns);
        page_cell_number(t, r->idle_ns);
        page_cell_number(t, r->storage_ns);
        page_cell_number(t, r->step_ns);
    }
    t->shown = 8;
    t->columns_shown = 6;
    page_part(panel)->room = PAGE_HALF;
}

/* ---- who waits for whom ---- */

static void add_waits(struct cluster_page *p)
{
    const struct cluster_model *m = p->m;
    struct page_panel *panel = page_panel_add(p->page, "waits", &page_text.cluster_waits);
    double *value = ARENA_ARRAY(&p->page->arena, double, m->n + 1);
    size_t *row_of = ARENA_ARRAY(&p->page->arena, size_t, m->n + 1), n;

    for (size_t r = 0; r < m->n; r++) {
        value[r] = p->c->ranks[r].awaited_ns;
        row_of[r] = SIZE_MAX;
    }
    const struct ranked_rank *rows = choose_ranks(p, value, MATRIX, &n);
    struct page_grid *g = page_grid_add(panel, &page_text.cluster_waits_title, n, n);
    double *cells = page_metric_add(
        panel, g, (struct page_metric){.name = &page_text.cluster_waits, .unit = PAGE_NS});
    for (size_t i = 0; i < n; i++) {
        int64_t rank = m->ranks[rows[i].place].rank;
        row_of[rows[i].place] = i;
        g->rows.names[i] = rank_wording(p, rank);
        g->columns.names[i] = PAGE_TELL(p->page, &page_text.cluster_to, PLACE("n", rank));
        g->rows.is_marked[i] = g->columns.is_marked[i] = p->is_marked[rows[i].place];
    }
    for (size_t i = 0; i < m->n_nodes; i++) {
        const struct cluster_node *node = &m->nodes[i];
        size_t to = row_of[node->late];
        for (uint32_t k = 0; k < node->n && !node->is_lone && to != SIZE_MAX; k++) {
            const struct cluster_member *at = &m->members[node->first + k];
            const struct summary_call *call = &m->ranks[at->rank].calls[at->call];
            double wait = node->last - cluster_time(m, at->rank, call->begin);
            if (row_of[at->rank] == SIZE_MAX || at->rank == node->late || wait <= 0)
                continue;
            double *cell = &cells[row_of[at->rank] * n + to];
            *cell = (isfinite(*cell) ? *cell : 0) + wait / steps_of(p->c);
        }
    }
    page_part(panel)->room = n <= 16 ? PAGE_HALF : PAGE_BELOW;
    page_part(panel)->note = page_say(p->page, &page_text.cluster_waits_note);
}

/* ---- communication ---- */

/* What went from one rank to another, by matrices of the profiler or by transfers of two. */
struct flow_sum {
    int64_t from, to;
    double bytes, time;
};

ORDER_BY(by_ends, struct flow_sum, ORDER(x->from, y->from) ?: ORDER(x->to, y->to));

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

static void add_matrix(struct cluster_page *p, struct page_panel *panel)
{
    const struct cluster_model *m = p->m;
    struct flow_sum *flows =
        ARENA_ARRAY(&p->page->arena, struct flow_sum, m->n_groups + p->c->links->n_pairs + 1);
    size_t *row_of = ARENA_ARRAY(&p->page->arena, size_t, m->n + 1), rows, n = list_flows(p, flows);
    double *slow = ARENA_ARRAY(&p->page->arena, double, m->n + 1);

    for (size_t i = 0; i < n; i++) {
        uint32_t from = cluster_place(m, flows[i].from), to = cluster_place(m, flows[i].to);
        double per_byte = flows[i].bytes > 0 ? flows[i].time / flows[i].bytes : 0;
        if (from == CLUSTER_NONE || to == CLUSTER_NONE)
            continue;
        slow[from] = fmax(slow[from], per_byte);
        slow[to] = fmax(slow[to], per_byte);
    }
    if (n == 0)
        return;
    const struct ranked_rank *list = choose_ranks(p, slow, MATRIX, &rows);
    struct page_grid *g = page_grid_add(panel, &page_text.cluster_matrix, rows, rows);
    double *rate = page_metric_add(panel, g,
                                   (struct page_metric){.name = &page_text.cluster_matrix,
                                                        .unit = PAGE_BANDWIDTH,
                                                        .is_low = true});
    double *bytes = page_metric_add(
        panel, g, (struct page_metric){.name = &page_text.col_bytes, .unit = PAGE_BYTES});
    double *time = page_metric_add(
        panel, g, (struct page_metric){.name = &page_text.cluster_matrix_time, .unit = PAGE_NS});
    for (size_t r = 0; r < m->n; r++)
        row_of[r] = SIZE_MAX;
    for (size_t i = 0; i < rows; i++) {
        int64_t rank = m->ranks[list[i].place].rank;
        row_of[list[i].place] = i;
        g->rows.names[i] = rank_wording(p, rank);
        g->columns.names[i] = PAGE_TELL(p->page, &page_text.cluster_to, PLACE("n", rank));
        g->rows.is_marked[i] = g->columns.is_marked[i] = false;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t from = cluster_place(m, flows[i].from), to = cluster_place(m, flows[i].to);
        if (from == CLUSTER_NONE || to == CLUSTER_NONE || row_of[from] == SIZE_MAX ||
            row_of[to] == SIZE_MAX)
            continue;
        size_t at = row_of[from] * rows + row_of[to];
        rate[at] = flows[i].time > 0 ? flows[i].bytes / flows[i].time * 1e9 : NAN;
        bytes[at] = flows[i].bytes;
        time[at] = flows[i].time;
    }
}

static int slowest_first(const void *a, const void *b)
{
    const struct cluster_group *x = *(const struct cluster_group *const *)a;
    const struct cluster_group *y = *(const struct cluster_group *const *)b;

    return ORDER(y->slow, x->slow) ?: ORDER(y->transit, x->transit) ?: ORDER(x, y);
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
    const struct cluster_model *m = p->m;
    const struct cluster_group **order =
        ARENA_ARRAY(&p->page->arena, const struct cluster_group *, m->n_groups + 1);
    size_t n = 0;

    for (size_t i = 0; i < m->n_groups; i++)
        if (m->groups[i].matched > 0)
            order[n++] = &m->groups[i];
    if (n == 0)
        return;
    qsort(order, n, sizeof(*order), slowest_first);
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

/* ---- the slowest step ---- */

/* Texts of spans: the first ones are the same for all pages. */
enum span_text {
    TEXT_COMPUTE,
    TEXT_OTHER,
    TEXT_IDLE,
    TEXT_STORAGE,
    TEXT_TRANSFER,
    TEXT_WAIT,
    TEXTS
};

static const struct page_legend legend[] = {
    {&page_text.cluster_compute, PAGE_MATRIX},  {&page_text.cluster_idle, PAGE_HOST},
    {&page_text.cluster_storage, PAGE_COPY},    {&page_text.cluster_transfer, PAGE_COMM},
    {&page_text.cluster_waiting, PAGE_HATCHED}, {&page_text.cluster_other, PAGE_OTHER},
};

struct step_view {
    struct cluster_page *p;
    struct page_lanes *l;
    double begin, fine;
    uint32_t *waits; /* by rank: text of waiting for it, plus one */
};

/* Neighbours that are too short to be told apart become one. */
static void add_span(struct step_view *v, struct page_span s)
{
    struct page_span *last = v->l->spans.n > 0 ? &v->l->spans.at[v->l->spans.n - 1] : NULL;

    s.from -= v->begin;
    s.to -= v->begin;
    if (s.to <= s.from)
        return;
    if (last != NULL && last->row == s.row && last->is_below == s.is_below &&
        last->family == s.family && s.to - last->from < v->fine && s.from >= last->from)
        last->to = fmax(last->to, s.to);
    else
        vec_push(&v->l->spans, s);
}

static uint32_t wait_text(struct step_view *v, uint32_t late)
{
    if (v->waits[late] == 0) {
        vec_push(&v->l->names, PAGE_TELL(v->p->page, &page_text.cluster_waiting_for,
                                         PLACE("n", v->p->m->ranks[late].rank)));
        v->waits[late] = (uint32_t)v->l->names.n;
    }
    return v->waits[late] - 1;
}

/* The stretch before a call, its parts in a fixed order; the wait in it; the transfer. */
static void add_call(struct step_view *v, uint32_t row, uint32_t rank, size_t call)
{
    const struct cluster_model *m = v->p->m;
    const struct summary_call *c = &m->ranks[rank].calls[call];
    const struct cluster_node *node = &m->nodes[m->node_of[rank][call]];
    double at = cluster_time(m, rank, c->begin), end = cluster_time(m, rank, c->end);
    const struct {
        double time;
        uint32_t text;
        int family;
    } parts[] = {
        {(double)(c->idle - c->storage), TEXT_IDLE, PAGE_HOST},
        {(double)c->storage, TEXT_STORAGE, PAGE_COPY},
        {(double)(c->stretch - c->compute - c->idle), TEXT_OTHER, PAGE_OTHER},
        {(double)c->compute, TEXT_COMPUTE, PAGE_MATRIX},
    };
    double from = at - (double)c->stretch;

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        add_span(v, (struct page_span){row, parts[i].text, false, parts[i].family, from,
                                       from + fmax(0, parts[i].time)});
        from += fmax(0, parts[i].time);
    }
    double arrived = node->is_lone ? at : fmin(fmax(node->last, at), end);
    if (arrived > at)
        add_span(
            v, (struct page_span){row, wait_text(v, node->late), true, PAGE_HATCHED, at, arrived});
    add_span(v, (struct page_span){row, TEXT_TRANSFER, true, PAGE_COMM, arrived, end});
}

static size_t slowest_step(const struct cluster *c)
{
    size_t worst = 0;

    for (size_t i = 1; i < c->n_steps; i++)
        if (c->steps[i].time_ns > c->steps[worst].time_ns)
            worst = i;
    return worst;
}

/* From the first begin of the step on any of the ranks to its last end. */
static void frame_step(struct step_view *v, const struct ranked_rank *rows, size_t n, size_t step)
{
    const struct cluster_model *m = v->p->m;
    double begin = INFINITY, end = -INFINITY;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m->ranks[rows[i].place].n_steps; k++) {
            const struct summary_step *s = &m->ranks[rows[i].place].steps[k];
            if (cluster_step_of(m, rows[i].place, (int32_t)k) != (int32_t)step)
                continue;
            begin = fmin(begin, cluster_time(m, rows[i].place, s->begin));
            end = fmax(end, cluster_time(m, rows[i].place, s->end));
        }
    v->begin = begin;
    v->l->until = end > begin ? end - begin : 0;
    v->fine = v->l->until / FINE;
}

/* Culprits, whom others wait for most, and one that is as usual. */
static void choose_first(struct cluster_page *p, struct page_lanes *l,
                         const struct ranked_rank *rows, size_t step)
{
    bool *is_in = ARENA_ARRAY(&p->page->arena, bool, l->rows.n + 1);

    l->first = ARENA_ARRAY(&p->page->arena, size_t, l->rows.n + 1);
    for (size_t i = 0; i < l->rows.n && l->n_first < LANES_FEW; i++)
        if (l->rows.is_marked[i]) {
            is_in[i] = true;
            l->first[l->n_first++] = i;
        }
    while (l->n_first < LANES_FEW && l->n_first < l->rows.n) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < l->rows.n; i++)
            if (!is_in[i] &&
                (best == SIZE_MAX || p->awaited[step * p->m->n + rows[i].place] >
                                         p->awaited[step * p->m->n + rows[best].place]))
                best = i;
        is_in[best] = true;
        l->first[l->n_first++] = best;
    }
}

static void add_path(struct step_view *v, const struct ranked_rank *rows, size_t n)
{
    const struct cluster *c = v->p->c;

    for (size_t i = 0; i < c->n_path; i++)
        for (uint32_t k = 0; k < n; k++)
            if (v->p->m->ranks[rows[k].place].rank == c->path[i].rank)
                vec_push(&v->l->path, ((struct page_span){
                                          k, TEXT_COMPUTE, strcmp(c->path[i].what, "transfer") == 0,
                                          0, c->path[i].begin_ns - v->begin,
                                          c->path[i].begin_ns + c->path[i].time_ns - v->begin}));
}

static void add_slowest(struct cluster_page *p)
{
    static const struct message *const texts[TEXTS] = {
        [TEXT_COMPUTE] = &page_text.cluster_compute,   [TEXT_OTHER] = &page_text.cluster_other,
        [TEXT_IDLE] = &page_text.cluster_idle,         [TEXT_STORAGE] = &page_text.cluster_storage,
        [TEXT_TRANSFER] = &page_text.cluster_transfer, [TEXT_WAIT] = &page_text.cluster_waiting,
    };
    const struct cluster_model *m = p->m;
    size_t step = slowest_step(p->c), n;

    if (m->n_steps == 0)
        return;
    struct page_panel *panel = page_panel_add(p->page, "slowest", &page_text.cluster_worst);
    double *value = ARENA_ARRAY(&p->page->arena, double, m->n + 1);
    for (size_t r = 0; r < m->n; r++)
        value[r] = p->awaited[step * m->n + r];
    const struct ranked_rank *rows = choose_ranks(p, value, LANES, &n);
    struct page_lanes *l = page_lanes_add(panel, NULL, n);
    struct step_view v = {
        .p = p, .l = l, .waits = ARENA_ARRAY(&p->page->arena, uint32_t, m->n + 1)};
    for (int i = 0; i < TEXTS; i++)
        vec_push(&l->names, page_say(p->page, texts[i]));
    l->legend = legend;
    l->n_legend = ARRAY_LEN(legend);
    frame_step(&v, rows, n, step);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rank = (uint32_t)rows[i].place;
        l->rows.names[i] = rank_wording(p, m->ranks[rank].rank);
        l->rows.is_marked[i] = p->is_marked[rank];
        for (size_t k = 0; k < m->ranks[rank].n_calls && m->clocks[rank].is_known; k++)
            if (cluster_step_of(m, rank, m->ranks[rank].calls[k].step) == (int32_t)step)
                add_call(&v, i, rank, k);
    }
    choose_first(p, l, rows, step);
    if (m->steps[step] == p->c->path_step)
        add_path(&v, rows, n);
    page_part(panel)->title =
        PAGE_TELL(p->page, &page_text.cluster_worst_title, PLACE("n", m->steps[step]));
    page_part(panel)->note = page_say(p->page, &page_text.cluster_worst_note);
    page_part(panel)->room = PAGE_WHOLE;
}

/* ---- clocks, what if ---- */

static void add_clocks(struct cluster_page *p)
{
    static const struct page_table_column columns[] = {
        {&page_text.col_rank, PAGE_TEXT, false},   {&page_text.col_offset, PAGE_NS, false},
        {&page_text.col_drift, PAGE_PLAIN, false}, {&page_text.col_residual, PAGE_NS, false},
        {&page_text.col_ends, PAGE_COUNT, false},
    };
    struct page_panel *panel = page_panel_add(p->page, "clocks", &page_text.cluster_clocks);
    struct page_table *t = page_table_add(panel, NULL, columns, ARRAY_LEN(columns));

    for (size_t i = 0; i < p->c->n_ranks; i++) {
        const struct cluster_clock_row *row = &p->c->clocks[i];
        page_cell_wording(t, rank_wording(p, row->rank));
        page_cell_number(t, row->is_known ? (double)row->offset_ns : NAN);
        page_cell_number(t, row->is_known ? num_round(row->drift_ppm, 3) : NAN);
        page_cell_number(t, row->is_known ? row->residual_ns : NAN);
        page_cell_number(t, (double)row->ends);
    }
}

static void add_what_if(struct cluster_page *p)
{
    static const struct message *const labels[] = {
        &page_text.cluster_if_even, &page_text.cluster_if_links, &page_text.cluster_if_hidden};
    const struct cluster *c = p->c;
    double today = c->replay.recorded / steps_of(c);
    struct page_panel *panel = page_panel_add(p->page, "whatif", &page_text.cluster_what_if);
    struct page_bars *bars = page_bars_add(panel, &page_text.cluster_what_if_title, PAGE_NS, today);

    bars->is_saved = true;
    for (size_t i = 0; i < c->n_gains && i < ARRAY_LEN(labels); i++)
        page_bar_add(bars, (struct page_bar){.label = page_say(p->page, labels[i]),
                                             .value = c->gains[i].step_ns,
                                             .before = today,
                                             .family = (int)i});
    page_part(panel)->room = PAGE_HALF;
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

void flow_page_cluster(struct page_file *page, const struct cluster *c)
{
    struct cluster_page p = {.page = page, .c = c, .m = c->model};

    mark_culprits(&p);
    sum_awaited(&p);
    tell(&p);
    if (page->n_sets == 0)
        add_facts(&p);
    struct page_panel *ranks = page_panel_add(page, "ranks", &page_text.cluster_ranks);
    add_heat(&p, ranks);
    add_slowest(&p);
    add_rank_table(&p, ranks);
    add_waits(&p);
    struct page_panel *links = page_panel_add(page, "links", &page_text.cluster_comm);
    add_matrix(&p, links);
    add_group_table(&p, links);
    add_what_if(&p);
    add_clocks(&p);
}
