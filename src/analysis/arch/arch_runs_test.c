#include "analysis/arch/arch_runs.h"

#include "analysis/arch/arch.h"
#include "analysis/arch_testing.h"

static const struct arch *runs_find(void)
{
    is_gpu();
    start_study();
    return arch_find(&study, &(struct arch_options){0});
}

static const char encoder[] =
    "layer_norm gemm gemm gemm flash_fwd_enc gemm layer_norm gemm gelu gemm";
static const char decoder[] = "rms_norm gemm gemm gemm flash_fwd_self gemm rms_norm gemm gemm gemm "
                              "flash_fwd_cross gemm rms_norm gemm silu gemm gemm gemm";

TEST(attention_of_different_forms_in_a_row_are_towers)
{
    nanos at = 0;

    for (int pass = 0; pass < 3; pass++) {
        at = add_row(at, "indexSelect");
        for (int i = 0; i < 5; i++)
            at = add_row(at, encoder);
        for (int i = 0; i < 8; i++)
            at = add_row(at,
                         "layer_norm gemm gemm gemm flash_fwd_vit gemm layer_norm gemm gelu gemm");
    }
    const struct arch *a = runs_find();
    assert_int_equal(a->layers->per_pass, 13);
    assert_int_equal(a->layers->n_runs, 2);
    assert_int_equal(a->layers->runs[0], 5);
    assert_int_equal(a->layers->runs[1], 8);
    assert_true(a->confidence <= 0.7);
}

TEST(forms_that_take_turns_are_one_model)
{
    nanos at = 0;

    for (int pass = 0; pass < 3; pass++) {
        at = add_row(at, "indexSelect");
        for (int i = 0; i < 4; i++) {
            at = add_row(at, encoder);
            at = add_row(at,
                         "layer_norm gemm gemm gemm flash_fwd_full gemm layer_norm gemm gelu gemm");
        }
    }
    const struct arch *a = runs_find();
    assert_int_equal(a->layers->per_pass, 8);
    assert_int_equal(a->layers->n_runs, 1);
}

TEST(self_attention_and_cross_attention_are_one_layer)
{
    nanos at = 0;

    for (int pass = 0; pass < 3; pass++) {
        at = add_row(at, "indexSelect");
        for (int i = 0; i < 6; i++)
            at = add_row(at, encoder);
        for (int i = 0; i < 4; i++)
            at = add_row(at, decoder);
    }
    const struct arch *a = runs_find();
    assert_int_equal(a->layers->per_pass, 10);
    assert_int_equal(a->layers->n_runs, 2);
    assert_int_equal(a->layers->runs[0], 6);
    assert_int_equal(a->layers->runs[1], 4);
    assert_int_equal(a->markers->joined, 12);
}

/* Sliding and full attention with one embedding in front: not two passes of one layer. */
TEST(a_period_under_one_embedding_is_one_pass)
{
    nanos at = add_row(0, "indexSelect");

    for (int i = 0; i < 12; i++)
        at = add_row(at, "rms_norm gemm unified_attention_2d gemm rms_norm gemm silu gemm "
                         "rms_norm gemm unified_attention_3d reduce_segments gemm rms_norm gemm "
                         "silu gemm");
    const struct arch *a = runs_find();
    assert_int_equal(a->layers->per_pass, 24);
    assert_int_equal(a->layers->complete, 1);
}

/* The steps of a diffusion model: a text tower, then 4 + 8 blocks of two kinds, five times. */
TEST(rounds_of_a_loop_are_passes)
{
    nanos at = add_row(0, "indexSelect");

    for (int i = 0; i < 3; i++)
        at = add_row(at, encoder);
    for (int step = 0; step < 5; step++) {
        at = add_row(at, "gemm silu");
        for (int i = 0; i < 12; i++)
            at = add_row(
                at, i < 4 ? "layer_norm gemm gemm flash_fwd_dit gemm layer_norm gemm gelu gemm "
                            "gemm gelu gemm"
                          : "layer_norm gemm flash_fwd_dit gemm gelu gemm");
        at = add_row(at, "layer_norm gemm");
    }
    const struct arch *a = runs_find();
    assert_int_equal(a->layers->per_pass, 12);
    assert_int_equal(a->layers->complete, 5);
    assert_true(a->confidence <= 0.6);
}

TEST(a_gap_under_one_embedding_is_a_stall)
{
    nanos at = add_row(0, "indexSelect");

    for (int i = 0; i < 12; i++) {
        at = add_row(at, encoder);
        if (i == 0)
            at += 50 * MS;
    }
    const struct arch *a = runs_find();
    assert_int_equal(a->layers->per_pass, 12);
}

/* Nothing in the kernels tells that two of three layers have no attention. */
TEST(many_products_to_an_attention_kernel_bound_the_confidence)
{
    nanos at = 0;

    for (int pass = 0; pass < 3; pass++) {
        at = add_row(at, "indexSelect");
        for (int i = 0; i < 3; i++) {
            at = add_row(at, encoder);
            for (int k = 0; k < 2; k++)
                at = add_row(at, "layer_norm gemm conv gemm layer_norm gemm gelu gemm");
        }
    }
    const struct arch *a = runs_find();
    assert_int_equal(a->products, 14);
    assert_true(a->confidence <= 0.6);
}

TEST(a_fused_kernel_is_not_what_stands_around_it)
{
    add_row(0, "triton_red_fused_addmm_fmha_v3_fwd_mean_pow_rsqrt_1 triton_poi_fused_silu_mul_2 "
               "sage_fwd sage_quant_kernel triton_poi_fused_clone_3");
    const struct arch *a = runs_find();
    assert_int_equal(a->ops->at[0].family, KERNEL_ROLE_NORM);
    assert_int_equal(a->ops->at[1].family, KERNEL_ROLE_ACTIVATION);
    assert_int_equal(a->ops->at[2].family, KERNEL_ROLE_ATTENTION);
    assert_int_equal(a->ops->at[3].family, KERNEL_ROLE_QUANT);
    assert_int_equal(a->ops->at[4].family, KERNEL_ROLE_ELEMENTWISE);
}

TEST_MAIN("analysis/arch/arch_runs", CASE(attention_of_different_forms_in_a_row_are_towers),
          CASE(forms_that_take_turns_are_one_model),
          CASE(self_attention_and_cross_attention_are_one_layer),
          CASE(a_period_under_one_embedding_is_one_pass), CASE(rounds_of_a_loop_are_passes),
          CASE(a_gap_under_one_embedding_is_a_stall),
          CASE(many_products_to_an_attention_kernel_bound_the_confidence),
          CASE(a_fused_kernel_is_not_what_stands_around_it))
