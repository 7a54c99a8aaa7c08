/*
 * Calls of the kinds of attention, and of what stands in its place.
 */
#include <math.h>

#include "base/text/num.h"
#include "ops/model_calls_in.h"

/* So many values of each token into a cache, which holds the tokens of all sequences. */
static void put_store(struct calling *x, enum model_op op, double values, double size)
{
    const struct model_load *load = x->load;

    model_put(x, "cache",
              (struct model_call){
                  .op = op,
                  .m = x->t,
                  .n = values,
                  .k = size,
                  .units = fmax(x->t, load->decodes * load->keys +
                                          load->prompts * (load->context + load->queries)),
                  .bytes = x->t * values * (2 + x->types->cache->weight_bytes)});
}

/* Work of attention: pairs of queries and keys, the cache it reads, queries and results. */
static void put_attention(struct calling *x, enum model_op op, const char *what,
                          struct model_attention_call a)
{
    bool is_decode = op == MODEL_DECODE || op == MODEL_LATENT_DECODE;
    double keys = a.context + (is_decode ? 0 : a.queries), seen = keys;
    double cache = x->types->cache->weight_bytes, pairs;

    if (a.window > 0)
        seen = fmin(keys, (double)a.window + (is_decode ? 0 : a.queries - 1));
    pairs =
        is_decode ? a.seqs * a.queries * seen : model_pairs(a.seqs, a.queries, a.context, a.window);
    double tokens = a.seqs * a.queries;
    double kept = op == MODEL_LATENT_DECODE ? a.size : a.key_heads * (a.size + a.out_size);
    model_put(x, what,
              (struct model_call){.op = op,
                                  .type = x->types->cache,
                                  .attention = a,
                                  .m = tokens,
                                  .n = keys,
                                  .flops = 2 * pairs * a.heads * (a.size + a.out_size),
                                  .bytes = a.seqs * seen * kept * cache +
                                           2 * tokens * a.heads * (a.size + a.out_size)});
}

/* Both kinds of attention that a step may have. */
static void put_both(struct calling *x, enum model_op prefill, enum model_op decode,
                     struct model_attention_call of_prompts, struct model_attention_call of_decodes)
{
    const struct model_load *load = x->load;

    of_prompts.seqs = load->prompts;
    of_prompts.queries = load->queries;
    of_prompts.context = load->context;
    of_decodes.seqs = load->decodes;
    of_decodes.queries = 1 + load->drafts;
    of_decodes.context = load->keys;
    if (load->prompts > 0)
        put_attention(x, prefill, "attention of prompts", of_prompts);
    if (load->decodes > 0)
        put_attention(x, decode, "attention", of_decodes);
}

/* Queries that share key/value heads. */
static void call_heads(struct calling *x, const struct model_layer *layer)
{
    const struct llm *m = x->m;
    const struct model_heads *h = layer->attention == MODEL_WINDOW ? &m->window_heads : &m->heads;
    int64_t tp = x->l->tp;
    double a = model_part(h->queries, tp), k = model_key_heads(h->keys, tp), t = x->t;
    double size = (double)h->size, out = (double)h->out_size, hidden = (double)m->hidden;
    double gate = m->has_gate ? 1 : 0;
    double n = a * (1 + gate) * size + k * (size + out);
    double whole =
        hidden * ((double)h->queries * (1 + gate) * size + (double)h->keys * (size + out));
    struct model_attention_call call = {
        .heads = a, .key_heads = k, .size = size, .out_size = out, .window = layer->window};

    model_put_product(x, "qkv", x->types->attention, t, n, hidden, whole);
    model_put(x, "heads",
              (struct model_call){.op = MODEL_HEADS,
                                  .m = t,
                                  .n = n,
                                  .k = size,
                                  .units = a * (1 + gate) * size,
                                  .bytes = 4 * t * n});
    put_store(x, MODEL_STORE, k * (size + out), size);
    put_both(x, MODEL_PREFILL, MODEL_DECODE, call, call);
    model_put_product(x, "out", x->types->attention, t, hidden, a * out,
                      hidden * (double)h->queries * out);
}

