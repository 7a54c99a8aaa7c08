/*
 * What a model and a card of it store; which layouts there are.
 */
#include <math.h>

#include "ops/model_calls_in.h"

void model_cache(const struct llm *m, const struct model_layer *layer, int64_t tp,
                 const struct quant *cache, double *token, double *sequence)
{
    double each = cache->weight_bytes, cut = (double)tp;
    const struct model_heads *h = layer->attention == MODEL_WINDOW ? &m->window_heads : &m->heads;
    double keys = (double)m->key_heads * (double)m->key_size;
    double values = (double)m->value_heads * (double)m->value_size;
    double inner = (double)m->mamba_heads * (double)m->mamba_size;
    double shared = 2 * (double)m->mamba_groups * (double)m->mamba_state;
    double both = model_key_heads(h->keys, tp) * (double)(h->size + h->out_size) * each;

    *token = *sequence = 0;
    switch (layer->attention) {
    case MODEL_FULL:
        *token = both;
        break;
    case MODEL_WINDOW:
        *sequence = both * (double)layer->window;
        break;
    case MODEL_LATENT:
        *token = (double)(m->latent + m->rope) * each;
        break;
    case MODEL_COMPRESSED:
        *sequence = (double)m->heads.size * each * (double)layer->window;
        *token = layer->ratio > 0 ? (double)m->heads.size * each / (double)layer->ratio : 0;
        break;
    case MODEL_LINEAR:
        *sequence =
            (4 * values * (double)m->key_size + 2 * (double)(m->conv - 1) * (2 * keys + values)) /
            cut;
        break;
    case MODEL_MAMBA:
        *sequence = (4 * inner * (double)m->mamba_state +
                     2 * (double)(m->mamba_conv - 1) * (inner + shared)) /
                    cut;
        break;
    case MODEL_NO_ATTENTION:
        break;
    }
    if (layer->has_index)
        *token += (double)m->index_size / (layer->ratio > 0 ? (double)layer->ratio : 1);
}

/* A prompt and a decode: every weight is met. */
static const struct model_load one_of_each = {
    .decodes = 1, .keys = 1, .prompts = 1, .queries = 1, .emits = 1};

struct summing {
    const struct llm *m;
    double total, active, bytes, weights;
};

static void add_weights(void *ctx, const struct model_call *c)
{
    struct summing *s = ctx;
    double times = (double)c->times;
    double share = c->is_expert ? (double)s->m->top_k / (double)s->m->experts : 1;

    s->weights += times * c->weights;
    s->bytes += times * c->weights * c->type->weight_bytes;
    s->total += times * c->whole;
    s->active += times * c->whole * share;
}

struct model_size model_size(const struct llm *m)
{
    struct model_layout one = model_layout_one();
    struct model_types plain = model_types_plain();
    struct summing s = {.m = m};
    struct model_size out;
    double token, sequence;

    model_calls(m, &one, &plain, &one_of_each, 0, add_weights, &s);
    out = (struct model_size){.total = s.total, .active = s.active};
    for (size_t i = 0; i < m->n_layers; i++) {
        model_cache(m, &m->layers[i], 1, quant_bf16, &token, &sequence);
        out.cache_bytes += token;
        out.state_bytes += sequence;
    }
    return out;
}

/* The widest activation that lies beside the hidden values of a token. */
static double widest(const struct llm *m, const struct model_layout *l)
{
    double tp = (double)l->tp;
    double wide = (double)m->heads.queries * (double)m->heads.size / tp;

    wide = fmax(wide, 2 * (double)m->inter / tp);
    if (m->experts > 0)
        wide = fmax(wide, 2 * (double)m->top_k * (double)m->expert_inter /
                              (double)(l->expert_tp * l->ep) * (double)l->dp);
    if (m->latent > 0)
        wide = fmax(wide, (double)m->heads.queries * (double)(m->nope + m->rope) / tp);
    return wide;
}

