/*
 * Models from their config.json. See model.h.
 */
#include "ops/model.h"

#include "base/files/embedded.h"
#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/formats/yaml.h"
#include "base/text/char.h"
#include "ops/model_calls.h"
#include "ops/model_in.h"

ENUM_NAMES(model_attention_name, enum model_attention, "", "full", "window", "latent", "compressed",
           "linear", "mamba")
ENUM_NAMES(model_feed_name, enum model_feed, "", "dense", "experts")

enum { MODEL_LAYERS = 1 << 14 };

/* ---- sizes ---- */

/* Feed-forward parts with a gate have two first matrices. Families that use GELU or ReLU differ. */
static void read_activation(struct model_config *r)
{
    static const struct str gated[] = {S_INIT("silu"), S_INIT("swish"), S_INIT("swiglu"),
                                       S_INIT("swigluoai")};
    const struct tree *node = model_key(r, "mlp_hidden_act");

    if (node == NULL)
        node = model_key(r, "hidden_act");
    if (node == NULL)
        node = model_key(r, "hidden_activation");
    struct str name = tree_text(node);
    r->m->is_gated = node == NULL || str_is_one_of(name, gated, ARRAY_LEN(gated));
    if (!r->m->is_gated && !str_equal(name, S("relu2")))
        model_fail(r, node,
                   "the activation \"%.*s\" leaves open whether feed-forward parts are "
                   "gated",
                   STR_ARGS(name));
}

/* Layers with a window may have heads of their own. */
static void read_heads(struct model_config *r)
{
    struct llm *m = r->m;
    int64_t q = model_needed(r, SIZE_OF(r, "num_attention_heads"), "num_attention_heads");
    int64_t size = SIZE_OF(r, "head_dim", "kv_channels", "attention_head_dim");

    if (size == 0 && q > 0)
        size = m->hidden / q;
    m->heads =
        (struct model_heads){.queries = q,
                             .keys = SIZE_OR(r, q, "num_key_value_heads", "multi_query_group_num"),
                             .size = size,
                             .out_size = m->latent == 0 ? SIZE_OR(r, size, "v_head_dim") : size};
    m->window_heads =
        (struct model_heads){.queries = SIZE_OR(r, q, "swa_num_attention_heads"),
                             .keys = SIZE_OR(r, m->heads.keys, "swa_num_key_value_heads"),
                             .size = SIZE_OR(r, size, "swa_head_dim"),
                             .out_size = SIZE_OR(r, m->heads.out_size, "swa_v_head_dim")};
    model_needed(r, m->heads.keys, "num_key_value_heads");
    model_needed(r, m->latent > 0 ? 1 : size, "head_dim");
    if (m->heads.keys > 0 && q % m->heads.keys != 0)
        model_fail(r, model_key(r, "num_key_value_heads"),
                   "%lld query heads cannot share %lld key/value heads", (long long)q,
                   (long long)m->heads.keys);
    m->has_gate = model_flag(r, "attn_output_gate");
}

/* Low ranks of MLA, the index of sparse attention, low ranks of the output. */
static void read_latent(struct model_config *r)
{
    struct llm *m = r->m;

    m->latent = SIZE_OF(r, "kv_lora_rank");
    m->query_rank = SIZE_OF(r, "q_lora_rank");
    m->rope = SIZE_OF(r, "qk_rope_head_dim");
    m->index_heads = SIZE_OF(r, "index_n_heads");
    if (m->index_heads > 0) {
        m->index_size = model_needed(r, SIZE_OF(r, "index_head_dim"), "index_head_dim");
        m->index_top = model_needed(r, SIZE_OF(r, "index_topk"), "index_topk");
    }
    m->out_rank = SIZE_OF(r, "o_lora_rank");
    m->out_groups = SIZE_OF(r, "o_groups");
    if (m->latent == 0)
        return;
    m->nope = model_needed(r, SIZE_OF(r, "qk_nope_head_dim"), "qk_nope_head_dim");
    model_needed(r, m->rope, "qk_rope_head_dim");
    model_needed(r, SIZE_OF(r, "v_head_dim"), "v_head_dim");
}

