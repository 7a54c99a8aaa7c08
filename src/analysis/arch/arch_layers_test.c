#include "analysis/arch/arch_layers.h"

#include "analysis/arch_testing.h"

static const char dense[] = "FusedInferAttentionScore MatMul RmsNorm MatMul SwiGlu MatMul";
static const char experts[] = "FusedInferAttentionScore MatMul RmsNorm MoeGatingTopK "
                              "hcom_alltoallv GroupedMatmul SwiGlu GroupedMatmul hcom_alltoallv";
static const char fused[] = "FusedInferAttentionScore MatMul MoeGatingTopK DispatchFFNCombine";

static const struct arch_layers *layers(void)
{
    start_study();
    struct arch_ops *ops = arch_ops_find(&study, NULL);
    return arch_layers_find(&study, ops, arch_markers_find(&study, ops), 0);
}

TEST(an_embedding_begins_a_pass)
{
    nanos at = 0;

    for (int pass = 0; pass < 3; pass++) {
        at = add_row(at, "GatherV2 RmsNorm");
        for (int layer = 0; layer < 4; layer++)
            at = add_row(at, dense);
    }
    const struct arch_layers *l = layers();
    assert_int_equal(l->method, ARCH_MARKER);
    assert_int_equal(l->per_pass, 4);
    assert_int_equal(l->complete, 3);
    assert_int_equal(l->partial, 0);
    assert_int_equal(l->passes[1].first, 26); /* two of prologue, four layers of six before it */
    assert_int_equal(l->at[4].first, 28);
    assert_int_equal(l->at[3].end - l->at[3].first, 6); /* the prologue is the next pass's */
}

TEST(a_gap_parts_passes_when_nothing_else_does)
{
    nanos at = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (int layer = 0; layer < 20; layer++)
            at = add_row(at, dense);
        at += 30 * MS;
    }
    const struct arch_layers *l = layers();
    assert_int_equal(l->per_pass, 20);
    assert_int_equal(l->complete, 2);
}

TEST(what_a_capture_cut_off_is_a_partial_pass)
{
    nanos at = 0;

    for (int layer = 0; layer < 2; layer++)
        at = add_row(at, dense);
    for (int pass = 0; pass < 3; pass++) {
        at = add_row(at, "GatherV2");
        for (int layer = 0; layer < 5; layer++)
            at = add_row(at, dense);
    }
    const struct arch_layers *l = layers();
    assert_int_equal(l->per_pass, 5);
    assert_int_equal(l->complete, 3);
    assert_int_equal(l->partial, 1);
    assert_true(l->passes[0].is_partial);
    assert_int_equal(l->passes[0].layers, 2);
}

/* No border at all: a dense first layer is what recurs. */
TEST(the_period_of_layers_tells_passes)
{
    nanos at = 0;

    for (int pass = 0; pass < 4; pass++) {
        at = add_row(at, dense);
        for (int layer = 0; layer < 2; layer++)
            at = add_row(at, fused);
    }
    const struct arch_layers *l = layers();
    assert_int_equal(l->per_pass, 3);
    assert_int_equal(l->complete, 4);
    assert_true(l->period_match == 1);
}

TEST(equal_layers_without_borders_are_one_pass)
{
    nanos at = 0;

    for (int layer = 0; layer < 12; layer++)
        at = add_row(at, dense);
    const struct arch_layers *l = layers();
    assert_int_equal(l->per_pass, 12);
    assert_int_equal(l->complete, 1);
}

