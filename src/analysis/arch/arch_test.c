#include "analysis/arch/arch.h"

#include "analysis/arch_testing.h"
#include "base/formats/json_write.h"

static const struct arch *arch_test_find(void)
{
    start_study();
    return arch_find(&study, &(struct arch_options){.name = S("dp2_tp8_ep_100k_1k_bs10")});
}

static size_t count_of(struct str text, const char *needle)
{
    size_t n = 0;

    for (;;) {
        size_t at = str_find(text, str_of(needle));
        if (at >= text.n)
            return n;
        n++;
        text = str_part(text, at + 1, text.n);
    }
}

static void expect_ten_sections(const struct arch *a)
{
    struct text md = {0}, json = {0};

    arch_write_md(&study, a, LANG_EN, &md);
    assert_true(arch_write_json(&study, a, text_sink(&json)));
    struct str text = {md.at, md.n};
    assert_int_equal(count_of(text, "\n## "), 10);
    assert_int_equal(count_of(text, "\n## 10. Model Architecture Summary"), 1);
    assert_int_equal(count_of((struct str){json.at, json.n}, "\"schema\": \"strata.arch/1\""), 1);
    text_free(&md);
    text_free(&json);
}

TEST(a_capture_of_nothing_has_ten_sections)
{
    const struct arch *a = arch_test_find();

    assert_true(a->confidence == 0);
    expect_ten_sections(a);
}

TEST(one_kernel_of_no_length_has_ten_sections)
{
    add_on("1", "Odd|`name\n", 5, 0);
    expect_ten_sections(arch_test_find());
}

TEST(one_marker_alone_has_ten_sections)
{
    add_on("1", "FusedInferAttentionScore", INT64_MIN + 1, 0);
    const struct arch *a = arch_test_find();
    assert_int_equal(a->layers->n, 1);
    expect_ten_sections(a);
}

TEST(counts_are_checked_against_layers)
{
    nanos at = 0;

    for (int pass = 0; pass < 3; pass++) {
        at = add_row(at, "GatherV2 RmsNorm RotaryMul");
        for (int layer = 0; layer < 4; layer++)
            at = add_row(at, layer < 3 ? "FusedInferAttentionScore MatMul MoeGatingTopK "
                                         "DispatchFFNCombine RmsNorm MatMul RotaryMul"
                                       : "FusedInferAttentionScore MatMul MoeGatingTopK "
                                         "DispatchFFNCombine RmsNorm MatMul ArgMaxV2");
    }
    const struct arch *a = arch_test_find();
    assert_int_equal(a->n_failed, 0);
    assert_int_equal(a->n_checks, 5);
    assert_str(a->checks[0].op, "FusedInferAttentionScore");
    assert_int_equal(a->checks[0].expected, 4);
    assert_str(a->checks[1].op, "DispatchFFNCombine");
    assert_str(a->checks[3].op, "RotaryMul");
    assert_int_equal(a->checks[3].per_pass[2], 4);
    assert_int_equal(a->checks[4].expected, 1); /* ArgMax */
    expect_ten_sections(a);
}

/* One layer of the second pass lost its router: the count cannot hold. */
TEST(a_missing_kernel_is_a_mismatch)
{
    nanos at = 0;

    for (int pass = 0; pass < 3; pass++) {
        at = add_row(at, "GatherV2");
        for (int layer = 0; layer < 4; layer++)
            at = add_row(at, pass == 1 && layer == 2
                                 ? "FusedInferAttentionScore MatMul DispatchFFNCombine"
                                 : "FusedInferAttentionScore MatMul MoeGatingTopK "
                                   "DispatchFFNCombine");
    }
    const struct arch *a = arch_test_find();
    assert_int_equal(a->n_failed, 1);
    assert_true(a->confidence < 1);
}

