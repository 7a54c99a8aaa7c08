#include "opdb/grid/grid_models.h"

#include "opdb/grid_testing.h"

static const struct grid_model *models_find(const char *name, bool *is_alias)
{
    return grid_models_find(&models, str_of(name), is_alias);
}

TEST(names_are_found_however_they_are_spelt)
{
    bool is_alias;

    assert_str(models_find("deepseek-ai/DeepSeek-V3", &is_alias)->key, "deepseekv3");
    assert_false(is_alias);
    assert_str(models_find("Deepseek_AI deepseek.v3", &is_alias)->key, "deepseekv3");
    assert_str(models_find("DSV3", &is_alias)->key, "deepseekv3");
    assert_true(is_alias);
    assert_str(models_find("glm5.1", &is_alias)->id, "zai-org/GLM-5.1");
    assert_true(is_alias);
    assert_null(models_find("gpt", &is_alias));
}

TEST(pairs_are_cut_by_every_parallelism)
{
    bool is_alias;
    struct grid_models one = {models_find("qwen3-32b", &is_alias), 1};
    struct grid_pairs pairs = grid_models_pairs(&arena, &one);

    /* Five sizes of 5120 and of 25600, each both ways round; (5120,5120) comes twice. */
    assert_int_equal(pairs.n, 19);
    assert_int_equal(pairs.at[0].n, 320);
    assert_int_equal(pairs.at[0].k, 5120);
    assert_int_equal(pairs.at[18].n, 25600);
    assert_int_equal(grid_models_expert_pairs(&arena, &one).n, 0);
    assert_false(grid_model_is_mla(one.at) || grid_model_is_moe(one.at));

    one.at = models_find("glm52", &is_alias);
    assert_true(grid_model_is_mla(one.at) && grid_model_is_moe(one.at));
    /* max(1, 2048 / 16) and 6144 / 16. */
    assert_int_equal(grid_models_expert_pairs(&arena, &one).at[0].n, 128);
    assert_int_equal(grid_models_expert_pairs(&arena, &one).at[0].k, 384);
}

static enum status config(const char *text, struct grid_model *out)
{
    return grid_model_config(&arena, scratch_put("config.json", text), S("me/My-Model"), out,
                             &diag);
}

TEST(a_configuration_file_is_a_model)
{
    struct grid_model m;

    assert_int_equal(config("{\"hidden_size\":4096,\"num_attention_heads\":32,"
                            "\"num_key_value_heads\":8,\"intermediate_size\":14336,"
                            "\"q_lora_rank\":null,\"rope_scaling\":{\"a\":[1,2]},"
                            "\"num_hidden_layers\":28,\"vocab_size\":32000}",
                            &m),
                     ST_OK);
    assert_str(m.key, "mymodel");
    assert_int_equal(m.head_dim, 128); /* 4096 / 32 */
    assert_int_equal(m.kv_heads, 8);
    assert_int_equal(m.rope_dim, 64);
    assert_int_equal(m.ep_sizes.n, 1);
    assert_int_equal(m.tp_sizes.n, 5);

    assert_int_equal(
        config("{\"d_model\": 512, \"num_attention_heads\": 8, \"kv_lora_rank\": 64, "
               "\"v_head_dim\": 96, \"qk_nope_head_dim\": 64, \"qk_rope_head_dim\": 32, "
               "\"num_experts\": 6, \"num_experts_per_tok\": 2, "
               "\"moe_intermediate_size\": 128}",
               &m),
        ST_OK);
    assert_true(grid_model_is_mla(&m));
    assert_int_equal(m.head_dim, 96);
    assert_int_equal(m.kv_heads, 8);
    assert_int_equal(m.experts_per_card, 6);
    assert_int_equal(m.ep_sizes.n, 3); /* 1, 2, 4 */
    /* No low rank for queries: no pair with 0. */
    struct grid_models one = {&m, 1};
    struct grid_pairs pairs = grid_models_pairs(&arena, &one);
    for (size_t i = 0; i < pairs.n; i++)
        assert_true(pairs.at[i].n > 0 && pairs.at[i].k > 0);
}

TEST(an_incomplete_configuration_is_refused)
{
    struct grid_model m;

    assert_int_equal(config("{\"num_attention_heads\": 8}", &m), ST_FORMAT);
    assert_int_equal(config("{\"hidden_size\": 8}", &m), ST_FORMAT);
    assert_int_equal(config("{\"hidden_size\": 4, \"num_attention_heads\": 8}", &m), ST_FORMAT);
    assert_int_equal(config("[1]", &m), ST_FORMAT);
    assert_int_equal(config("{", &m), ST_FORMAT);
    assert_int_equal(config("{\"hidden_size\": -1, \"num_attention_heads\": 99999999999}", &m),
                     ST_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(names_are_found_however_they_are_spelt), T(pairs_are_cut_by_every_parallelism),
        T(a_configuration_file_is_a_model), T(an_incomplete_configuration_is_refused)};

    return cmocka_run_group_tests_name("opdb/grid/grid_models", tests, begin, leave);
}
