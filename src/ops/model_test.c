#include "ops/model.h"

#include "base/testing_arena.h"

static enum status parse(const char *config, const char *quant, struct llm *m)
{
    return model_parse(&arena, str_of(config), str_of(quant), "config.json", m, &diag);
}

static struct llm known_model(const char *name)
{
    struct llm m;

    assert_int_equal(model_known(&arena, str_of(name), &m, &diag), ST_OK);
    return m;
}

/* Parameters as published by the makers, in units of 1e9; bytes by hand: 2 x keys x size x 2 bytes
 * x layers, or (latent + rope) x 2 x layers. */
TEST(parameters_and_caches_are_those_that_were_published)
{
    static const struct {
        const char *name;
        double total, active, cache, state;
    } models[] = {
        {"Qwen3-8B", 8190427136, 8190427136, 147456, 0},
        {"meta-llama/Meta-Llama-3-70B", 70552387584, 70552387584, 327680, 0},
        {"Meta-Llama-3.1-405B", 405849243648, 405849243648, 516096, 0},
        {"mixtral", 46702526464, 12879659008, 131072, 0},
        {"Qwen3-235B-A22B", 235092836352, 22189965312, 192512, 0},
        {"DeepSeek-V3", 671025397760, 37551276032, 70272, 0},
        {"Kimi-K2-Instruct", 1026407202816, 32860471296, 70272, 0},
        {"gpt-oss-120b", 116788838400, 5710233600, 36864, 4718592},
        {"Qwen3.5-397B-A17B", 396345589760, 17348280320, 30720, 192061440},
        {"NVIDIA-Nemotron-3-Nano-30B-A3B", 31577554944, 3579691008, 6144, 49082368},
        {"GLM-5.1", 743910014976, 41783525376, 99840, 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(models); i++) {
        struct llm m = known_model(models[i].name);
        struct model_size size = model_size(&m);
        assert_true(size.total == models[i].total);
        assert_true(size.active == models[i].active);
        assert_true(size.cache_bytes == models[i].cache);
        assert_true(size.state_bytes == models[i].state);
    }
}

TEST(layers_are_a_list_of_their_kinds)
{
    struct llm m = known_model("gpt-oss-120b");

    assert_int_equal(m.n_layers, 36);
    assert_int_equal(m.layers[0].attention, MODEL_WINDOW);
    assert_int_equal(m.layers[0].window, 128);
    assert_int_equal(m.layers[1].attention, MODEL_FULL);
    assert_int_equal(m.layers[1].window, 0);
    m = known_model("deepseek-v3");
    assert_int_equal(m.layers[2].feed, MODEL_DENSE);
    assert_int_equal(m.layers[3].feed, MODEL_EXPERTS);
    assert_int_equal(m.layers[60].attention, MODEL_LATENT);
    m = known_model("qwen3.5-397b-a17b");
    assert_int_equal(m.layers[2].attention, MODEL_LINEAR);
    assert_int_equal(m.layers[3].attention, MODEL_FULL);
    m = known_model("nvidia-nemotron-3-nano-30b-a3b");
    assert_int_equal(m.layers[0].attention, MODEL_MAMBA);
    assert_int_equal(m.layers[0].feed, MODEL_NO_FEED);
    assert_int_equal(m.layers[1].attention, MODEL_NO_ATTENTION);
    assert_int_equal(m.layers[1].feed, MODEL_EXPERTS);
    assert_int_equal(m.layers[5].attention, MODEL_FULL);
    /* Three of four layers see what the last indexer before them chose. */
    m = known_model("glm-5.2");
    assert_true(m.layers[0].has_index && m.layers[0].is_indexed);
    assert_true(!m.layers[4].has_index && m.layers[4].is_indexed);
}

#define DENSE                                                                                      \
    "\"hidden_size\": 64, \"num_hidden_layers\": 4, \"num_attention_heads\": 4, "                  \
    "\"num_key_value_heads\": 2, \"intermediate_size\": 128, \"vocab_size\": 100"

TEST(a_configuration_may_lie_inside_another)
{
    struct llm m;

    assert_int_equal(parse("{\"tie_word_embeddings\": true, \"vision_config\": {\"depth\": 9}, "
                           "\"text_config\": {" DENSE ", \"time_step_limit\": [0.0, Infinity]}}",
                           "", &m),
                     ST_OK);
    assert_true(m.is_tied);
    assert_int_equal(m.heads.size, 16);
    /* 4 x (64 x 8 x 16 + 64 x 64 + 3 x 64 x 128) + 64 x 100 */
    assert_true(model_size(&m).total == 4 * (8192 + 4096 + 24576) + 6400);
}

TEST(values_may_be_narrower_than_keys_and_windows_have_heads_of_their_own)
{
    struct llm m;

    assert_int_equal(
        parse("{" DENSE ", \"head_dim\": 24, \"v_head_dim\": 16, \"sliding_window\": 8, "
              "\"swa_num_key_value_heads\": 4, \"hybrid_layer_pattern\": [0, 1, 1, 0]}",
              "", &m),
        ST_OK);
    /* Full: 2 heads of 24 + 16 bytes x 2; windows: 4 heads, 8 tokens. */
    assert_true(model_size(&m).cache_bytes == 2 * 2 * 40 * 2);
    assert_true(model_size(&m).state_bytes == 2 * 4 * 40 * 2 * 8);
}

TEST(a_structure_that_is_not_understood_is_refused)
{
    static const char *const bad[] = {
        "{" DENSE ", \"block_configs\": [{\"ffn\": 1}]}",
        "{" DENSE ", \"attention_k_eq_v\": true}",
        "{" DENSE ", \"num_kv_shared_layers\": 2}",
        "{" DENSE ", \"moe_latent_size\": 1024}",
        "{" DENSE ", \"linear_attn_config\": {\"a\": 1}}",
        "{" DENSE ", \"cross_layer_kv_ratio\": 2}",
        "{" DENSE ", \"layer_types\": [\"full_attention\", \"new\", \"full_attention\", "
        "\"full_attention\"]}",
        "{" DENSE ", \"layer_types\": [\"full_attention\"]}",
        "{" DENSE ", \"hidden_act\": \"gelu\"}",
        "{" DENSE ", \"num_local_experts\": 8}",
        "{" DENSE ", \"hybrid_override_pattern\": \"M*-X\"}",
        "{" DENSE ", \"model_type\": \"gemma4_text\"}",
        "{" DENSE ", \"hybrid_layer_pattern\": [0, 1, 1, 0]}",
        "{\"hidden_size\": -1, \"num_attention_heads\": 99999999999}",
        "{\"hidden_size\": 8}",
        "[1]",
        "{",
        "",
    };
    struct llm m;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_int_not_equal(parse(bad[i], "", &m), ST_OK);
        assert_true(diag.entries.n > 0);
        forget();
    }
}

