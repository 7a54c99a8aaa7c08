#include "ops/kernel_family.h"

#include "base/testing.h"

static enum kernel_family family(const char *op, const char *kernel, bool is_float)
{
    return kernel_family_of(kernel_family_of_operator(str_of(op)),
                            kernel_family_of_name(str_of(kernel)), is_float);
}

TEST(operators_decide_before_names)
{
    assert_int_equal(family("aten::sum", "void reduce_kernel", false), FAMILY_REDUCE);
    assert_int_equal(family("aten::copy_", "elementwise_kernel", false), FAMILY_LAYOUT);
    assert_int_equal(family("aten::index_select", "elementwise_kernel", false), FAMILY_INDEX_SORT);
    assert_int_equal(family("aten::add", "vectorized_elementwise_kernel", false),
                     FAMILY_ELEMENTWISE);
    assert_int_equal(family("", "something", false), FAMILY_OTHER);
}

TEST(names_decide_under_matrix_products_convolutions_and_attention)
{
    assert_int_equal(family("aten::mm", "sm90_xmma_gemm_f32f32_tf32f32", true), FAMILY_GEMM_TENSOR);
    assert_int_equal(family("aten::mm", "ampere_sgemm_128x64", true), FAMILY_GEMM_SIMT);
    assert_int_equal(family("aten::mm", "ampere_dgemm_128x64", false), FAMILY_GEMM_SIMT);
    assert_int_equal(family("aten::mm", "cublasLt::splitKreduce_kernel", true), FAMILY_GEMM_TENSOR);
    assert_int_equal(family("aten::mm", "some_gemm", true), FAMILY_GEMM_SIMT);
    assert_int_equal(family("aten::mm", "some_gemm", false), FAMILY_GEMM_TENSOR);
    assert_int_equal(family("aten::cudnn_convolution", "fft2d_r2c_32x32", false), FAMILY_CONV);
    assert_int_equal(family("aten::cudnn_convolution", "nchwToNhwcKernel", false), FAMILY_LAYOUT);
    assert_int_equal(family("aten::cudnn_convolution", "pointwise_mult_and_sum_complex", true),
                     FAMILY_CONV);
    assert_int_equal(family("aten::cudnn_convolution", "at::native::elementwise_kernel<2>", true),
                     FAMILY_ELEMENTWISE);
    assert_int_equal(family("aten::scaled_dot_product_attention", "softmax_warp", false),
                     FAMILY_REDUCE);
    assert_int_equal(family("aten::_flash_attention_forward", "run_it", false), FAMILY_ATTENTION);
}

TEST(kernels_of_a_compiler_by_their_shape)
{
    static const struct {
        const char *name;
        enum kernel_family family;
    } rows[] = {
        {"triton_red_fused__to_copy_add_addmm_div_mean_pow_rsqrt_transpose_2", FAMILY_REDUCE},
        {"triton_per_fused_native_layer_norm_0", FAMILY_REDUCE},
        {"triton_poi_fused_addmm_gelu_view_26", FAMILY_ELEMENTWISE},
        {"triton_poi_fused__scaled_dot_product_flash_attention_mul_cat_1", FAMILY_ELEMENTWISE},
        {"triton_poi_fused_0", FAMILY_ELEMENTWISE},
        {"triton_poi_fused__to_copy_1", FAMILY_LAYOUT},
        {"triton_poi_fused__unsafe_view_clone_slice_transpose_11", FAMILY_LAYOUT},
        {"triton_poi_fused_copysign_3", FAMILY_ELEMENTWISE},
        {"triton_tem_fused_addmm_5", FAMILY_GEMM_TENSOR},
        {"triton_tem_fused_flex_attention_1", FAMILY_ATTENTION},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(family("", rows[i].name, false), rows[i].family);
        assert_int_equal(family(rows[i].name, rows[i].name, false), rows[i].family);
    }
    assert_int_equal(family("", "bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2", false),
                     FAMILY_GEMM_TENSOR);
}

TEST_MAIN("ops/kernel_family", T(operators_decide_before_names),
          T(names_decide_under_matrix_products_convolutions_and_attention),
          T(kernels_of_a_compiler_by_their_shape))
