/*
 * From a model to calls. See model_calls.h.
 */
#include <math.h>

#include "ops/model_calls_in.h"

struct model_layout model_layout_one(void)
{
    return (struct model_layout){.tp = 1, .pp = 1, .dp = 1, .expert_tp = 1, .ep = 1};
}

double model_load_tokens(const struct model_load *l)
{
    return l->decodes * (1 + l->drafts) + l->prompts * l->queries;
}

double model_touched(double experts, double top_k, double tokens)
{
    return experts > 0 ? experts * (1 - pow(1 - fmin(top_k / experts, 1), tokens)) : 0;
}

/* Of a causal prompt; with a window each query beyond it sees only that many. */
double model_pairs(double prompts, double queries, double context, int64_t window)
{
    double w = (double)window, all = queries * (context + (queries + 1) / 2);

    if (window <= 0 || context + queries <= w)
        return prompts * all;
    double growing = fmax(0, fmin(queries, w - context)); /* that see less than the window */
    return prompts * (growing * (context + (growing + 1) / 2) + (queries - growing) * w);
}

double model_key_heads(int64_t heads, int64_t tp)
{
    return fmax(1, model_part(heads, tp));
}

/* ---- emitting ---- */

void model_put(struct calling *x, const char *what, struct model_call c)
{
    c.part = x->part;
    c.what = what;
    c.times = x->times;
    c.module = c.op == MODEL_MODULE ? x->n_modules : x->module;
    c.layer = x->layer;
    if (c.type == NULL)
        c.type = quant_bf16;
    if (c.units == 0)
        c.units = 1;
    x->emit(x->ctx, &c);
}

void model_put_product(struct calling *x, const char *what, const struct quant *type, double m,
                       double n, double k, double whole)
{
    model_put(x, what,
              (struct model_call){.op = MODEL_PRODUCT,
                                  .type = type,
                                  .m = m,
                                  .n = n,
                                  .k = k,
                                  .flops = 2 * m * n * k,
                                  .bytes = n * k * type->weight_bytes + m * k * type->input_bytes +
                                           2 * m * n,
                                  .weights = n * k,
                                  .whole = whole});
}

void model_put_plain(struct calling *x, enum model_op op, const char *what, double m, double n,
                     double k, double values)
{
    model_put(x, what,
              (struct model_call){
                  .op = op, .m = m, .n = n, .k = k, .flops = values, .bytes = 2 * values});
}

void model_put_comm(struct calling *x, enum model_comm kind, const char *what, int64_t devices,
                    double sent)
{
    if (devices > 1 && sent > 0)
        model_put(x, what,
                  (struct model_call){.op = MODEL_COMM,
                                      .type = x->types->comm,
                                      .comm = kind,
                                      .devices = devices,
                                      .sent = sent});
}

double model_hidden_bytes(const struct calling *x, double tokens)
{
    return tokens * (double)x->m->hidden * x->types->comm->input_bytes;
}

/* ---- steps ---- */

static void call_layer(struct calling *x, const struct model_layer *layer)
{
    double t = x->t, hidden = (double)x->m->hidden;

    x->layer = layer;
    if (layer->attention != MODEL_NO_ATTENTION) {
        model_call_attention(x, layer);
        model_put_comm(x, MODEL_ALL_REDUCE, "add attention", x->l->tp, model_hidden_bytes(x, t));
        model_put_plain(x, MODEL_ADD_NORM, "norm", t, hidden, 0, 4 * t * hidden);
    }
    if (layer->feed != MODEL_NO_FEED) {
        model_call_feed(x, layer);
        /* Of the next layer; the last one is the model's own. */
        model_put_plain(x, MODEL_ADD_NORM, "norm", t, hidden, 0, 4 * t * hidden);
    }
    x->layer = NULL;
}

static bool is_alike(const struct model_layer *a, const struct model_layer *b)
{
    return a->attention == b->attention && a->feed == b->feed && a->window == b->window &&
           a->ratio == b->ratio && a->has_index == b->has_index && a->is_indexed == b->is_indexed;
}

void model_stage(const struct llm *m, int64_t pp, int64_t stage, size_t *first, size_t *end)
{
    size_t stages = pp > 0 ? (size_t)pp : 1;

    *first = m->n_layers * (size_t)stage / stages;
    *end = m->n_layers * ((size_t)stage + 1) / stages;
}

static void call_layers(struct calling *x, size_t first, size_t end)
{
    const struct model_layer *layers = x->m->layers;

    x->part = "layer";
    for (size_t i = first; i < end; i++) {
        size_t before = first;
        while (before < i && !is_alike(&layers[before], &layers[i]))
            before++;
        if (before < i)
            continue;
        x->times = 0;
        for (size_t k = i; k < end; k++)
            x->times += is_alike(&layers[k], &layers[i]);
        call_layer(x, &layers[i]);
    }
    x->times = 1;
}

void model_calls(const struct llm *m, const struct model_layout *l, const struct model_types *types,
                 const struct model_load *load, int64_t stage, model_emit *emit, void *ctx)
{
    struct calling x = {.m = m,
                        .l = l,
                        .types = types,
                        .load = load,
                        .t = model_load_tokens(load),
                        .part = "embedding",
                        .times = 1,
                        .emit = emit,
                        .ctx = ctx};
    double hidden = (double)m->hidden, rows = load->emits;
    double vocab = model_part(m->vocab, l->tp);
    bool is_last = stage == l->pp - 1, has_own = !m->is_tied || l->pp > 1;
    size_t first, end;

    if (rows <= 0)
        rows = load->decodes * (1 + load->drafts) + load->prompts;
    if (stage == 0)
        model_put(&x, "embedding",
                  (struct model_call){.op = MODEL_EMBED,
                                      .m = x.t,
                                      .n = vocab,
                                      .k = hidden,
                                      .bytes = 4 * x.t * hidden,
                                      .weights = vocab * hidden,
                                      .whole = (double)m->vocab * hidden});
    if (stage == 0)
        model_put_plain(&x, MODEL_NORM, "norm", x.t, hidden, 0, 2 * x.t * hidden);
    model_stage(m, l->pp, stage, &first, &end);
    call_layers(&x, first, end);
    if (!is_last) {
        model_put_comm(&x, MODEL_SEND, "next stage", 2,
                       model_hidden_bytes(&x, x.t / (double)l->tp));
        return;
    }
    x.part = "head";
    if (load->prompts > 0)
        model_put_plain(&x, MODEL_PICK, "last tokens", rows, x.t, hidden, 2 * rows * hidden);
    model_put(&x, "head",
              (struct model_call){.op = MODEL_PRODUCT,
                                  .m = rows,
                                  .n = vocab,
                                  .k = hidden,
                                  .flops = 2 * rows * vocab * hidden,
                                  .bytes = 2 * (vocab * hidden + rows * (hidden + vocab)),
                                  .weights = has_own ? vocab * hidden : 0,
                                  .whole = has_own ? (double)m->vocab * hidden : 0});
    model_put_comm(&x, MODEL_ALL_GATHER, "gather logits", l->tp, 2 * rows * vocab);
    model_put_plain(&x, MODEL_ARGMAX, "choose", rows, (double)m->vocab, 0, rows * (double)m->vocab);
}
