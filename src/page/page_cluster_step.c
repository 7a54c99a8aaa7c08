/*
 * The slowest step of a cluster over chosen ranks, on one clock, as a view of a page.
 */
#include <math.h>

#include "page/page_cluster.h"
#include "text/page.h"

enum {
    LANES = 64,    /* ranks of the slowest step, */
    LANES_FEW = 8, /* those that are open at first */
    FINE = 4000,   /* parts of it that are told apart */
};

/* The slowest step, and the ranks that are shown in it. */
void page_cluster_choose_lanes(struct cluster_page *p)
{
    const struct cluster *c = p->c;
    double *value = ARENA_ARRAY(&p->page->arena, double, p->m->n + 1);

    for (size_t i = 1; i < c->n_steps; i++)
        if (c->steps[i].time_ns > c->steps[p->slowest].time_ns)
            p->slowest = i;
    p->lane_of = ARENA_ARRAY(&p->page->arena, size_t, p->m->n + 1);
    for (size_t r = 0; r < p->m->n; r++) {
        value[r] = c->n_steps > 0 ? p->awaited[p->slowest * p->m->n + r] : 0;
        p->lane_of[r] = SIZE_MAX;
    }
    p->lanes = page_cluster_choose(p, value, LANES, &p->n_lanes);
    for (size_t i = 0; i < p->n_lanes; i++)
        p->lane_of[p->lanes[i].place] = i;
}

struct str page_cluster_lane(struct cluster_page *p, size_t rank)
{
    return p->lane_of[rank] != SIZE_MAX ? page_row_address(p->page, "slowest", p->lane_of[rank])
                                        : S("#v=slowest");
}

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
    s.from = fmax(0, s.from - v->begin);
    s.to = fmin(v->l->until, s.to - v->begin);
    if (s.to <= s.from)
        return;
    if (v->l->spans.n > 0) {
        struct page_span *last = &v->l->spans.at[v->l->spans.n - 1];
        if (last->row == s.row && last->is_below == s.is_below && last->family == s.family &&
            s.to - last->from < v->fine && s.from >= last->from) {
            last->to = fmax(last->to, s.to);
            return;
        }
    }
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

/* Of the step, or after it with a stretch that begins in it. */
static bool is_in_step(const struct step_view *v, uint32_t rank, size_t call, int32_t step)
{
    const struct cluster_model *m = v->p->m;
    const struct summary_call *c = &m->ranks[rank].calls[call];
    int32_t own = cluster_step_of(m, rank, c->step);

    return own == step || (own == step + 1 && cluster_time(m, rank, c->begin) - (double)c->stretch <
                                                  v->begin + v->l->until);
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

/* The part of the path that lies in the step. */
static void add_path(struct step_view *v, const struct ranked_rank *rows, size_t n)
{
    struct cluster_piece *path;
    size_t pieces = cluster_path_of(v->p->c, (int32_t)v->p->slowest, &path);

    for (size_t i = 0; i < pieces; i++) {
        double from = fmax(0, path[i].begin_ns - v->begin);
        double to = fmin(v->l->until, path[i].begin_ns + path[i].time_ns - v->begin);
        bool is_transfer = strcmp(path[i].what, "transfer") == 0;
        for (uint32_t k = 0; k < n && to > from; k++)
            if (v->p->m->ranks[rows[k].place].rank == path[i].rank)
                vec_push(&v->l->path,
                         ((struct page_span){k, TEXT_COMPUTE, is_transfer, 0, from, to}));
    }
}

void page_cluster_add_slowest(struct cluster_page *p)
{
    static const struct message *const texts[TEXTS] = {
        [TEXT_COMPUTE] = &page_text.cluster_compute,   [TEXT_OTHER] = &page_text.cluster_other,
        [TEXT_IDLE] = &page_text.cluster_idle,         [TEXT_STORAGE] = &page_text.cluster_storage,
        [TEXT_TRANSFER] = &page_text.cluster_transfer, [TEXT_WAIT] = &page_text.cluster_waiting,
    };
    const struct cluster_model *m = p->m;
    const struct ranked_rank *rows = p->lanes;
    size_t step = p->slowest, n = p->n_lanes;

    if (m->n_steps == 0)
        return;
    struct page_panel *panel = page_panel_add(p->page, "slowest", &page_text.cluster_worst);
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
        l->rows.names[i] = page_cluster_rank(p, m->ranks[rank].rank);
        l->rows.is_marked[i] = p->is_marked[rank];
        for (size_t k = 0; k < m->ranks[rank].n_calls && m->clocks[rank].is_known; k++)
            if (is_in_step(&v, rank, k, (int32_t)step))
                add_call(&v, i, rank, k);
    }
    choose_first(p, l, rows, step);
    add_path(&v, rows, n);
    page_part(panel)->title =
        PAGE_TELL(p->page, &page_text.cluster_worst_title, PLACE("n", m->steps[step]));
    page_part(panel)->note = page_say(p->page, &page_text.cluster_worst_note);
    page_part(panel)->room = PAGE_WHOLE;
}