TEST(the_folders_name_tells_the_parallelism)
{
    add_row(0, "FusedInferAttentionScore MatMul");
    const struct arch *a = arch_test_find();
    assert_str(a->config->parallelism, "DP2×TP8×EP");
    assert_int_equal(arch_config_get(a->config, "tensor_parallel")->number, 8);
    assert_int_equal(arch_config_get(a->config, "context_length")->number, 100000);
    assert_int_equal(arch_config_get(a->config, "generated_length")->number, 1000);
    assert_int_equal(arch_config_get(a->config, "batch_requested")->number, 10);
    assert_int_equal(arch_config_get(a->config, "tensor_parallel")->origin, ORIGIN_INFERRED);
    assert_null(arch_config_get(a->config, "hidden_size"));
}

static void add_call(const char *name, const char *shapes, nanos begin)
{
    struct lane_key key = {.kind = LANE_THREAD, .name = capture_intern(cap, S("host"))};
    struct attr set =
        attr_text(capture_key(cap, KEY_INPUT_SHAPES), capture_intern(cap, str_of(shapes)));

    capture_slice(cap, &(struct slice){.begin = begin,
                                       .dur = US,
                                       .lane = capture_lane(cap, key),
                                       .name = capture_intern(cap, str_of(name)),
                                       .set = attrs_set(&cap->attrs, &set, 1),
                                       .kind = SLICE_HOST_OP});
}

/* Two layers of a small dense model: the parameters follow from the shapes. */
TEST(shapes_tell_the_sizes_of_a_model)
{
    is_gpu();
    add_call("aten::embedding", "[[1000, 64], [2, 128], [], [], []]", 0);
    for (int i = 0; i < 2; i++) {
        add_call("aten::scaled_dot_product_attention",
                 "[[2, 8, 128, 8], [2, 2, 128, 8], [2, 2, 128, 8]]", (i + 1) * MS);
        add_call("aten::silu", "[[2, 128, 256]]", (i + 1) * MS + 10 * US);
        add_row((i + 1) * MS, "sdpa_flash gemm silu gemm");
    }
    const struct arch *a = arch_test_find();
    assert_int_equal(arch_config_get(a->config, "hidden_size")->number, 64);
    assert_int_equal(arch_config_get(a->config, "attention_heads")->number, 8);
    assert_int_equal(arch_config_get(a->config, "kv_heads")->number, 2);
    assert_int_equal(arch_config_get(a->config, "ffn_size")->number, 256);
    assert_int_equal(arch_config_get(a->config, "vocabulary")->number, 1000);
    /* 2 · (2·64·64 + 2·64·16 + 3·64·256) + 2·64·1000 */
    assert_int_equal(arch_config_get(a->config, "parameters")->number, 246784);
    assert_int_equal(a->markers->prefill, 2); /* 128 query tokens a sequence */
}

/* Three layers of a training step whose attention has these shapes. */
static void add_folded(const char *in, const char *out)
{
    struct lane_key key = {.kind = LANE_STREAM, .name = capture_intern(cap, S("1"))};
    struct attr set[2] = {
        attr_text(capture_key(cap, KEY_INPUT_SHAPES), capture_intern(cap, str_of(in))),
        attr_text(capture_key(cap, KEY_OUTPUT_SHAPES), capture_intern(cap, str_of(out)))};

    for (int i = 0; i < 3; i++) {
        capture_slice(cap, &(struct slice){.begin = i * MS,
                                           .dur = 10 * US,
                                           .lane = capture_lane(cap, key),
                                           .name = capture_intern(cap, S("FlashAttentionScore")),
                                           .set = attrs_set(&cap->attrs, set, ARRAY_LEN(set))});
        add_row(i * MS + 20 * US, "MatMul SwiGlu MatMul");
    }
    for (int i = 0; i < 3; i++)
        add_row((4 + i) * MS, "MatMul SwiGluGrad MatMul FlashAttentionScoreGrad");
}

/* [S, B, heads x size]: 16 heads of 128, 8 of them for keys and values. */
TEST(heads_on_one_axis_with_their_size_are_told_by_the_sums_of_softmax)
{
    add_folded("4096,1,2048;4096,1,1024;4096,1,1024", "1,16,4096,8;1,16,4096,8;0;4096,1,2048");
    const struct arch *a = arch_test_find();

    assert_int_equal(arch_config_get(a->config, "attention_heads")->number, 16);
    assert_int_equal(arch_config_get(a->config, "kv_heads")->number, 8);
    assert_int_equal(arch_config_get(a->config, "head_size")->number, 128);
    assert_int_equal(arch_config_get(a->config, "query_length")->number, 4096);
}