/* The index of sparse attention: which keys count, by a small attention of its own. */
static void call_index(struct calling *x, const struct model_layer *layer, double from)
{
    const struct llm *m = x->m;
    const struct model_load *load = x->load;
    double heads = (double)m->index_heads, size = (double)m->index_size, t = x->t;
    double hidden = (double)m->hidden, ratio = layer->ratio > 0 ? (double)layer->ratio : 1;
    double keys_wide = layer->ratio > 0 ? 4 * size : size;

    if (!layer->has_index)
        return;
    model_put_product(x, "index queries", x->types->attention, t, heads * size, from,
                      from * heads * size);
    model_put_product(x, "index keys", x->types->attention, t, keys_wide, hidden,
                      hidden * keys_wide);
    model_put_product(x, "index weights", x->types->attention, t, heads, hidden, hidden * heads);
    double rows = load->decodes * (1 + load->drafts) + load->prompts * load->queries;
    double pairs = (load->decodes * (1 + load->drafts) * load->keys +
                    model_pairs(load->prompts, load->queries, load->context, 0)) /
                   ratio;
    double keys = rows > 0 ? pairs / rows : 0;
    double kept =
        (load->decodes * load->keys + load->prompts * (load->context + load->queries)) / ratio;
    model_put(x, "index",
              (struct model_call){.op = MODEL_INDEX,
                                  .m = rows,
                                  .n = keys,
                                  .k = size,
                                  .units = heads,
                                  .flops = 2 * pairs * heads * size,
                                  .bytes = kept * size + rows * heads * size + 4 * pairs});
    model_put(x, "index top",
              (struct model_call){.op = MODEL_TOP,
                                  .m = rows,
                                  .n = keys,
                                  .k = (double)m->index_top,
                                  .flops = pairs,
                                  .bytes = 4 * pairs});
}

/* Attention that sees the chosen keys alone has that many as its window. */
static int64_t seen_keys(const struct llm *m, const struct model_layer *layer)
{
    return layer->is_indexed ? m->index_top : 0;
}

/* One matrix for the compressed queries and the latent vector where queries are compressed. */
static void call_latent_in(struct calling *x)
{
    const struct llm *m = x->m;
    double hidden = (double)m->hidden, cut = (double)(m->latent + m->rope), t = x->t;
    double wide = model_part(m->heads.queries, x->l->tp) * (double)(m->nope + m->rope);
    double whole = (double)m->heads.queries * (double)(m->nope + m->rope);

    if (m->query_rank > 0) {
        double rank = (double)m->query_rank;
        model_put_product(x, "latent", x->types->attention, t, rank + cut, hidden,
                          hidden * (rank + cut));
        model_put_product(x, "queries", x->types->attention, t, wide, rank, rank * whole);
    } else {
        model_put_product(x, "latent", x->types->attention, t, wide + cut, hidden,
                          hidden * (whole + cut));
    }
}

