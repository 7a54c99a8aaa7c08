/*
 * Values of a configuration, and keys that are understood.
 */
#include "base/formats/yaml.h"
#include "base/text/num.h"
#include "ops/model_in.h"

/* Products of two sizes stay below 2^62. */
static const int64_t most = (int64_t)1 << 31;

void model_fail(struct model_config *r, const struct tree *at, const char *format, ...)
{
    va_list args;

    if (r->status != ST_OK)
        return;
    va_start(args, format);
    struct str text = arena_vformat(r->arena, format, args);
    va_end(args);
    r->status = diag_fail(r->d, ST_FORMAT, "model.not-understood",
                          (struct where){.path = r->path, .line = at != NULL ? at->line : 0},
                          "%.*s", STR_ARGS(text));
}

bool model_is_null(const struct tree *node)
{
    return node == NULL || node->kind == TREE_NULL ||
           (node->kind == TREE_TEXT && yaml_is_null(node));
}

bool model_number(const struct tree *node, int64_t *out)
{
    if (node->kind == TREE_TEXT)
        return !node->is_quoted && num_i64(node->text, out);
    return node->kind == TREE_INT && tree_int(node, out);
}

bool model_bool(const struct tree *node)
{
    if (node == NULL)
        return false;
    if (node->kind == TREE_TEXT)
        return str_equal_nocase(node->text, S("true"));
    return node->kind == TREE_BOOL && node->i != 0;
}

const struct tree *model_key(const struct model_config *r, const char *key)
{
    const struct tree *node = tree_get(r->config, str_of(key));

    return model_is_null(node) ? NULL : node;
}

bool model_flag(const struct model_config *r, const char *key)
{
    return model_bool(model_key(r, key));
}

int64_t model_first(struct model_config *r, int64_t otherwise, const char *const *names)
{
    for (; *names != NULL; names++) {
        const struct tree *node = model_key(r, *names);
        int64_t value;
        if (node == NULL)
            continue;
        if (model_number(node, &value) && value >= 0 && value <= most)
            return value;
        model_fail(r, node, "%s must be a whole number from 0 to 2^31", *names);
        return otherwise;
    }
    return otherwise;
}

int64_t model_needed(struct model_config *r, int64_t value, const char *key)
{
    if (value <= 0)
        model_fail(r, r->config, "%s is missing", key);
    return value;
}

/* ---- keys ---- */

/* Keys that change the structure in ways that are not modelled: with any value but none. */
static const struct str refused_keys[] = {
    S_INIT("block_configs"),          S_INIT("num_kv_shared_layers"),
    S_INIT("attention_k_eq_v"),       S_INIT("linear_attn_config"),
    S_INIT("moe_latent_size"),        S_INIT("sparse_attention_config"),
    S_INIT("attn_res_block_size"),    S_INIT("routed_expert_hidden_size"),
    S_INIT("is_encoder_decoder"),     S_INIT("add_cross_attention"),
    S_INIT("cross_attention_layers"),
};