/* Shared experts are one feed-forward part, as wide as all of them. */
static void read_experts(struct model_config *r)
{
    struct llm *m = r->m;
    struct str kind = tree_get_text(r->config, S("model_type"), S(""));

    m->inter = SIZE_OF(r, "intermediate_size_mlp", "intermediate_size");
    m->experts =
        SIZE_OF(r, "n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts");
    if (m->experts == 0)
        return;
    m->top_k = model_needed(r,
                            SIZE_OF(r, "num_experts_per_tok", "experts_per_token",
                                    "num_experts_per_token", "moe_top_k"),
                            "num_experts_per_tok");
    m->expert_inter = SIZE_OF(r, "moe_intermediate_size", "expert_intermediate_size");
    if (m->expert_inter == 0)
        m->expert_inter = model_needed(r, SIZE_OF(r, "intermediate_size"), "moe_intermediate_size");
    m->shared_inter =
        SIZE_OF(r, "shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
                "share_expert_dim", "shared_intermediate_size");
    if (m->shared_inter == 0)
        m->shared_inter = SIZE_OF(r, "n_shared_experts") * m->expert_inter;
    if (str_contains(kind, S("llama4")))
        m->shared_inter = SIZE_OF(r, "intermediate_size");
    if (m->top_k > m->experts)
        model_fail(r, r->config, "%lld of %lld experts for each token", (long long)m->top_k,
                   (long long)m->experts);
}

static bool has_attention(const struct llm *m, enum model_attention kind)
{
    for (size_t i = 0; i < m->n_layers; i++)
        if (m->layers[i].attention == kind)
            return true;
    return false;
}

static bool has_feed(const struct llm *m, enum model_feed kind)
{
    for (size_t i = 0; i < m->n_layers; i++)
        if (m->layers[i].feed == kind)
            return true;
    return false;
}

/* What the kinds of layers that were found need. */
static void read_states(struct model_config *r)
{
    struct llm *m = r->m;

    if (has_attention(m, MODEL_LINEAR)) {
        m->key_heads = model_needed(r, SIZE_OF(r, "linear_num_key_heads"), "linear_num_key_heads");
        m->value_heads =
            model_needed(r, SIZE_OF(r, "linear_num_value_heads"), "linear_num_value_heads");
        m->key_size = model_needed(r, SIZE_OF(r, "linear_key_head_dim"), "linear_key_head_dim");
        m->value_size =
            model_needed(r, SIZE_OF(r, "linear_value_head_dim"), "linear_value_head_dim");
        m->conv = SIZE_OR(r, 4, "linear_conv_kernel_dim");
    }
    if (has_attention(m, MODEL_MAMBA)) {
        m->mamba_heads = model_needed(r, SIZE_OF(r, "mamba_num_heads"), "mamba_num_heads");
        m->mamba_size = model_needed(r, SIZE_OF(r, "mamba_head_dim"), "mamba_head_dim");
        m->mamba_groups = model_needed(r, SIZE_OF(r, "n_groups"), "n_groups");
        m->mamba_state = model_needed(r, SIZE_OF(r, "ssm_state_size"), "ssm_state_size");
        m->mamba_conv = SIZE_OR(r, 4, "conv_kernel");
    }
    if (has_attention(m, MODEL_COMPRESSED)) {
        model_needed(r, m->query_rank, "q_lora_rank");
        model_needed(r, m->out_rank, "o_lora_rank");
        model_needed(r, m->out_groups, "o_groups");
    }
    if (has_feed(m, MODEL_DENSE))
        model_needed(r, m->inter, "intermediate_size");
    if (has_feed(m, MODEL_EXPERTS))
        model_needed(r, m->experts, "num_experts");
}

