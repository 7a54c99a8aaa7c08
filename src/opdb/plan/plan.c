/*
 * Searching for configurations. See plan.h.
 */
#include "opdb/plan/plan.h"

#include <math.h>
#include <stdlib.h>

#include "base/run/cancel.h"
#include "opdb/plan/plan_in.h"

enum { MOST_CARDS = 1 << 12, SWEEP = 24 };

/* ---- refusals ---- */

/* Each reason once for a layout. */
static void refuse(struct plan *p, struct str what, struct str why)
{
    for (size_t i = 0; i < p->refused.n; i++)
        if (str_equal(p->refused.at[i].what, what) && str_equal(p->refused.at[i].why, why)) {
            p->refused.at[i].n++;
            return;
        }
    vec_push(&p->refused,
             ((struct plan_refusal){arena_str(&p->arena, what), arena_str(&p->arena, why), 1}));
}

/* "tp4pp1dp1etp1ep4", as AIConfigurator writes layouts. */
static struct str layout_name(struct arena *arena, const struct model_layout *l)
{
    return arena_format(arena, "tp%lldpp%llddp%lldetp%lldep%lld", (long long)l->tp,
                        (long long)l->pp, (long long)l->dp, (long long)l->expert_tp,
                        (long long)l->ep);
}

static struct str place_name(struct plan *p, const struct plan_base *b,
                             const struct model_layout *l)
{
    return arena_format(&p->arena, "%.*s %.*s", STR_ARGS(b->system),
                        STR_ARGS(layout_name(&p->arena, l)));
}

/* ---- one configuration ---- */

struct evaluation {
    struct plan *p;
    struct plan_base *base;
    struct plan_machine machine;
    double slots, memory_gb;
    size_t setup;
};

static struct plan_value scaled(double value, double low, double high)
{
    return (struct plan_value){value, value * low, value * high};
}

/* Times have the center and the interval of their engine. */
static void set_times(struct plan_row *row, const struct plan_machine *m,
                      const struct serve_state *s)
{
    const struct calibration_engine *e = &m->base->engine_cost;
    double low, high, output = m->request->output;

    plan_spread(m, false, &low, &high);
    row->token_ms = scaled(s->token * 1e3 * e->token_center, low, high);
    row->tokens_user = (struct plan_value){1e3 / row->token_ms.value, 1e3 / row->token_ms.high,
                                           1e3 / row->token_ms.low};
    plan_spread(m, true, &low, &high);
    double first = s->first * 1e3 * e->first_center + e->first_us * 1e-3;
    row->first_ms = scaled(first, low, high);
    row->latency_ms = (struct plan_value){row->first_ms.value + (output - 1) * row->token_ms.value,
                                          row->first_ms.low + (output - 1) * row->token_ms.low,
                                          row->first_ms.high + (output - 1) * row->token_ms.high};
}

static bool within(const struct plan_limit *l, const struct plan_value *v, bool is_low)
{
    return l->ms <= 0 || (is_low ? v->high : v->value) <= l->ms;
}

static bool meets(const struct plan_request *r, const struct plan_row *row, bool is_low)
{
    return within(&r->first, &row->first_ms, is_low) && within(&r->token, &row->token_ms, is_low) &&
           within(&r->latency, &row->latency_ms, is_low);
}

/* What keeps a configuration from serving more. */
static struct str limit_of(const struct plan_request *r, const struct plan_row *row, double slots)
{
    if (!within(&r->first, &row->first_ms, false))
        return S("ttft");
    if (!within(&r->token, &row->token_ms, false))
        return S("tpot");
    if (!within(&r->latency, &row->latency_ms, false))
        return S("latency");
    if (row->main.sequences >= slots)
        return S("memory");
    return S("load");
}

static void set_shares(struct plan_row *row, const struct step_cost *c)
{
    for (size_t i = 0; i < QUERY_SOURCES; i++)
        row->share[i] = c->us > 0 ? c->source_us[i] / c->us : 0;
}

/* Output tokens of a second come as seldom as their times are long. */
static void set_rate(struct plan_row *row, const struct plan_request *r, double rate, double factor)
{
    double tokens = rate * r->output / (double)row->cards;

    row->rate = rate;
    row->tokens_card =
        (struct plan_value){tokens, tokens * row->token_ms.value / row->token_ms.high * factor,
                            tokens * row->token_ms.value / row->token_ms.low};
}

static void finish_row(struct plan *p, struct plan_row *row, double slots)
{
    const struct plan_request *r = p->request;

    row->meets = meets(r, row, false);
    row->meets_low = meets(r, row, true);
    row->limit = limit_of(r, row, slots);
    p->answered++;
    vec_push(&p->rows, *row);
}

