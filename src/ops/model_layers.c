/*
 * Kinds of layers, by the lists and rules that families of models have.
 */
#include <string.h>

#include "ops/model_in.h"

static bool list_number(const struct tree *list, size_t i, int64_t *out)
{
    const struct tree *v = tree_items(list);

    while (v != NULL && i-- > 0)
        v = v->next;
    if (v == NULL)
        return false;
    *out = model_bool(v);
    return *out != 0 || model_number(v, out) || v->kind == TREE_BOOL;
}

/* One value for each layer; lists may be longer (drafts follow), not shorter. */
static const struct tree *layer_list(struct model_config *r, const char *key)
{
    const struct tree *list = model_key(r, key);

    if (list == NULL || list->kind != TREE_LIST || list->n == 0)
        return NULL;
    if (list->n < r->m->n_layers)
        model_fail(r, list, "%s has %zu values for %zu layers", key, list->n, r->m->n_layers);
    return list;
}

/* "layer_types" and "layers_block_type", as transformers and others spell them. */
static const struct {
    struct str name;
    enum model_attention attention;
    bool is_alone; /* no feed-forward part behind it */
    enum model_feed feed;
} layer_words[] = {
    {S_INIT("full_attention"), MODEL_FULL, false, 0},
    {S_INIT("attention"), MODEL_FULL, false, 0},
    {S_INIT("sliding_attention"), MODEL_WINDOW, false, 0},
    {S_INIT("chunked_attention"), MODEL_WINDOW, false, 0},
    {S_INIT("linear_attention"), MODEL_LINEAR, false, 0},
    {S_INIT("deepseek_sparse_attention"), MODEL_LATENT, false, 0},
    {S_INIT("mamba"), MODEL_MAMBA, true, MODEL_NO_FEED},
    {S_INIT("moe"), MODEL_NO_ATTENTION, true, MODEL_EXPERTS},
    {S_INIT("mlp"), MODEL_NO_ATTENTION, true, MODEL_DENSE},
};

/* The list of transformers, which names each layer's attention. */
static void read_layer_types(struct model_config *r)
{
    const struct tree *list = layer_list(r, "layer_types");
    struct llm *m = r->m;
    size_t i = 0;

    if (list == NULL)
        return;
    for (const struct tree *v = list->first; v != NULL && i < m->n_layers; v = v->next, i++) {
        size_t k = 0;
        while (k < ARRAY_LEN(layer_words) && !str_equal(layer_words[k].name, tree_text(v)))
            k++;
        if (k == ARRAY_LEN(layer_words) || layer_words[k].is_alone) {
            model_fail(r, v, "layers of type \"%.*s\" are not understood", STR_ARGS(tree_text(v)));
            return;
        }
        m->layers[i].attention = layer_words[k].attention;
    }
}

/* Layers that hold one thing each: attention, a state, experts or a dense part. */
static void read_blocks(struct model_config *r, const struct tree *list)
{
    size_t i = 0;

    for (const struct tree *v = list->first; v != NULL && i < r->m->n_layers; v = v->next, i++) {
        struct str word = tree_text(v);
        size_t k = 0;
        while (k < ARRAY_LEN(layer_words) && !str_equal(layer_words[k].name, word))
            k++;
        if (k == ARRAY_LEN(layer_words)) {
            model_fail(r, v, "layers of type \"%.*s\" are not understood", STR_ARGS(word));
            return;
        }
        r->m->layers[i] = (struct model_layer){.attention = layer_words[k].attention,
                                               .feed = layer_words[k].is_alone ? layer_words[k].feed
                                                                               : MODEL_NO_FEED};
    }
}

/* "MEM*-": one letter for each layer, which holds one thing. */
static void read_letters(struct model_config *r, struct str letters)
{
    static const char known[] = "M*E-";
    static const struct model_layer kinds[] = {{.attention = MODEL_MAMBA},
                                               {.attention = MODEL_FULL},
                                               {.feed = MODEL_EXPERTS},
                                               {.feed = MODEL_DENSE}};

    if (letters.n < r->m->n_layers)
        model_fail(r, r->config, "hybrid_override_pattern has %zu letters for %zu layers",
                   letters.n, r->m->n_layers);
    for (size_t i = 0; i < r->m->n_layers && r->status == ST_OK; i++) {
        const char *at = strchr(known, letters.at[i]);
        if (at == NULL || *at == '\0')
            model_fail(r, r->config, "hybrid_override_pattern: '%c' is not understood",
                       letters.at[i]);
        else
            r->m->layers[i] = kinds[at - known];
    }
}

/* Layers that hold one thing each; false when they hold attention and a feed-forward part. */
static bool read_single(struct model_config *r)
{
    const struct tree *letters = model_key(r, "hybrid_override_pattern");
    const struct tree *blocks = layer_list(r, "layers_block_type");

    if (letters != NULL)
        read_letters(r, tree_text(letters));
    else if (blocks != NULL)
        read_blocks(r, blocks);
    return letters != NULL || blocks != NULL;
}

