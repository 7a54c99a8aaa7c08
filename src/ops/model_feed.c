/*
 * Calls of feed-forward parts: dense ones and experts.
 */
#include <math.h>

#include "ops/model_calls_in.h"

static void call_dense(struct calling *x, const char *up, const char *down, int64_t inter)
{
    double i = model_part(inter, x->l->tp), hidden = (double)x->m->hidden, t = x->t;
    double first = x->m->is_gated ? 2 : 1;

    model_put_product(x, up, x->types->gemm, t, first * i, hidden, first * (double)inter * hidden);
    model_put_plain(x, MODEL_ACTIVATION, "activation", t, first * i, i, t * i * (first + 1));
    model_put_product(x, down, x->types->gemm, t, hidden, i, (double)inter * hidden);
}

/* A grouped product: only the experts that some token meets are read. */
static void put_grouped(struct calling *x, const char *what, double slots, double n, double k,
                        double touched, double whole)
{
    const struct model_layout *l = x->l;
    const struct quant *type = x->types->experts;
    double held = model_part(x->m->experts, l->ep) + (double)l->redundant;

    model_put(x, what,
              (struct model_call){.op = MODEL_GROUPED,
                                  .type = type,
                                  .m = slots,
                                  .n = n,
                                  .k = k,
                                  .units = held,
                                  .flops = 2 * slots * n * k,
                                  .bytes = touched * n * k * type->weight_bytes +
                                           slots * (k * type->input_bytes + 2 * n),
                                  .weights = held * n * k,
                                  .whole = whole,
                                  .is_expert = true});
}

/* Tokens of all groups; each card serves its experts' share of the slots. */
static void call_routed(struct calling *x)
{
    const struct llm *m = x->m;
    const struct model_layout *l = x->l;
    double tokens = x->t * (double)l->dp, hidden = (double)m->hidden, all = (double)m->experts;
    double slots = tokens * (double)m->top_k / (double)l->ep;
    double held = model_part(m->experts, l->ep) + (double)l->redundant;
    double i = model_part(m->expert_inter, l->expert_tp), first = m->is_gated ? 2 : 1;
    double touched = fmin(held, model_touched(all, (double)m->top_k, tokens) * held / all);
    struct model_experts_call e = {.tokens = tokens,
                                   .hidden = m->hidden,
                                   .inter = m->expert_inter,
                                   .top_k = m->top_k,
                                   .experts = m->experts,
                                   .expert_tp = l->expert_tp,
                                   .ep = l->ep,
                                   .held = held,
                                   .is_gated = m->is_gated};
    double matrices = (first + 1) * hidden * i, inter = (double)m->expert_inter;

    x->n_modules++;
    model_put(x, "experts",
              (struct model_call){.op = MODEL_MODULE,
                                  .kind = MODEL_MODULE_EXPERTS,
                                  .type = x->types->experts,
                                  .experts = e,
                                  .m = tokens,
                                  .flops = 2 * slots * matrices,
                                  .bytes = touched * matrices * x->types->experts->weight_bytes +
                                           2 * 2 * tokens * hidden});
    x->module = x->n_modules;
    double here = l->dp > 1 && l->ep > 1 ? fmin(tokens, slots) : tokens; /* after the dispatch */
    model_put_plain(x, MODEL_PERMUTE, "to experts", here, slots, hidden, 2 * slots * hidden);
    put_grouped(x, "experts up", slots, first * i, hidden, touched, all * first * inter * hidden);
    model_put_plain(x, MODEL_ACTIVATION, "activation", slots, first * i, i,
                    slots * i * (first + 1));
    put_grouped(x, "experts down", slots, hidden, i, touched, all * inter * hidden);
    model_put_plain(x, MODEL_UNPERMUTE, "from experts", here, slots, hidden, 2 * slots * hidden);
    x->module = 0;
}

/* Bytes that leave a card when each token goes once to each card that has one of its experts. */
static double dispatched(const struct calling *x, double bytes_each)
{
    const struct llm *m = x->m;
    double ep = (double)x->l->ep, tokens = x->t / (double)x->l->tp;
    double cards = ep * (1 - pow(1 - 1 / ep, (double)m->top_k));

    return tokens * cards * (ep - 1) / ep * (double)m->hidden * bytes_each;
}

static void put_exchange(struct calling *x, enum model_comm kind, const char *what, double bytes)
{
    const struct model_layout *l = x->l;

    model_put(x, what,
              (struct model_call){.op = MODEL_COMM,
                                  .type = x->types->comm,
                                  .comm = kind,
                                  .devices = l->ep,
                                  .sent = dispatched(x, bytes),
                                  .gathered = x->t / (double)l->tp * (double)x->m->hidden * bytes});
}

/* One group has all its tokens on each of its cards: results are added up. Several groups exchange
 * tokens, or gather them where experts are cut but not spread. */
static void call_experts(struct calling *x)
{
    const struct llm *m = x->m;
    const struct model_layout *l = x->l;
    int64_t cards = l->tp * l->dp;
    double sent = fmin(x->types->experts->input_bytes, x->types->comm->input_bytes);

    model_put_product(x, "router", quant_bf16, x->t, (double)m->experts, (double)m->hidden,
                      (double)m->experts * (double)m->hidden);
    if (l->dp > 1 && l->ep > 1)
        put_exchange(x, MODEL_DISPATCH, "dispatch", fmax(1, sent));
    else if (l->dp > 1)
        model_put_comm(x, MODEL_ALL_GATHER, "gather tokens", cards,
                       model_hidden_bytes(x, x->t / (double)l->tp));
    call_routed(x);
    if (l->dp > 1 && l->ep > 1)
        put_exchange(x, MODEL_COMBINE, "combine", 2);
    else if (l->dp > 1)
        model_put_comm(x, MODEL_REDUCE_SCATTER, "scatter tokens", cards,
                       model_hidden_bytes(x, x->t / (double)l->tp));
    if (m->shared_inter > 0)
        call_dense(x, "shared up", "shared down", m->shared_inter);
    model_put_comm(x, l->dp > 1 && m->shared_inter == 0 ? MODEL_ALL_GATHER : MODEL_ALL_REDUCE,
                   "add experts", l->tp, model_hidden_bytes(x, x->t));
}

void model_call_feed(struct calling *x, const struct model_layer *layer)
{
    if (layer->feed == MODEL_EXPERTS) {
        call_experts(x);
        return;
    }
    call_dense(x, "up", "down", x->m->inter);
    model_put_comm(x, MODEL_ALL_REDUCE, "add feed-forward", x->l->tp, model_hidden_bytes(x, x->t));
}