static void call_latent(struct calling *x, const struct model_layer *layer)
{
    const struct llm *m = x->m;
    const struct model_load *load = x->load;
    double a = model_part(m->heads.queries, x->l->tp), t = x->t, hidden = (double)m->hidden;
    double nope = (double)m->nope, rope = (double)m->rope, out = (double)m->heads.out_size;
    double latent = (double)m->latent, all = (double)m->heads.queries;
    double rows = load->decodes * (1 + load->drafts);
    double expanded = load->prompts * (load->queries + load->context);
    int64_t seen = seen_keys(m, layer);
    struct model_attention_call whole = {
        .heads = a, .key_heads = a, .size = nope + rope, .out_size = out, .window = seen};
    struct model_attention_call cut = {
        .heads = a, .key_heads = 1, .size = latent + rope, .out_size = latent, .window = seen};

    call_latent_in(x);
    model_put_plain(x, MODEL_LATENT_HEADS, "rope", t, a * rope, rope, 2 * t * a * rope);
    put_store(x, MODEL_LATENT_STORE, latent + rope, latent);
    call_index(x, layer, m->query_rank > 0 ? (double)m->query_rank : hidden);
    if (load->prompts > 0)
        model_put_product(x, "keys and values", x->types->attention, expanded, a * (nope + out),
                          latent, all * (nope + out) * latent);
    const struct quant *bf16 = quant_bf16;
    double bytes = a * nope * latent * bf16->weight_bytes + 2 * rows * a * (nope + latent);
    /* The two parts of the matrix that expands keys and values, which lies there once. */
    struct model_call up = {.op = MODEL_ABSORB,
                            .m = rows,
                            .n = latent,
                            .k = nope,
                            .units = a,
                            .flops = 2 * rows * a * latent * nope,
                            .bytes = bytes,
                            .weights = load->prompts > 0 ? 0 : a * nope * latent,
                            .whole = load->prompts > 0 ? 0 : all * nope * latent};
    struct model_call down = up;
    down.n = out;
    down.k = latent;
    down.flops = 2 * rows * a * latent * out;
    down.bytes = a * out * latent * bf16->weight_bytes + 2 * rows * a * (out + latent);
    down.weights = load->prompts > 0 ? 0 : a * out * latent;
    down.whole = load->prompts > 0 ? 0 : all * out * latent;
    if (rows > 0)
        model_put(x, "absorb keys", up);
    put_both(x, MODEL_LATENT_PREFILL, MODEL_LATENT_DECODE, whole, cut);
    if (rows > 0)
        model_put(x, "absorb values", down);
    model_put_product(x, "out", x->types->attention, t, hidden, a * out, hidden * all * out);
}

/* DeepSeek-V4: one head of keys that are values, too; in blocks of `ratio` joined to one, beside a
 * window of single ones. */
static void call_compressed(struct calling *x, const struct model_layer *layer)
{
    const struct llm *m = x->m;
    double a = model_part(m->heads.queries, x->l->tp), all = (double)m->heads.queries, t = x->t;
    double size = (double)m->heads.size, hidden = (double)m->hidden, rank = (double)m->query_rank;
    double low = (double)m->out_rank, groups = (double)m->out_groups;
    double ratio = (double)layer->ratio, copies = layer->ratio == 4 ? 2 : 1;
    const struct quant *type = x->types->attention;
    const struct model_load *load = x->load;

    model_put_product(x, "latent", type, t, rank + size, hidden, hidden * (rank + size));
    model_put_product(x, "queries", type, t, a * size, rank, rank * all * size);
    if (layer->ratio > 0)
        model_put_product(x, "compress", type, t, 2 * copies * size, hidden,
                          2 * copies * size * hidden);
    model_put_plain(x, MODEL_LATENT_HEADS, "rope", t, a * size, size, 2 * t * a * size);
    put_store(x, MODEL_LATENT_STORE, size, size);
    call_index(x, layer, rank);
    double joined = ratio > 0 ? load->keys / ratio : 0;
    double far = ratio > 0 ? (load->context + load->queries) / ratio : 0;
    if (layer->is_indexed) {
        joined = fmin(joined, (double)m->index_top);
        far = fmin(far, (double)m->index_top);
    }
    double near = (double)layer->window;
    struct model_attention_call call = {.heads = a, .key_heads = 1, .size = size, .out_size = size};
    if (load->prompts > 0) {
        call.seqs = load->prompts;
        call.queries = load->queries;
        call.window = num_i64_of(fmin(near, load->context + load->queries) + far);
        call.context = load->context;
        put_attention(x, MODEL_LATENT_PREFILL, "attention of prompts", call);
    }
    if (load->decodes > 0) {
        call.seqs = load->decodes;
        call.queries = 1 + load->drafts;
        call.window = 0;
        call.context = fmin(near, load->keys) + joined;
        put_attention(x, MODEL_LATENT_DECODE, "attention", call);
    }
    double tp = (double)x->l->tp;
    model_put(x, "out down",
              (struct model_call){.op = MODEL_ABSORB,
                                  .type = type,
                                  .m = t,
                                  .n = low,
                                  .k = all * size / groups,
                                  .units = groups / tp,
                                  .flops = 2 * t * low * all * size / tp,
                                  .bytes = low * all * size / tp * type->weight_bytes +
                                           2 * t * (all * size + groups * low) / tp,
                                  .weights = low * all * size / tp,
                                  .whole = low * all * size});
    model_put_product(x, "out", type, t, hidden, groups * low / tp, hidden * groups * low);
}