TEST(keys_that_ask_for_nothing_change_nothing)
{
    struct llm m;

    assert_int_equal(parse("{" DENSE ", \"num_kv_shared_layers\": 0, \"moe_latent_size\": null, "
                           "\"attention_k_eq_v\": false, \"new_head_list\": [], "
                           "\"use_sliding_window\": false, \"sliding_window\": 32}",
                           "", &m),
                     ST_OK);
    assert_int_equal(m.layers[0].attention, MODEL_FULL);
    assert_int_equal(parse("{" DENSE ", \"sliding_window\": 32}", "", &m), ST_OK);
    assert_int_equal(m.layers[0].attention, MODEL_WINDOW);
    /* The first layers have no window. */
    assert_int_equal(parse("{" DENSE ", \"use_sliding_window\": true, \"sliding_window\": 32, "
                           "\"max_window_layers\": 3}",
                           "", &m),
                     ST_OK);
    assert_int_equal(m.layers[2].attention, MODEL_FULL);
    assert_int_equal(m.layers[3].attention, MODEL_WINDOW);
}

static void assert_types(const char *config, const char *quant, const char *attention,
                         const char *gemm, const char *experts, const char *cache)
{
    struct llm m;

    assert_int_equal(parse(config, quant, &m), ST_OK);
    assert_string_equal(m.types.attention->name.at, attention);
    assert_string_equal(m.types.gemm->name.at, gemm);
    assert_string_equal(m.types.experts->name.at, experts);
    assert_string_equal(m.types.cache->name.at, cache);
}