static struct plan_row row_of(struct evaluation *x, int64_t replicas, double sequences)
{
    const struct model_layout *l = &x->machine.setup.layout;
    int64_t cards = l->tp * l->pp * l->dp;

    return (struct plan_row){.mode = "agg",
                             .main = {.system = x->base->system,
                                      .engine = x->base->engine,
                                      .version = x->base->version,
                                      .layout = *l,
                                      .cards = cards,
                                      .replicas = replicas,
                                      .sequences = sequences,
                                      .memory_gb = x->memory_gb,
                                      .slots = x->slots},
                             .cards = cards * replicas,
                             .setup = x->setup};
}

/* Closed load: so many clients for each data-parallel group. */
static bool try_clients(struct evaluation *x, int64_t replicas, double clients)
{
    const struct plan_request *r = x->p->request;
    struct plan_machine *m = &x->machine;
    struct plan_row row = row_of(x, replicas, fmin(clients, x->slots));
    double groups = (double)(m->setup.layout.dp * replicas);
    struct serve_state s;

    x->p->tried++;
    plan_decode_ms(m, fmin(clients, x->slots));
    struct str why = plan_doubt(m, &x->p->arena);
    if (why.n > 0) {
        refuse(x->p, place_name(x->p, x->base, &m->setup.layout), why);
        return false;
    }
    struct step_cost decode = m->last;
    double total = r->burst > 0 ? fmax(clients, r->burst / groups) : 0;
    if (total > 0) {
        s = serve_burst(&m->load, clients, total, x->slots);
    } else {
        s = serve_closed(&m->load, fmin(clients, x->slots));
        if (clients > x->slots)
            s.first += (clients - x->slots) / s.rate;
    }
    plan_decode_ms(m, fmin(clients, x->slots));
    set_shares(&row, &decode);
    row.clients = clients * groups;
    set_times(&row, m, &s);
    set_rate(&row, r, s.rate * groups / m->base->engine_cost.token_center, 1);
    finish_row(x->p, &row, x->slots);
    return true;
}

/* Open load: a rate for all instances. */
static bool try_rate(struct evaluation *x, int64_t replicas, double rate)
{
    const struct plan_request *r = x->p->request;
    struct plan_machine *m = &x->machine;
    double groups = (double)(m->setup.layout.dp * replicas), each = rate / groups;
    double center = m->base->engine_cost.token_center, low, high;
    struct serve_state s, slow;

    x->p->tried++;
    plan_decode_ms(m, fmin(x->slots, 8));
    struct str why = plan_doubt(m, &x->p->arena);
    if (why.n > 0) {
        refuse(x->p, place_name(x->p, x->base, &m->setup.layout), why);
        return false;
    }
    if (!serve_open(&m->load, each * center, fmin(x->slots, 1024), &s)) {
        refuse(x->p, place_name(x->p, x->base, &m->setup.layout),
               arena_format(&x->p->arena, "the rate is 98 %% or more of what %lld %s serve",
                            (long long)replicas, replicas == 1 ? "replica can" : "replicas can"));
        return false;
    }
    struct plan_row row = row_of(x, replicas, fmin(x->slots, s.decoding));
    plan_decode_ms(m, fmax(1, s.decoding));
    set_shares(&row, &m->last);
    row.clients = s.decoding * groups;
    set_times(&row, m, &s);
    set_rate(&row, r, rate, 1);
    /* A slower engine has longer queues, too. */
    plan_spread(m, false, &low, &high);
    bool is_stable = serve_open(&m->load, each * center * high, fmin(x->slots, 1024), &slow);
    if (is_stable) {
        row.first_ms.high = fmax(row.first_ms.high, slow.first * high * 1e3);
        row.token_ms.high = fmax(row.token_ms.high, slow.token * high * 1e3 * center);
    } else {
        row.first_ms.high = row.latency_ms.high = INFINITY;
    }
    finish_row(x->p, &row, x->slots);
    return true;
}

/* Numbers of sequences a step apart, up to what fits; the rows that meet the limits and serve most
 * are found later. */
static void sweep(struct evaluation *x, int64_t replicas)
{
    double last = fmin(x->slots, 4096), before = 0;

    for (double c = 1; c <= last && !cancelled(); c = c < 4 ? c + 1 : ceil(c * 1.42)) {
        if (!try_clients(x, replicas, c))
            return;
        before = c;
    }
    if (before < last)
        try_clients(x, replicas, last);
}