/* Keys that are read, and such that change no matrix and no cache. */
static const struct str known_keys[] = {
    /* read */
    S_INIT("hidden_size"),
    S_INIT("d_model"),
    S_INIT("num_hidden_layers"),
    S_INIT("num_layers"),
    S_INIT("n_layer"),
    S_INIT("num_attention_heads"),
    S_INIT("num_key_value_heads"),
    S_INIT("multi_query_group_num"),
    S_INIT("head_dim"),
    S_INIT("kv_channels"),
    S_INIT("attention_head_dim"),
    S_INIT("intermediate_size"),
    S_INIT("intermediate_size_mlp"),
    S_INIT("n_routed_experts"),
    S_INIT("num_experts"),
    S_INIT("num_local_experts"),
    S_INIT("moe_num_experts"),
    S_INIT("num_experts_per_tok"),
    S_INIT("experts_per_token"),
    S_INIT("num_experts_per_token"),
    S_INIT("moe_intermediate_size"),
    S_INIT("expert_intermediate_size"),
    S_INIT("n_shared_experts"),
    S_INIT("shared_expert_intermediate_size"),
    S_INIT("moe_shared_expert_intermediate_size"),
    S_INIT("shared_intermediate_size"),
    S_INIT("share_expert_dim"),
    S_INIT("first_k_dense_replace"),
    S_INIT("moe_layer_start_index"),
    S_INIT("interleave_moe_layer_step"),
    S_INIT("decoder_sparse_step"),
    S_INIT("moe_layer_freq"),
    S_INIT("mlp_only_layers"),
    S_INIT("mlp_layer_types"),
    S_INIT("layer_types"),
    S_INIT("layers_block_type"),
    S_INIT("hybrid_override_pattern"),
    S_INIT("hybrid_layer_pattern"),
    S_INIT("full_attention_interval"),
    S_INIT("attn_type_list"),
    S_INIT("sliding_window"),
    S_INIT("sliding_window_size"),
    S_INIT("use_sliding_window"),
    S_INIT("max_window_layers"),
    S_INIT("attention_chunk_size"),
    S_INIT("q_lora_rank"),
    S_INIT("kv_lora_rank"),
    S_INIT("qk_nope_head_dim"),
    S_INIT("qk_rope_head_dim"),
    S_INIT("qk_head_dim"),
    S_INIT("v_head_dim"),
    S_INIT("index_n_heads"),
    S_INIT("index_head_dim"),
    S_INIT("index_topk"),
    S_INIT("index_topk_freq"),
    S_INIT("indexer_types"),
    S_INIT("compress_ratios"),
    S_INIT("o_lora_rank"),
    S_INIT("o_groups"),
    S_INIT("linear_num_key_heads"),
    S_INIT("linear_num_value_heads"),
    S_INIT("linear_key_head_dim"),
    S_INIT("linear_value_head_dim"),
    S_INIT("linear_conv_kernel_dim"),
    S_INIT("attn_output_gate"),
    S_INIT("mamba_head_dim"),
    S_INIT("mamba_num_heads"),
    S_INIT("n_groups"),
    S_INIT("ssm_state_size"),
    S_INIT("conv_kernel"),
    S_INIT("swa_num_attention_heads"),
    S_INIT("swa_num_key_value_heads"),
    S_INIT("swa_head_dim"),
    S_INIT("swa_v_head_dim"),
    S_INIT("num_nextn_predict_layers"),
    S_INIT("mlp_hidden_act"),
    S_INIT("hidden_act"),
    S_INIT("hidden_activation"),
    /* without effect on matrices and caches */
    S_INIT("attention_bias"),
    S_INIT("attention_dropout"),
    S_INIT("attention_value_scale"),
    S_INIT("attention_multiplier"),
    S_INIT("add_full_attention_sink_bias"),
    S_INIT("add_swa_attention_sink_bias"),
    S_INIT("attn_logit_softcapping"),
    S_INIT("attn_implementation"),
    S_INIT("chunk_size"),
    S_INIT("chunk_size_feed_forward"),
    S_INIT("dense_attention_every_n_layers"),
    S_INIT("embd_pdrop"),
    S_INIT("ep_size"),
    S_INIT("expand"),
    S_INIT("expert_dtype"),
    S_INIT("experts_implementation"),
    S_INIT("hc_mult"),
    S_INIT("hc_sinkhorn_iters"),
    S_INIT("hc_eps"),
    S_INIT("hidden_dropout"),
    S_INIT("hidden_dropout_prob"),
    S_INIT("index_share_for_mtp_iteration"),
    S_INIT("index_skip_topk_offset"),
    S_INIT("index_topk_pattern"),
    S_INIT("indexer_rope_interleave"),
    S_INIT("layer_norm_eps"),
    S_INIT("layer_norm_epsilon"),
    S_INIT("layernorm_epsilon"),
    S_INIT("mamba_hidden_act"),
    S_INIT("mamba_proj_bias"),
    S_INIT("mamba_ssm_cache_dtype"),
    S_INIT("mamba_ssm_dtype"),
    S_INIT("mlp_bias"),
    S_INIT("moe_shared_expert_overlap"),
    S_INIT("mtp_hybrid_override_pattern"),
    S_INIT("mtp_layers_block_type"),
    S_INIT("mtp_num_hidden_layers"),
    S_INIT("mtp_transformer_layers"),
    S_INIT("mtp_use_dedicated_embeddings"),
    S_INIT("n_group"),
    S_INIT("norm_topk_prob"),
    S_INIT("num_expert_group"),
    S_INIT("num_hash_layers"),
    S_INIT("num_logits_to_keep"),
    S_INIT("output_attentions"),
    S_INIT("output_hidden_states"),
    S_INIT("output_router_logits"),
    S_INIT("projector_hidden_act"),
    S_INIT("rescale_layer"),
    S_INIT("topk_group"),
    S_INIT("use_grouped_topk"),
    S_INIT("use_conv_bias"),
    S_INIT("vision_feature_layer"),
    S_INIT("_attn_implementation"),
    S_INIT("tie_word_embeddings"),
    S_INIT("use_cache"),
    S_INIT("mtp_loss_layers"),
    S_INIT("text_config"),
    S_INIT("llm_config"),
    S_INIT("vision_config"),
    S_INIT("audio_config"),
    S_INIT("quantization_config"),
    S_INIT("rope_scaling"),
    S_INIT("rope_parameters"),
    S_INIT("auto_map"),
    S_INIT("architectures"),
    S_INIT("_name_or_path"),
    S_INIT("time_step_rank"),
    S_INIT("max_position_embeddings"),
    S_INIT("original_max_position_embeddings"),
    S_INIT("hidden_size_per_layer_input"),
    S_INIT("pretraining_tp"),
    S_INIT("rms_norm_eps"),
    S_INIT("vocab_size"),
    S_INIT("rotary_dim"),
    S_INIT("partial_rotary_factor"),
    S_INIT("num_beam_groups"),
    S_INIT("use_mamba_kernels"),
};