/* A state of so many values of four bytes for each sequence: read and written once by a decode, a
 * prompt goes over it in chunks of 64 tokens. */
static void put_state(struct calling *x, enum model_op op, double channels, double values,
                      double flops)
{
    const struct model_load *load = x->load;
    double rows = load->decodes * (1 + load->drafts), prompt = load->prompts * load->queries;

    if (prompt > 0)
        model_put(x, "state of prompts",
                  (struct model_call){.op = op,
                                      .m = prompt,
                                      .n = channels,
                                      .k = values,
                                      .units = load->queries,
                                      .flops = prompt * flops,
                                      .bytes = 2 * 4 * values * (load->prompts + prompt / 64) +
                                               4 * prompt * channels});
    if (rows > 0)
        model_put(
            x, "state",
            (struct model_call){.op = op,
                                .m = rows,
                                .n = channels,
                                .k = values,
                                .units = 1,
                                .flops = rows * flops,
                                .bytes = 2 * 4 * values * load->decodes + 4 * rows * channels});
}

static void put_conv(struct calling *x, double channels, double whole, int64_t width)
{
    model_put(x, "convolution",
              (struct model_call){.op = MODEL_CONV,
                                  .m = x->t,
                                  .n = channels,
                                  .k = (double)width,
                                  .flops = 2 * x->t * channels * (double)width,
                                  .bytes = 4 * x->t * channels,
                                  .weights = channels * (double)width,
                                  .whole = whole * (double)width});
}

static void call_linear(struct calling *x)
{
    const struct llm *m = x->m;
    double tp = (double)x->l->tp, hidden = (double)m->hidden;
    double keys = (double)(m->key_heads * m->key_size),
           values = (double)m->value_heads * (double)m->value_size;
    double wide = 2 * keys + 2 * values + 2 * (double)m->value_heads;
    double state = values * (double)m->key_size / tp;

    model_put_product(x, "in", x->types->attention, x->t, wide / tp, hidden, hidden * wide);
    put_conv(x, (2 * keys + values) / tp, 2 * keys + values, m->conv);
    put_state(x, MODEL_DELTA, (2 * keys + 2 * values) / tp, state, 6 * state);
    model_put_product(x, "out", x->types->attention, x->t, hidden, values / tp, hidden * values);
}

static void call_mamba(struct calling *x)
{
    const struct llm *m = x->m;
    double tp = (double)x->l->tp, hidden = (double)m->hidden;
    double inner = (double)m->mamba_heads * (double)m->mamba_size;
    double shared = 2 * (double)m->mamba_groups * (double)m->mamba_state;
    double wide = 2 * inner + shared + (double)m->mamba_heads;
    double state = inner * (double)m->mamba_state / tp;

    model_put_product(x, "in", x->types->attention, x->t, wide / tp, hidden, hidden * wide);
    put_conv(x, (inner + shared) / tp, inner + shared, m->mamba_conv);
    put_state(x, MODEL_SCAN, (2 * inner + shared) / tp, state, 6 * state);
    model_put_product(x, "out", x->types->attention, x->t, hidden, inner / tp, hidden * inner);
}

void model_call_attention(struct calling *x, const struct model_layer *layer)
{
    switch (layer->attention) {
    case MODEL_LATENT:
        call_latent(x, layer);
        break;
    case MODEL_COMPRESSED:
        call_compressed(x, layer);
        break;
    case MODEL_LINEAR:
        call_linear(x);
        break;
    case MODEL_MAMBA:
        call_mamba(x);
        break;
    case MODEL_FULL:
    case MODEL_WINDOW:
        call_heads(x, layer);
        break;
    case MODEL_NO_ATTENTION:
        break;
    }
}