/* Cards in whole instances. */
static void try_layout(struct plan *p, struct plan_base *b, const struct model_layout *l)
{
    const struct plan_request *r = p->request;
    struct evaluation x = {.p = p, .base = b};
    int64_t cards = l->tp * l->pp * l->dp;
    struct str why;

    p->configurations++;
    plan_machine_init(&x.machine, r, b, l);
    x.slots = plan_slots(&x.machine, &p->arena, &x.memory_gb, &why);
    if (why.n > 0) {
        refuse(p, place_name(p, b, l), why);
        return;
    }
    x.setup = p->setups.n;
    vec_push(&p->setups, x.machine.setup);
    for (size_t i = 0; i < p->bases.n; i++)
        if (p->bases.at[i] == b)
            vec_push(&p->setup_base, i);
    int64_t replicas = r->cards > 0 ? r->cards / cards : 1;
    if (r->rate > 0 && r->cards > 0)
        try_rate(&x, replicas, r->rate);
    else if (r->rate > 0)
        for (replicas = 1; replicas * cards <= MOST_CARDS; replicas++) {
            size_t before = p->rows.n;
            if (try_rate(&x, replicas, r->rate) && p->rows.at[p->rows.n - 1].meets_low)
                break;
            if (replicas > 1 && p->rows.n == before)
                continue;
        }
    else if (r->clients > 0)
        try_clients(&x, replicas, fmax(1, r->clients / (double)(replicas * l->dp)));
    else
        sweep(&x, replicas);
}

/* ---- layouts ---- */

static bool is_listed(const struct plan_list *list, int64_t value)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->at[i] == value)
            return true;
    return list->n == 0;
}

/* One given list, or powers of two. */
static size_t sizes_of(const struct plan_list *list, int64_t most, int64_t *out)
{
    size_t n = 0;

    if (list->n > 0) {
        for (size_t i = 0; i < list->n && n < SWEEP; i++)
            out[n++] = list->at[i];
        return n;
    }
    for (int64_t v = 1; v <= most && n < SWEEP; v *= 2)
        out[n++] = v;
    return n;
}

/* What is not asked for: pipelines, which only help where nothing else fits; data parallelism of
 * models without experts, which is replicas. */
static bool is_useful(const struct plan_request *r, const struct model_layout *l)
{
    if (r->dp.n == 0 && r->model->experts == 0 && l->dp > 1)
        return false;
    return r->ep.n > 0 || r->expert_tp.n > 0 || r->model->experts == 0 || l->ep == 1 ||
           l->expert_tp == 1;
}

/* Experts share the cards of attention: with `ep` groups of them, expert_tp cards hold a part of
 * each expert. A dense model has one way. Ways that no request asks for are left out without a
 * word, those that the model or its types rule out are told with the reason. */
static void try_experts(struct plan *p, struct plan_base *b, struct model_layout l)
{
    const struct plan_request *r = p->request;
    int64_t cards = l.tp * l.dp, sizes[SWEEP];
    size_t n = sizes_of(&r->ep, cards, sizes);

    if (r->model->experts == 0) {
        l.ep = 1;
        l.expert_tp = l.tp;
        n = 1;
        sizes[0] = 1;
    }
    for (size_t i = 0; i < n && !cancelled(); i++) {
        if (r->model->experts > 0 && cards % sizes[i] != 0)
            continue;
        l.ep = sizes[i];
        l.expert_tp = r->model->experts > 0 ? cards / l.ep : 1;
        if (r->model->experts == 0)
            l.ep = 1;
        if ((r->model->experts > 0 && !is_listed(&r->expert_tp, l.expert_tp)) || !is_useful(r, &l))
            continue;
        struct str why = model_layout_refuse(&p->arena, r->model, &l, &r->model->types);
        if (why.n > 0)
            refuse(p, place_name(p, b, &l), why);
        else
            try_layout(p, b, &l);
    }
}

/* Without a number of cards up to 64 are tried, more than which one replica of a model rarely
 * spans. */
static void try_base(struct plan *p, struct plan_base *b)
{
    static const int64_t one[] = {1};
    const struct plan_request *r = p->request;
    int64_t most = r->cards > 0 ? r->cards : 64, tp[SWEEP], dp[SWEEP], pp[SWEEP];
    struct plan_list stages = r->pp.n > 0 ? r->pp : (struct plan_list){one, 1};
    size_t n_tp = sizes_of(&r->tp, most, tp), n_dp = sizes_of(&r->dp, most, dp);
    size_t n_pp = sizes_of(&stages, most, pp);

    for (size_t i = 0; i < n_tp; i++)
        for (size_t j = 0; j < n_dp; j++)
            for (size_t k = 0; k < n_pp && !cancelled(); k++) {
                struct model_layout l = {.tp = tp[i],
                                         .pp = pp[k],
                                         .dp = dp[j],
                                         .expert_tp = 1,
                                         .ep = 1,
                                         .redundant = r->redundant};
                if (l.tp * l.pp * l.dp <= most)
                    try_experts(p, b, l);
            }
}