/* Sizes in the order in which they build on one another. */
static void read_model(struct model_config *r)
{
    struct llm *m = r->m;
    const struct tree *tied = model_key(r, "tie_word_embeddings");

    if (tied == NULL)
        tied = tree_get(r->top, S("tie_word_embeddings"));
    m->is_tied = model_bool(tied);
    m->hidden = model_needed(r, SIZE_OF(r, "hidden_size", "d_model"), "hidden_size");
    m->vocab = SIZE_OF(r, "vocab_size");
    int64_t n = SIZE_OF(r, "num_hidden_layers", "num_layers", "n_layer");
    const struct tree *blocks = model_key(r, "layers_block_type");
    if (n == 0 && blocks != NULL && blocks->kind == TREE_LIST)
        n = (int64_t)blocks->n;
    if (n > MODEL_LAYERS)
        model_fail(r, r->config, "more than %d layers", MODEL_LAYERS);
    if (r->status != ST_OK)
        return;
    m->is_part = n == 0 || m->vocab == 0;
    m->n_layers = n > 0 ? (size_t)n : 1;
    m->layers = ARENA_ARRAY(r->arena, struct model_layer, m->n_layers);
    m->drafts = SIZE_OF(r, "num_nextn_predict_layers", "mtp_num_hidden_layers");
    read_activation(r);
    read_latent(r);
    read_heads(r);
    if (m->latent > 0)
        m->heads.out_size = SIZE_OF(r, "v_head_dim");
    read_experts(r);
    model_read_layers(r);
    read_states(r);
}

/* ---- the file ---- */

/* Names of families whose layers differ in ways that their sizes do not show. */
static void check_family(struct model_config *r)
{
    static const struct str refused[] = {S_INIT("gemma"), S_INIT("kimi_k3"), S_INIT("kimi_linear"),
                                         S_INIT("t5"),    S_INIT("falcon"),  S_INIT("rwkv"),
                                         S_INIT("jamba"), S_INIT("zamba")};
    struct str kind = tree_get_text(r->config, S("model_type"), S(""));

    if (STR_ANY(str_starts, kind, refused))
        model_fail(r, tree_get(r->config, S("model_type")),
                   "models of type \"%.*s\" are not understood", STR_ARGS(kind));
}

/* JSON, where `Infinity` may stand, which YAML takes for text. */
static enum status parse_tree(struct arena *arena, struct str text, const char *path,
                              const struct tree **out, struct diag *d)
{
    struct tree_error error;

    *out = tree_read_json(arena, text, &error);
    return *out != NULL ? ST_OK : yaml_read(arena, text, path, out, d);
}

/* A language model may lie inside the configuration of one that sees or hears, too. */
static enum status read_parsed(struct arena *arena, const struct tree *top,
                               const struct tree *types, const char *path, struct llm *out,
                               struct diag *d)
{
    struct model_config r = {
        .arena = arena, .path = path, .top = top, .m = out, .d = d, .status = ST_OK};

    *out = (struct llm){.types = model_types_plain()};
    if (top == NULL || top->kind != TREE_MAP)
        return diag_fail(d, ST_FORMAT, "model.not-understood", (struct where){.path = path},
                         "a model's configuration is a JSON object");
    r.config = tree_get(r.top, S("text_config"));
    if (model_is_null(r.config))
        r.config = tree_get(r.top, S("llm_config"));
    if (r.config == NULL || r.config->kind != TREE_MAP)
        r.config = r.top;
    check_family(&r);
    model_check_keys(&r, r.config);
    read_model(&r);
    TRY(r.status);
    const struct tree *own = tree_get(r.config, S("quantization_config"));
    out->has_types = model_types_of_config(
        arena, model_is_null(own) ? tree_get(r.top, S("quantization_config")) : own, types,
        tree_get_text(r.config, S("expert_dtype"), S("")), out->n_layers, &out->types);
    out->name = tree_get_text(r.top, S("_name_or_path"), S(""));
    return ST_OK;
}

enum status model_parse(struct arena *arena, struct str config, struct str quant, const char *path,
                        struct llm *out, struct diag *d)
{
    const struct tree *top, *types = NULL;

    TRY(parse_tree(arena, config, path, &top, d));
    if (quant.n > 0)
        TRY(parse_tree(arena, quant, path, &types, d));
    return read_parsed(arena, top, types, path, out, d);
}