/* Parts of names of keys that could say what a layer consists of. */
static const struct str structural[] = {
    S_INIT("layer"),  S_INIT("head"),  S_INIT("expert"), S_INIT("attn"),   S_INIT("attention"),
    S_INIT("mlp"),    S_INIT("ffn"),   S_INIT("hidden"), S_INIT("_dim"),   S_INIT("rank"),
    S_INIT("window"), S_INIT("group"), S_INIT("block"),  S_INIT("state"),  S_INIT("conv"),
    S_INIT("kv"),     S_INIT("ratio"), S_INIT("share"),  S_INIT("sparse"), S_INIT("intermediate"),
    S_INIT("lora"),   S_INIT("ssm"),   S_INIT("mamba"),  S_INIT("recurr"), S_INIT("encoder"),
    S_INIT("memory"), S_INIT("proj"),  S_INIT("latent"),
};

/* A value that asks for nothing: null, false, 0, "", [] and {}; -1 stands for "none", too. */
static bool asks_nothing(const struct tree *node)
{
    int64_t value;

    if (model_is_null(node))
        return true;
    if (node->kind == TREE_LIST || node->kind == TREE_MAP)
        return node->n == 0;
    if (node->kind == TREE_BOOL)
        return node->i == 0;
    if (node->kind == TREE_TEXT && !node->is_quoted && str_equal_nocase(node->text, S("false")))
        return true;
    return (model_number(node, &value) && value <= 0) ||
           (node->kind == TREE_REAL && node->f == 0) ||
           (node->kind == TREE_TEXT && node->text.n == 0);
}

static bool is_plain_text(const struct tree *node)
{
    int64_t value;

    return node->kind == TREE_TEXT && !model_number(node, &value) && !model_bool(node);
}

void model_check_keys(struct model_config *r, const struct tree *map)
{
    for (const struct tree *v = map->first; v != NULL && r->status == ST_OK; v = v->next) {
        if (v->key.at == NULL || asks_nothing(v))
            continue;
        bool is_refused = str_is_one_of(v->key, refused_keys, ARRAY_LEN(refused_keys));
        bool is_open = !str_is_one_of(v->key, known_keys, ARRAY_LEN(known_keys)) &&
                       !is_plain_text(v) && STR_ANY(str_contains_nocase, v->key, structural);
        if (is_refused || is_open)
            model_fail(r, v, "\"%.*s\" changes the structure of the model and is not understood",
                       STR_ARGS(v->key));
    }
}
