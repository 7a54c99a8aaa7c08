/*
 * Who waits for whom, and what goes from where to where, as views of a page.
 */
#include <math.h>
#include <stdlib.h>

#include "flow/page_cluster.h"
#include "text/page.h"

enum { GROUPS = 512 };

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

void page_cluster_add_waits(struct cluster_page *p)
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

void page_cluster_add_links(struct cluster_page *p)
{
    struct page_panel *panel = page_panel_add(p->page, "links", &page_text.cluster_comm);

    add_matrix(p, panel);
    add_group_table(p, panel);
}