/* ---- prompts and decodes on cards of their own ---- */

/* The best of each kind: prompts, and decodes with so many sequences. */
struct half {
    struct evaluation x;
    double rate; /* requests by second of an instance */
    double ms;   /* of a prompt, of a token */
    double sequences;
    int64_t cards;
    struct step_cost cost;
};

struct halves {
    VEC_OF(struct half) prefill, decode;
};

static void add_prefill(struct halves *h, const struct evaluation *x)
{
    struct half one = {.x = *x};
    const struct model_layout *l = &x->machine.setup.layout;

    one.x.machine.load.ctx = &one.x.machine;
    one.rate = serve_prefill_rate(&one.x.machine.load) * (double)l->dp;
    one.ms = 1e3 * (double)l->dp / one.rate;
    one.cards = l->tp * l->pp * l->dp;
    one.cost = one.x.machine.last;
    if (one.x.machine.missed == NULL && one.rate > 0)
        vec_push(&h->prefill, one);
}

static void add_decodes(struct halves *h, const struct evaluation *x)
{
    const struct model_layout *l = &x->machine.setup.layout;
    double last = fmin(x->slots, 4096);

    for (double n = 1; n <= last; n = n < 4 ? n + 1 : ceil(n * 1.42)) {
        struct half one = {.x = *x, .sequences = n, .cards = l->tp * l->pp * l->dp};
        one.x.machine.load.ctx = &one.x.machine;
        one.ms = plan_decode_ms(&one.x.machine, n) / one.x.machine.load.each;
        one.rate = serve_decode_rate(&one.x.machine.load, n) * (double)l->dp;
        one.cost = one.x.machine.last;
        if (one.x.machine.missed != NULL)
            return;
        vec_push(&h->decode, one);
    }
}

/* Both halves of every layout that some row was answered for. */
static void fill_halves(struct plan *p, struct halves *h)
{
    for (size_t i = 0; i < p->setups.n; i++) {
        struct evaluation x = {.p = p, .base = p->bases.at[p->setup_base.at[i]], .setup = i};
        struct str why;
        plan_machine_init(&x.machine, p->request, x.base, &p->setups.at[i].layout);
        x.slots = plan_slots(&x.machine, &p->arena, &x.memory_gb, &why);
        if (x.slots < 1)
            continue;
        add_prefill(h, &x);
        add_decodes(h, &x);
    }
}

/* Keys and values that a request hands over, as seconds that nothing hides. */
static double transfer_seconds(const struct plan_request *r, const struct half *from)
{
    struct model_memory m =
        model_memory(r->model, &from->x.machine.setup.layout, &from->x.machine.setup.types, 1, 1);
    double bytes = r->prompt * m.cache_bytes + m.state_bytes;

    return r->transfer_gbps > 0 ? bytes / (r->transfer_gbps * 1e9) * (1 - r->overlap) : 0;
}

static struct plan_instance instance_of(const struct half *h, int replicas)
{
    return (struct plan_instance){.system = h->x.base->system,
                                  .engine = h->x.base->engine,
                                  .version = h->x.base->version,
                                  .layout = h->x.machine.setup.layout,
                                  .cards = h->cards,
                                  .replicas = replicas,
                                  .sequences = h->sequences,
                                  .memory_gb = h->x.memory_gb,
                                  .slots = h->x.slots};
}

/* Instances in the best ratio; then what the load, or nine tenths of the most they serve, makes of
 * the times. */
static void try_pair(struct plan *p, struct half *a, struct half *b)
{
    const struct plan_request *r = p->request;
    int cards = r->cards > 0 ? (int)fmin((double)r->cards, 4096) : 64, i = 1, j = 1;
    double center = b->x.base->engine_cost.token_center;

    if (!serve_ratio(a->rate, (int)a->cards, b->rate, (int)b->cards, cards, &i, &j))
        return;
    p->tried++;
    double most = fmin(i * a->rate, j * b->rate);
    double rate = r->rate > 0 ? r->rate * center : 0.9 * most;
    struct serve_state s;
    struct serve_split split = {.prefill = &a->x.machine.load,
                                .decode = &b->x.machine.load,
                                .prefills = i * (double)a->x.machine.setup.layout.dp,
                                .decodes = j * (double)b->x.machine.setup.layout.dp,
                                .transfer = transfer_seconds(r, a),
                                .slots = b->sequences};
    a->x.machine.load.ctx = &a->x.machine;
    b->x.machine.load.ctx = &b->x.machine;
    if (!serve_disaggregated(&split, rate, &s))
        return;
    struct plan_row row = {.mode = "disagg",
                           .is_split = true,
                           .main = instance_of(b, j),
                           .prefill = instance_of(a, i),
                           .cards = i * a->cards + j * b->cards,
                           .clients = s.decoding * split.decodes,
                           .setup = b->x.setup};
    plan_decode_ms(&b->x.machine, fmax(1, s.decoding));
    set_shares(&row, &b->x.machine.last);
    set_times(&row, &b->x.machine, &s);
    set_rate(&row, r, rate / center, 1);
    finish_row(p, &row, b->sequences);
}