/* "models/Some-Model/config.json" is called Some-Model, "Some_config.json" after itself. */
static struct str file_name(struct str path)
{
    struct str name = str_basename(path);
    struct str folder = str_part(path, 0, path.n - name.n);

    if (!str_equal(name, S("config.json"))) {
        struct str stem = str_ends(name, S("_config.json")) ? str_part(name, 0, name.n - 12)
                          : str_ends(name, S(".json"))      ? str_part(name, 0, name.n - 5)
                                                            : name;
        return stem;
    }
    while (folder.n > 0 && folder.at[folder.n - 1] == '/')
        folder.n--;
    return folder.n > 0 ? str_basename(folder) : name;
}

/* The text of a file, in the arena. */
static enum status read_text(struct arena *arena, const char *path, struct str *out, struct diag *d)
{
    struct mapfile map;

    TRY(mapfile_open(&map, path, d));
    *out = arena_str(arena, map.text);
    mapfile_close(&map);
    return ST_OK;
}

enum status model_read(struct arena *arena, const char *path, struct str name, struct llm *out,
                       struct diag *d)
{
    struct str config, quant = S("");

    if (fs_is_dir(path))
        path = arena_printf(arena, "%s/config.json", path);
    struct str file = str_of(path), stem = file;
    if (str_ends(file, S("config.json")))
        stem = str_part(file, 0, file.n - 11);
    const char *beside = arena_printf(arena, "%.*shf_quant_config.json", STR_ARGS(stem));
    TRY(read_text(arena, path, &config, d));
    if (fs_exists(beside) && stem.n < file.n)
        TRY(read_text(arena, beside, &quant, d));
    TRY(model_parse(arena, config, quant, arena_cstr(arena, file), out, d));
    if (name.n > 0)
        out->name = arena_str(arena, name);
    else if (out->name.n == 0 || out->name.at[0] == '/')
        out->name = arena_str(arena, file_name(file));
    return ST_OK;
}

void model_set_layers(struct arena *arena, struct llm *m, size_t n)
{
    struct model_layer *layers = ARENA_ARRAY(arena, struct model_layer, n);

    for (size_t i = 0; i < n; i++)
        layers[i] = m->layers[i < m->n_layers ? i : m->n_layers - 1];
    m->layers = layers;
    m->n_layers = n;
}

/* ---- models by name ---- */

struct str model_plain_name(struct arena *arena, struct str name)
{
    char *at = arena_alloc(arena, name.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < name.n; i++) {
        char c = name.at[i];
        if (!char_is_blank(c) && c != '-' && c != '_' && c != '.' && c != '/')
            at[n++] = char_lower(c);
    }
    return (struct str){at, n};
}

/* "Qwen/Qwen3-8B" is also called "Qwen3-8B". */
static bool is_called(struct arena *arena, const struct tree *entry, struct str wanted)
{
    if (str_equal(model_plain_name(arena, entry->key), wanted) ||
        str_equal(model_plain_name(arena, str_basename(entry->key)), wanted))
        return true;
    for (const struct tree *v = tree_items(tree_get(entry, S("aliases"))); v != NULL; v = v->next)
        if (str_equal(v->text, wanted))
            return true;
    return false;
}

enum status model_known(struct arena *arena, struct str name, struct llm *out, struct diag *d)
{
    struct tree_error error;
    const struct tree *all = tree_read_json(arena, embedded_file("models/known.json"), &error);
    struct str wanted = model_plain_name(arena, name);

    for (const struct tree *v = all != NULL ? all->first : NULL; v != NULL; v = v->next)
        if (is_called(arena, v, wanted)) {
            TRY(read_parsed(arena, tree_get(v, S("config")), NULL, "models/known.json", out, d));
            out->name = v->key;
            return ST_OK;
        }
    enum status st = diag_fail(d, ST_NOT_FOUND, "model.unknown", (struct where){0},
                               "no model is called \"%.*s\"; --config reads the config.json of any",
                               STR_ARGS(name));
    for (const struct tree *v = all != NULL ? all->first : NULL; v != NULL; v = v->next)
        diag_hint(d, v == all->first ? "known" : "", "%.*s", STR_ARGS(v->key));
    return st;
}
