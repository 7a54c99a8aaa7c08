#include "analysis/arch/arch_family.h"

#include "analysis/arch/arch_rules.h"
#include "analysis/arch_testing.h"

static const struct arch_op *only_op(void)
{
    start_study();
    const struct arch_ops *ops = arch_ops_find(&study, NULL);
    assert_int_equal(ops->n, 1);
    return &ops->at[0];
}

/* Each name in a capture of its own. */
static struct arch_op told(const char *name, bool gpu)
{
    cap = capture_new();
    cap->facts.vendor = gpu ? VENDOR_NVIDIA : VENDOR_ASCEND;
    add_on("1", name, 0, 10);
    struct arch_op op = *only_op();
    op.name = op.label = (struct str){0};
    study_end(&study);
    capture_free(cap);
    return op;
}

TEST(ascend_operators_have_families)
{
    static const struct {
        const char *name;
        enum kernel_role family;
    } names[] = {
        {"aclnnFusedInferAttentionScoreV3_FusedInferAttentionScore_FusedInferAttentionScore",
         KERNEL_ROLE_ATTENTION},
        {"DispatchFFNCombine", KERNEL_ROLE_MOE_FUSED},
        {"MoeDistributeCombineV2", KERNEL_ROLE_MOE_FUSED},
        {"MoeGatingTopKSoftmax", KERNEL_ROLE_MOE_GATE},
        {"aclnnGroupedMatmulV4_GroupedMatmul_GroupedMatmul", KERNEL_ROLE_MOE_GEMM},
        {"hcom_allReduce__504_0_1", KERNEL_ROLE_COMM},
        {"QuantBatchMatmulV3", KERNEL_ROLE_MATMUL},
        {"AddRmsNormQuant", KERNEL_ROLE_NORM},
        {"split_qkv_rmsnorm_rope_kernel", KERNEL_ROLE_ROPE},
        {"ReshapeAndCacheNdKernel", KERNEL_ROLE_KVCACHE},
        {"SwiGlu", KERNEL_ROLE_ACTIVATION},
        {"DynamicQuant", KERNEL_ROLE_QUANT},
        {"ArgMaxV2", KERNEL_ROLE_SAMPLING},
        {"GatherV2", KERNEL_ROLE_EMBEDDING},
        {"TensorMove", KERNEL_ROLE_ELEMENTWISE},
        {"NonZero", KERNEL_ROLE_OTHER},
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_int_equal(told(names[i].name, false).family, names[i].family);
}

TEST(gpu_kernels_have_families)
{
    static const struct {
        const char *name;
        enum kernel_role family;
    } names[] = {
        {"void flash::flash_fwd_splitkv_kernel<T>(P)", KERNEL_ROLE_ATTENTION},
        {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma", KERNEL_ROLE_ATTENTION},
        {"void vllm::paged_attention_v2_kernel<T>(P)", KERNEL_ROLE_ATTENTION},
        {"void flashinfer::BatchDecodeWithPagedKVCacheKernel<T>(P)", KERNEL_ROLE_ATTENTION},
        {"kernel_unified_attention_2d", KERNEL_ROLE_ATTENTION},
        {"void flashinfer::norm::RMSNormKernel<8u>(P)", KERNEL_ROLE_NORM},
        {"void flashinfer::activation::act_and_mul_kernel<T>(P)", KERNEL_ROLE_ACTIVATION},
        {"void vllm::reshape_and_cache_flash_kernel<T>(P)", KERNEL_ROLE_KVCACHE},
        {"fused_moe_kernel", KERNEL_ROLE_MOE_GEMM},
        {"void vllm::moe::topkGatingSoftmax<4>(P)", KERNEL_ROLE_MOE_GATE},
        {"ncclDevKernel_AllReduce_Sum_bf16", KERNEL_ROLE_COMM},
        {"nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT", KERNEL_ROLE_MATMUL},
        {"void cutlass::Kernel2<gemmLayout>(P)", KERNEL_ROLE_MATMUL}, /* "mmLayout" is not "mla" */
        {"void at::native::indexSelectSmallIndex<T>(P)", KERNEL_ROLE_EMBEDDING},
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_int_equal(told(names[i].name, true).family, names[i].family);
}

TEST(parts_of_attention_are_no_markers)
{
    assert_int_equal(told("flash_fwd_splitkv_kernel", true).marker, MARKER_GPU);
    assert_int_equal(told("flash_fwd_splitkv_combine_kernel", true).marker, MARKER_NONE);
    assert_int_equal(told("paged_attention_v2_reduce_kernel", true).marker, MARKER_NONE);
    assert_int_equal(told("flash_bwd_dq_dk_dv_loop_kernel", true).marker, MARKER_NONE);
    assert_true(told("flash_bwd_dq_dk_dv_loop_kernel", true).is_backward_attention);
    assert_int_equal(told("FlashAttentionScore", false).marker, MARKER_FLASH_SCORE);
    assert_int_equal(told("FlashAttentionScoreGrad", false).marker, MARKER_NONE);
    assert_int_equal(told("LightningIndexer", false).marker, MARKER_NONE);
}

TEST(names_hint_at_the_phase)
{
    assert_int_equal(told("PromptFlashAttention", false).hint, PHASE_PREFILL);
    assert_int_equal(told("IncreFlashAttention", false).hint, PHASE_DECODE);
    assert_int_equal(told("BatchDecodeWithPagedKVCacheKernel", true).hint, PHASE_DECODE);
    assert_int_equal(told("fmha_cutlassF_bf16_aligned", true).hint, PHASE_UNKNOWN);
}

TEST(canonical_names_lose_numbers_and_prefixes)
{
    assert_str(arch_canonical(S("MatMul_12"), S("MatMulV2")), "MatMulV2");
    assert_str(arch_canonical(S("aclnnMatmul_MatMulCommon_MatMulV3"), S("N/A")), "MatMulV3");
    assert_str(arch_canonical(S("Add_17"), S("")), "Add");
    assert_str(arch_canonical(S("42"), S("")), "42");
}

TEST(labels_are_short)
{
    is_gpu();
    add_on("1",
           "void at::native::vectorized_elementwise_kernel<8, at::native::(anonymous "
           "namespace)::silu_kernel(at::TensorIteratorBase&)::{lambda()#1}>(int)",
           0, 10);
    assert_str(only_op()->label, "elementwise:silu");
}

TEST(mangled_names_keep_their_first_words)
{
    is_gpu();
    add_on("1", "_ZN7cutlass13device_kernelIN2at4cudaEEE", 0, 10);
    assert_str(only_op()->label, "cutlass::device_kernel");
}

TEST(a_users_rule_comes_first)
{
    struct arch_rule rule = {KERNEL_ROLE_ATTENTION, PHASE_DECODE, "my_?kernel"};
    struct arch_rules rules = {&rule, 1};

    add_on("1", "MyKernel", 0, 10);
    start_study();
    const struct arch_ops *ops = arch_ops_find(&study, &rules);
    assert_int_equal(ops->at[0].family, KERNEL_ROLE_ATTENTION);
    assert_int_equal(ops->at[0].marker, MARKER_USER);
    assert_int_equal(ops->at[0].hint, PHASE_DECODE);
}

TEST_MAIN("analysis/arch/arch_family", T(ascend_operators_have_families),
          T(gpu_kernels_have_families), T(parts_of_attention_are_no_markers),
          T(names_hint_at_the_phase), T(canonical_names_lose_numbers_and_prefixes),
          CASE(labels_are_short), CASE(mangled_names_keep_their_first_words),
          CASE(a_users_rule_comes_first))