static void try_split(struct plan *p)
{
    struct halves h = {0};

    fill_halves(p, &h);
    for (size_t i = 0; i < h.prefill.n; i++)
        for (size_t k = 0; k < h.decode.n && !cancelled(); k++)
            try_pair(p, &h.prefill.at[i], &h.decode.at[k]);
    vec_free(&h.prefill);
    vec_free(&h.decode);
}

/* ---- order ---- */

/* Those that meet the limits first, then what they serve for each card, or for each user with the
 * fewest cards where the load is given. */
ORDER_BY(best_first, struct plan_row,
         ORDER(y->meets, x->meets) ?: ORDER(y->tokens_card.value, x->tokens_card.value)
             ?: ORDER(y->tokens_user.value, x->tokens_user.value)
             ?: ORDER(x->cards, y->cards)
             ?: ORDER(x->setup, y->setup)
             ?: ORDER(x->clients, y->clients));

static void mark_front(struct plan *p)
{
    double best = -1;
    size_t *order = ARENA_ARRAY(&p->arena, size_t, p->rows.n + 1);

    /* By falling tokens of a user: what has more tokens of a card than all before it. */
    for (size_t i = 0; i < p->rows.n; i++)
        order[i] = i;
    for (size_t i = 1; i < p->rows.n; i++)
        for (size_t k = i; k > 0 && p->rows.at[order[k]].tokens_user.value >
                                        p->rows.at[order[k - 1]].tokens_user.value;
             k--) {
            size_t swap = order[k];
            order[k] = order[k - 1];
            order[k - 1] = swap;
        }
    for (size_t i = 0; i < p->rows.n; i++) {
        struct plan_row *row = &p->rows.at[order[i]];
        row->is_front = row->tokens_card.value > best;
        if (row->is_front)
            best = row->tokens_card.value;
    }
}

static void find_cards(struct plan *p)
{
    for (size_t i = 0; i < p->rows.n; i++) {
        const struct plan_row *row = &p->rows.at[i];
        if (row->meets && (p->least_cards == 0 || row->cards < p->least_cards))
            p->least_cards = row->cards;
        if (row->meets_low && (p->sure_cards == 0 || row->cards < p->sure_cards))
            p->sure_cards = row->cards;
    }
}

void plan_init(struct plan *p, const struct plan_request *request)
{
    *p = (struct plan){.request = request};
    arena_init(&p->arena);
}

enum status plan_run(struct plan *p, struct diag *d)
{
    TRY(plan_bases_open(p, d));
    for (size_t i = 0; i < p->bases.n; i++)
        try_base(p, p->bases.at[i]);
    if ((p->request->modes & PLAN_DISAGGREGATED) != 0)
        try_split(p);
    if (cancelled())
        return ST_CANCELLED;
    if (p->rows.n > 0)
        qsort(p->rows.at, p->rows.n, sizeof(*p->rows.at), best_first);
    mark_front(p);
    find_cards(p);
    return ST_OK;
}

void plan_free(struct plan *p)
{
    plan_bases_close(p);
    vec_free(&p->rows);
    vec_free(&p->refused);
    vec_free(&p->setups);
    vec_free(&p->setup_base);
    arena_free(&p->arena);
}

void plan_explain(struct plan *p, const struct plan_row *row, struct step_list *list,
                  struct step_cost *cost)
{
    struct plan_base *b = p->bases.at[p->setup_base.at[row->setup]];
    const struct plan_request *r = p->request;
    struct plan_machine m;

    plan_machine_init(&m, r, b, &p->setups.at[row->setup].layout);
    struct model_load load = {.decodes = row->main.sequences / (double)row->main.layout.pp,
                              .keys = serve_keys(&m.load),
                              .drafts = r->drafts};
    step_cost(&b->curves, &m.setup, &load, list, cost);
}