/* Each stage by itself: it is the largest that has to fit. */
struct model_memory model_memory(const struct llm *m, const struct model_layout *l,
                                 const struct model_types *types, double tokens, double seqs)
{
    struct model_memory out = {0};
    double cards = (double)(l->tp * l->dp);

    for (int64_t stage = 0; stage < l->pp; stage++) {
        struct summing s = {.m = m};
        double cache = 0, state = 0, token, sequence;
        size_t first, end;
        model_calls(m, l, types, &one_of_each, stage, add_weights, &s);
        model_stage(m, l->pp, stage, &first, &end);
        for (size_t i = first; i < end; i++) {
            model_cache(m, &m->layers[i], l->tp, types->cache, &token, &sequence);
            cache += token;
            state += sequence;
        }
        out.weight_bytes = fmax(out.weight_bytes, s.bytes);
        out.cache_bytes = fmax(out.cache_bytes, cache);
        out.state_bytes = fmax(out.state_bytes, state);
        out.replicas += s.weights * cards - s.total;
    }
    out.work_bytes = 2 * tokens * (4 * (double)m->hidden + widest(m, l)) +
                     4 * seqs * model_part(m->vocab, l->tp);
    return out;
}

/* ---- layouts ---- */

static bool divides(int64_t part, int64_t whole)
{
    return part > 0 && whole % part == 0;
}

/* Heads of keys are cut, or whole ones repeated. */
static bool heads_fit(const struct model_heads *h, int64_t tp)
{
    return divides(tp, h->queries) && (divides(tp, h->keys) || divides(h->keys, tp));
}

struct str model_layout_refuse(struct arena *arena, const struct llm *m,
                               const struct model_layout *l, const struct model_types *types)
{
    long long tp = l->tp, dp = l->dp, ep = l->ep, wide = l->expert_tp;

    if (l->tp < 1 || l->pp < 1 || l->dp < 1 || l->ep < 1 || l->expert_tp < 1)
        return S("sizes of a layout begin at 1");
    if ((size_t)l->pp > m->n_layers)
        return arena_format(arena, "%lld stages for %zu layers", (long long)l->pp, m->n_layers);
    for (size_t i = 0; i < m->n_layers; i++) {
        enum model_attention kind = m->layers[i].attention;
        const struct model_heads *h = kind == MODEL_WINDOW ? &m->window_heads : &m->heads;
        bool is_cut = (kind == MODEL_FULL || kind == MODEL_WINDOW) ? heads_fit(h, l->tp)
                      : kind == MODEL_LINEAR
                          ? divides(l->tp, m->key_heads) && divides(l->tp, m->value_heads)
                      : kind == MODEL_MAMBA        ? divides(l->tp, m->mamba_heads)
                      : kind == MODEL_NO_ATTENTION ? true
                                                   : divides(l->tp, m->heads.queries);
        if (!is_cut)
            return arena_format(arena, "tp %lld does not divide the heads", tp);
        if (kind == MODEL_COMPRESSED && !divides(l->tp, m->out_groups))
            return arena_format(arena, "tp %lld does not divide the %lld groups of the output", tp,
                                (long long)m->out_groups);
    }
    if (m->experts == 0)
        return ep * wide != 1 && ep * wide != tp * dp
                   ? arena_format(arena, "ep %lld: the model has no experts", ep)
                   : S("");
    if (tp * dp != wide * ep)
        return arena_format(arena, "tp %lld x dp %lld is not moe-tp %lld x ep %lld", tp, dp, wide,
                            ep);
    if (!divides(l->ep, m->experts))
        return arena_format(arena, "ep %lld does not divide the %lld experts", ep,
                            (long long)m->experts);
    if (!divides(l->expert_tp, m->expert_inter))
        return arena_format(arena, "moe-tp %lld does not divide the %lld columns of an expert",
                            wide, (long long)m->expert_inter);
    if (str_equal(types->experts->name, S("fp8_block")) &&
        m->expert_inter / l->expert_tp % 128 != 0)
        return arena_format(arena,
                            "moe-tp %lld leaves %lld columns of an expert, no whole blocks of 128",
                            wide, (long long)(m->expert_inter / l->expert_tp));
    return S("");
}