TEST(heads_that_no_output_tells_are_unknown)
{
    add_folded("4096,1,2048;4096,1,1024;4096,1,1024", "4096,1,2048");
    const struct arch *a = arch_test_find();

    assert_null(arch_config_get(a->config, "attention_heads"));
    assert_null(arch_config_get(a->config, "head_size"));
}

TEST(packed_tokens_have_heads_on_an_axis_of_their_own)
{
    add_folded("4096,16,128;4096,8,128;4096,8,128", "4096,16,8;4096,16,8;0;4096,16,128");
    const struct arch *a = arch_test_find();

    assert_int_equal(arch_config_get(a->config, "attention_heads")->number, 16);
    assert_int_equal(arch_config_get(a->config, "kv_heads")->number, 8);
}

TEST(a_training_run_has_no_prefill)
{
    add_folded("1,16,4096,128;1,8,4096,128;1,8,4096,128", "1,16,4096,8");
    const struct arch *a = arch_test_find();

    assert_true(a->layers->is_training);
    assert_int_equal(a->markers->prefill, 0);
    assert_int_equal(a->markers->unknown, 3);
}

/* The kernel's name says prefill, which it is not. */
TEST(names_of_kernels_make_no_prefill_of_training)
{
    nanos at = 0;

    is_gpu();
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < 3; i++)
            at = add_row(at, "flash_fwd_kernel gemm silu gemm");
        for (int i = 0; i < 3; i++)
            at = add_row(at, "gemm silu_backward gemm flash_bwd_kernel");
    }
    assert_int_equal(arch_test_find()->markers->prefill, 0);
}

TEST(queries_and_keys_are_turned_apart)
{
    nanos at = 0;

    for (int pass = 0; pass < 3; pass++) {
        at = add_row(at, "GatherV2 RotaryMul RotaryMul");
        for (int layer = 0; layer < 4; layer++)
            at =
                add_row(at, layer < 3 ? "FusedInferAttentionScore MatMul SwiGlu RotaryMul RotaryMul"
                                      : "FusedInferAttentionScore MatMul SwiGlu");
    }
    const struct arch *a = arch_test_find();
    assert_int_equal(a->n_failed, 0);
    assert_str(a->checks[1].op, "RotaryMul");
    assert_int_equal(a->checks[1].expected, 8);
}

/* `lost`: norms that the second pass does without. */
static const struct arch *gpu_passes(int lost)
{
    nanos at = 0;

    is_gpu();
    for (int pass = 0; pass < 3; pass++) {
        at = add_row(at, "indexSelectSmallIndex");
        for (int layer = 0; layer < 8; layer++)
            at =
                add_row(at, pass == 1 && layer < lost
                                ? "flash_fwd_kernel gemm gemm silu_and_mul gemm"
                                : "flash_fwd_kernel gemm rms_norm gemm silu_and_mul gemm rms_norm");
        at = add_row(at, "ArgMaxOps");
    }
    return arch_test_find();
}

TEST(parts_of_layers_on_a_gpu_are_counted)
{
    const struct arch *a = gpu_passes(0);

    assert_int_equal(a->n_failed, 0);
    assert_int_equal(a->n_checks, 4);
    assert_int_equal(a->checks[1].expected, 16); /* two norms to a layer */
    assert_int_equal(a->checks[2].expected, 8);
}

TEST(layers_that_lack_a_part_on_a_gpu_are_a_mismatch)
{
    assert_int_equal(gpu_passes(3)->n_failed, 1);
}

TEST(copies_of_a_model_are_told_by_their_wrapper)
{
    is_gpu();
    cap->facts.world_size = 8;
    add_call("DistributedDataParallel.forward", "[]", 0);
    add_row(MS, "gemm relu");
    const struct arch *a = arch_test_find();

    assert_int_equal(arch_config_get(a->config, "data_parallel")->number, 8);
}