/* Every so many layers, from a layer on, by a pattern of zeros and ones, or by name. */
static void read_attention_kinds(struct model_config *r)
{
    const struct tree *pattern = layer_list(r, "hybrid_layer_pattern");
    const struct tree *ratios = layer_list(r, "compress_ratios");
    const struct tree *linear = layer_list(r, "attn_type_list");
    int64_t every = SIZE_OF(r, "full_attention_interval"), value = 0;
    int64_t from = SIZE_OF(r, "max_window_layers");
    bool has_types = model_key(r, "layer_types") != NULL;
    bool is_windowed =
        model_flag(r, "use_sliding_window") || (model_key(r, "use_sliding_window") == NULL &&
                                                SIZE_OF(r, "sliding_window") > 0 && !has_types);
    struct llm *m = r->m;

    for (size_t i = 0; i < m->n_layers && r->status == ST_OK; i++) {
        struct model_layer *l = &m->layers[i];
        l->attention = MODEL_FULL;
        if (every > 0 && (i + 1) % (uint64_t)every != 0)
            l->attention = MODEL_LINEAR;
        else if (is_windowed && (int64_t)i >= (model_flag(r, "use_sliding_window") ? from : 0))
            l->attention = MODEL_WINDOW;
        if (pattern != NULL && list_number(pattern, i, &value))
            l->attention = value != 0 ? MODEL_WINDOW : MODEL_FULL;
        if (linear != NULL && list_number(linear, i, &value) && value != 1)
            model_fail(r, linear, "attn_type_list: attention of type %lld is not understood",
                       (long long)value);
        if (ratios != NULL && list_number(ratios, i, &value)) {
            l->attention = MODEL_COMPRESSED;
            l->ratio = value;
        }
    }
    if (ratios == NULL)
        read_layer_types(r);
    for (size_t i = 0; i < m->n_layers && m->latent > 0; i++)
        m->layers[i].attention = MODEL_LATENT;
}

/* Which layers choose the keys that they see. Some share the choice of a layer before. */
static void read_indexers(struct model_config *r)
{
    const struct tree *types = layer_list(r, "indexer_types");
    const struct tree *v = tree_items(types);
    struct llm *m = r->m;

    if (types == NULL && SIZE_OF(r, "index_topk_freq") > 1)
        model_fail(r, model_key(r, "index_topk_freq"), "index_topk_freq needs indexer_types");
    for (size_t i = 0; i < m->n_layers; i++) {
        struct model_layer *l = &m->layers[i];
        l->is_indexed = m->index_heads > 0 && (l->attention == MODEL_LATENT || l->ratio == 4);
        l->has_index = l->is_indexed;
        if (v == NULL)
            continue;
        if (str_equal(tree_text(v), S("shared")))
            l->has_index = false;
        else if (!str_equal(tree_text(v), S("full")))
            model_fail(r, v, "indexer_types: \"%.*s\" is not understood", STR_ARGS(tree_text(v)));
        v = v->next;
    }
}

/* Experts from a layer on, in every so many layers, or by a list. */
static void read_feeds(struct model_config *r)
{
    const struct tree *freq = layer_list(r, "moe_layer_freq");
    const struct tree *only = model_key(r, "mlp_only_layers"),
                      *types = layer_list(r, "mlp_layer_types");
    const struct tree *type = tree_items(types);
    int64_t first = SIZE_OF(r, "first_k_dense_replace", "moe_layer_start_index"), value = 0;
    struct llm *m = r->m;
    int64_t step = 1;

    if (freq == NULL)
        step = SIZE_OR(r, 1, "interleave_moe_layer_step", "decoder_sparse_step", "moe_layer_freq");
    for (size_t i = 0; i < m->n_layers; i++) {
        bool is_sparse =
            m->experts > 0 && (int64_t)i >= first && step > 0 && (i + 1) % (uint64_t)step == 0;
        if (freq != NULL && list_number(freq, i, &value))
            is_sparse = value != 0;
        for (const struct tree *v = tree_items(only); v != NULL; v = v->next)
            if (model_number(v, &value) && value == (int64_t)i)
                is_sparse = false;
        if (type != NULL) {
            is_sparse = str_equal(tree_text(type), S("sparse"));
            if (!is_sparse && !str_equal(tree_text(type), S("dense")))
                model_fail(r, type, "mlp_layer_types: \"%.*s\" is not understood",
                           STR_ARGS(tree_text(type)));
            type = type->next;
        }
        m->layers[i].feed = is_sparse ? MODEL_EXPERTS : MODEL_DENSE;
    }
}

static void read_windows(struct model_config *r)
{
    int64_t window = SIZE_OF(r, "sliding_window", "sliding_window_size", "attention_chunk_size");

    for (size_t i = 0; i < r->m->n_layers; i++) {
        struct model_layer *l = &r->m->layers[i];
        if (l->attention != MODEL_WINDOW && l->attention != MODEL_COMPRESSED)
            continue;
        if (window == 0)
            model_fail(r, r->config, "sliding_window is missing");
        l->window = window;
    }
}

void model_read_layers(struct model_config *r)
{
    if (!read_single(r)) {
        read_attention_kinds(r);
        read_feeds(r);
    }
    read_windows(r);
    read_indexers(r);
}