TEST(layers_are_told_by_what_they_hold)
{
    nanos at = add_row(0, dense);

    at = add_row(at, fused);
    at = add_row(at, experts);
    at = add_row(at, "FusedInferAttentionScore MoeDistributeDispatch MoeDistributeCombine");
    at = add_row(at, "FusedInferAttentionScore MoeGatingTopK hcom_allGather GroupedMatmul");
    add_row(at, "FusedInferAttentionScore MoeGatingTopK MatMul ArgMaxV2");
    const struct arch_layers *l = layers();
    static const enum layer_kind kinds[] = {LAYER_DENSE,   LAYER_MOE_DFC, LAYER_MOE_GMM,
                                            LAYER_MOE_MC2, LAYER_MOE_AG,  LAYER_MOE};
    assert_int_equal(l->n, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(l->at[i].kind, kinds[i]);
    assert_true(l->at[5].has_sampling);
    assert_false(l->at[4].has_sampling);
}

/* On a GPU a top-k in every layer routes tokens; one at the end of a pass samples. */
TEST(a_top_k_in_many_layers_is_a_router)
{
    nanos at = 0;

    is_gpu();
    for (int pass = 0; pass < 3; pass++) {
        at = add_row(at, "indexSelectSmallIndex");
        at = add_row(at, "flash_fwd_kernel gemm gemm gemm");
        for (int layer = 0; layer < 3; layer++)
            at = add_row(at, "flash_fwd_kernel gemm gatherTopK gemm gemm");
        at = add_row(at, "ArgMaxOps");
    }
    const struct arch_layers *l = layers();
    assert_int_equal(l->per_pass, 4);
    assert_int_equal(l->at[0].kind, LAYER_DENSE);
    assert_int_equal(l->at[1].kind, LAYER_MOE);
    assert_false(l->at[1].has_sampling);
    assert_true(l->at[3].has_sampling);
}

TEST(a_training_pass_counts_its_layers_once)
{
    nanos at = 0;

    for (int step = 0; step < 2; step++) {
        at = add_row(at, "GatherV2");
        for (int layer = 0; layer < 3; layer++)
            at = add_row(at, "FlashAttentionScore MatMul SwiGlu MatMul");
        at = add_row(at, "CrossEntropyLoss CrossEntropyLossGrad");
        for (int layer = 0; layer < 3; layer++)
            at = add_row(at, "MatMul SwiGluGrad MatMul FlashAttentionScoreGrad");
        at = add_row(at, "ApplyAdamW");
    }
    const struct arch_layers *l = layers();
    assert_true(l->is_training);
    assert_int_equal(l->per_pass, 3);
    assert_int_equal(l->complete, 2);
    assert_int_equal(l->at[2].end - l->at[2].first, 5);             /* and the loss */
    assert_int_equal(l->passes[0].end - l->passes[0].epilogue, 14); /* all that runs backward */
}

/* Two batches to a step: the layers are those of one. */
TEST(gradients_that_accumulate_make_several_passes)
{
    nanos at = 0;

    for (int batch = 0; batch < 6; batch++) {
        for (int layer = 0; layer < 3; layer++)
            at = add_row(at, "FlashAttentionScore MatMul SwiGlu MatMul");
        at = add_row(at, "CrossEntropyLoss CrossEntropyLossGrad");
        for (int layer = 0; layer < 3; layer++)
            at = add_row(at, "MatMul SwiGluGrad MatMul FlashAttentionScoreGrad");
        if (batch % 2 == 1)
            at = add_row(at, "ApplyAdamW");
    }
    const struct arch_layers *l = layers();
    assert_int_equal(l->per_pass, 3);
    assert_int_equal(l->complete, 6);
    assert_false(l->is_seamless);
}

/* Twenty equal layers, a gap, and again: this may be a model of ten that runs twice. */
TEST(passes_of_layers_alone_are_seamless)
{
    nanos at = 0;

    for (int pass = 0; pass < 3; pass++) {
        for (int layer = 0; layer < 20; layer++)
            at = add_row(at, dense);
        at += 30 * MS;
    }
    assert_true(layers()->is_seamless);
}

TEST(without_markers_repetition_tells_blocks)
{
    nanos at = add_row(0, "Embed Start");

    for (int block = 0; block < 8; block++)
        at = add_row(at, "Conv BatchNorm Relu Conv BatchNorm Relu Add");
    add_row(at, "Pool Out");
    const struct arch_layers *l = layers();
    assert_int_equal(l->method, ARCH_REPEAT);
    assert_int_equal(l->per_pass, 8);
    assert_int_equal(l->period, 7);
    assert_int_equal(l->at[0].kind, LAYER_BLOCK);
    assert_int_equal(l->at[0].first, 2);
}

TEST(forward_and_backward_blocks_are_counted_apart)
{
    nanos at = 0;

    for (int block = 0; block < 6; block++)
        at = add_row(at, "Conv BatchNorm Relu");
    at = add_row(at, "Loss");
    for (int block = 0; block < 6; block++)
        at = add_row(at, "ReluGrad BatchNormGrad ConvBackpropInput ConvBackpropFilter");
    const struct arch_layers *l = layers();
    assert_int_equal(l->method, ARCH_REPEAT);
    assert_int_equal(l->forward_per_pass, 6);
    assert_int_equal(l->backward_per_pass, 6);
    assert_int_equal(arch_layers_of_model(l), 6);
}

static size_t layers_of_unfused(int second)
{
    nanos at = 0;

    is_gpu();
    for (int pass = 0; pass < 2; pass++) {
        at = add_row(at, "get_rows fill");
        for (int layer = 0; layer < (pass == 0 ? 6 : second); layer++)
            at = add_row(at, "rms gemm rope gemm softmax gemm add rms gemm silu gemm add");
        at = add_row(at, "rms gemm rope gemm softmax gemm get_rows copy copy"); /* the last */
    }
    return layers()->per_pass;
}

TEST(equal_sequences_of_blocks_are_passes_with_their_last_layer)
{
    assert_int_equal(layers_of_unfused(6), 7);
}

/* Stages of one model. */
TEST(sequences_of_two_lengths_are_one_pass)
{
    assert_int_equal(layers_of_unfused(14), 20);
}

TEST(blocks_that_multiply_nothing_are_no_layers)
{
    nanos at = 0;

    for (int round = 0; round < 12; round++)
        at = add_row(at, "Stencil Sum Update Norm");
    assert_int_equal(layers()->per_pass, 0);
}

TEST(rounds_that_update_weights_are_no_layers)
{
    nanos at = 0;

    for (int step = 0; step < 12; step++)
        at = add_row(at, "MatMul Relu Loss MatMul ReluGrad ApplyAdamW Move");
    assert_true(layers()->per_pass < 2);
}

TEST(a_capture_of_nothing_has_no_layers)
{
    const struct arch_layers *l = layers();

    assert_int_equal(l->method, ARCH_NONE);
    assert_int_equal(l->n, 0);
}

TEST_MAIN("analysis/arch/arch_layers", CASE(an_embedding_begins_a_pass),
          CASE(a_gap_parts_passes_when_nothing_else_does),
          CASE(what_a_capture_cut_off_is_a_partial_pass), CASE(the_period_of_layers_tells_passes),
          CASE(equal_layers_without_borders_are_one_pass), CASE(layers_are_told_by_what_they_hold),
          CASE(a_top_k_in_many_layers_is_a_router), CASE(a_training_pass_counts_its_layers_once),
          CASE(gradients_that_accumulate_make_several_passes),
          CASE(passes_of_layers_alone_are_seamless), CASE(without_markers_repetition_tells_blocks),
          CASE(forward_and_backward_blocks_are_counted_apart),
          CASE(equal_sequences_of_blocks_are_passes_with_their_last_layer),
          CASE(sequences_of_two_lengths_are_one_pass),
          CASE(blocks_that_multiply_nothing_are_no_layers),
          CASE(rounds_that_update_weights_are_no_layers), CASE(a_capture_of_nothing_has_no_layers))