static void add_group(const char *name, const char *ranks)
{
    vec_push(&cap->comm_groups, ((struct comm_group){.id = capture_intern(cap, S("3")),
                                                     .name = capture_intern(cap, str_of(name)),
                                                     .ranks = capture_intern(cap, str_of(ranks))}));
}

TEST(groups_of_a_mesh_tell_its_degrees)
{
    add_row(0, "MatMul");
    add_group("mesh_dp", "0,4,8,12");
    assert_int_equal(arch_config_get(arch_test_find()->config, "data_parallel")->number, 4);
}

TEST(groups_of_megatron_tell_its_degrees)
{
    add_row(0, "MatMul");
    add_group("DATA_PARALLEL_GROUP_WITH_CP", "0,2,4,6,8,10,12,14");
    add_group("DATA_PARALLEL_GROUP", "0,4,8,12");
    add_group("TENSOR_MODEL_PARALLEL_GROUP", "0,1");
    const struct arch_config *found = arch_test_find()->config;

    assert_int_equal(arch_config_get(found, "data_parallel")->number, 4);
    assert_int_equal(arch_config_get(found, "tensor_parallel")->number, 2);
}

/* The gradient of a gated activation is that of both of its halves. */
TEST(gradients_have_no_sizes_of_the_model)
{
    struct lane_key key = {.kind = LANE_STREAM, .name = capture_intern(cap, S("1"))};

    for (int i = 0; i < 2; i++) {
        struct attr set[2] = {
            attr_text(capture_key(cap, KEY_INPUT_SHAPES), capture_intern(cap, S("8,128"))),
            attr_text(capture_key(cap, KEY_OUTPUT_SHAPES),
                      capture_intern(cap, i == 0 ? S("8,64") : S("8,128")))};
        capture_slice(cap, &(struct slice){
                               .begin = i * MS,
                               .dur = 10 * US,
                               .lane = capture_lane(cap, key),
                               .name = capture_intern(cap, i == 0 ? S("SwiGlu") : S("SwiGluGrad")),
                               .set = attrs_set(&cap->attrs, set, ARRAY_LEN(set))});
    }
    const struct config_item *found = arch_config_get(arch_test_find()->config, "ffn_size");

    assert_int_equal(found->number, 64);
    assert_true(found->confidence == 1);
}

/* A linear layer trained thirty times, without marks: no model of thirty layers. */
TEST(iterations_of_a_program_are_no_sure_layers)
{
    nanos at = 0;

    is_gpu();
    for (int i = 0; i < 30; i++)
        at = add_row(at, "gemm_tn gemm_nn gemm_nt reduce_kernel");
    const struct arch *a = arch_test_find();

    assert_true(a->layers->is_open);
    assert_true(a->confidence < 0.4);
}

TEST_MAIN("analysis/arch/arch", CASE(a_capture_of_nothing_has_ten_sections),
          CASE(one_kernel_of_no_length_has_ten_sections), CASE(one_marker_alone_has_ten_sections),
          CASE(counts_are_checked_against_layers), CASE(a_missing_kernel_is_a_mismatch),
          CASE(the_folders_name_tells_the_parallelism), CASE(shapes_tell_the_sizes_of_a_model),
          CASE(heads_on_one_axis_with_their_size_are_told_by_the_sums_of_softmax),
          CASE(heads_that_no_output_tells_are_unknown),
          CASE(packed_tokens_have_heads_on_an_axis_of_their_own),
          CASE(a_training_run_has_no_prefill), CASE(names_of_kernels_make_no_prefill_of_training),
          CASE(queries_and_keys_are_turned_apart), CASE(parts_of_layers_on_a_gpu_are_counted),
          CASE(layers_that_lack_a_part_on_a_gpu_are_a_mismatch),
          CASE(copies_of_a_model_are_told_by_their_wrapper),
          CASE(groups_of_a_mesh_tell_its_degrees), CASE(groups_of_megatron_tell_its_degrees),
          CASE(gradients_have_no_sizes_of_the_model),
          CASE(iterations_of_a_program_are_no_sure_layers))