TEST(types_are_those_of_the_files)
{
    assert_types("{" DENSE "}", "", "bfloat16", "bfloat16", "bfloat16", "bfloat16");
    assert_types("{" DENSE ", \"quantization_config\": {\"quant_method\": \"fp8\", "
                 "\"weight_block_size\": [128, 128]}}",
                 "", "fp8_block", "fp8_block", "fp8_block", "bfloat16");
    assert_types("{" DENSE ", \"quantization_config\": {\"quant_method\": \"mxfp4\", "
                 "\"modules_to_not_convert\": [\"model.layers.*.self_attn\"]}}",
                 "", "bfloat16", "bfloat16", "w4a16_mxfp4", "bfloat16");
    assert_types("{" DENSE "}",
                 "{\"quantization\": {\"quant_algo\": \"FP8\", \"kv_cache_quant_algo\": \"FP8\", "
                 "\"exclude_modules\": [\"lm_head\"]}}",
                 "fp8", "fp8", "fp8", "fp8");
    assert_types(
        "{" DENSE "}",
        "{\"quantization\": {\"quant_algo\": \"NVFP4\", \"kv_cache_quant_algo\": \"FP8\", "
        "\"exclude_modules\": [\"model.layers.0.self_attn*\", \"model.layers.1.self_attn*\"]"
        "}}",
        "bfloat16", "nvfp4", "nvfp4", "fp8");
    assert_types("{" DENSE ", \"quantization_config\": {\"config_groups\": {\"group_0\": "
                 "{\"input_activations\": null, \"weights\": {\"num_bits\": 4, \"type\": \"int\", "
                 "\"group_size\": 32}}}, \"ignore\": [\"re:.*self_attn.*\", "
                 "\"re:.*shared_experts.*\"]}}",
                 "", "bfloat16", "bfloat16", "int4_wo", "bfloat16");
    assert_types("{" DENSE "}",
                 "{\"quantization\": {\"quant_algo\": \"MIXED_PRECISION\", \"quantized_layers\": "
                 "{\"model.layers.0.mlp.experts.0.up\": {\"quant_algo\": \"NVFP4\"}, "
                 "\"model.layers.0.self_attn.q_proj\": {\"quant_algo\": \"MXFP8\"}}}}",
                 "mxfp8", "bfloat16", "nvfp4", "bfloat16");
}

TEST(types_are_read_part_by_part)
{
    struct model_types t = model_types_plain();

    assert_int_equal(model_types_read(S("gemm=fp8, moe=w4afp8,kv=fp8"), &t, &diag), ST_OK);
    assert_str(t.attention->name, "fp8");
    assert_str(t.experts->name, "w4afp8");
    assert_str(t.comm->name, "bfloat16");
    assert_int_equal(model_types_read(S("FP4"), &t, &diag), ST_OK);
    assert_str(t.gemm->name, "nvfp4");
    assert_int_not_equal(model_types_read(S("gemm=fp9"), &t, &diag), ST_OK);
    assert_int_not_equal(model_types_read(S("fish=fp8"), &t, &diag), ST_OK);
    assert_true(quant_find(S("nvfp4"))->weight_bytes == 0.5625);
    assert_true(quant_find(S("mxfp4"))->weight_bytes == 0.53125);
}

TEST(names_are_found_however_they_are_spelt)
{
    struct llm m;

    assert_str(known_model("qwen3-8b").name, "Qwen/Qwen3-8B");
    assert_str(known_model("DSV3").name, "deepseek-ai/DeepSeek-V3");
    assert_str(known_model("deepseek_ai deepseek.v3").name, "deepseek-ai/DeepSeek-V3");
    assert_int_equal(model_known(&arena, S("gpt-7"), &m, &diag), ST_NOT_FOUND);
    assert_true(diag.hints.n > 5);
}

TEST_MAIN("ops/model", TA(parameters_and_caches_are_those_that_were_published),
          TA(layers_are_a_list_of_their_kinds), TA(a_configuration_may_lie_inside_another),
          TA(values_may_be_narrower_than_keys_and_windows_have_heads_of_their_own),
          TA(a_structure_that_is_not_understood_is_refused),
          TA(keys_that_ask_for_nothing_change_nothing), TA(types_are_those_of_the_files),
          TA(types_are_read_part_by_part), TA(names_are_found_however_they_are_spelt))
