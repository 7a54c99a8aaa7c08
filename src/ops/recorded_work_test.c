#include "ops/recorded_work.h"

#include "base/testing.h"

static double flops(const char *op, const char *shapes, const char *values)
{
    struct recorded_call in = {
        .op = str_of(op), .shapes = str_of(shapes), .values = str_of(values)};

    return recorded_work_of(&in).flops;
}

/* Counts of PyTorch's own profiler and of its counter of operations. */
TEST(work_is_what_pytorch_counts)
{
    static const char strided[] = "[\"\", \"\", \"\", \"[2, 2]\", \"[1, 1]\", \"[1, 1]\", \"4\"]";
    static const char turned[] = "[\"\", \"\", \"\", \"[2, 2]\", \"[1, 1]\", \"[1, 1]\", \"True\", "
                                 "\"[0, 0]\", \"1\"]";
    static const char line[] = "[\"\", \"\", \"\", \"[1]\", \"[0]\", \"[1]\", \"False\", \"[0]\", "
                               "\"1\"]";

    assert_true(flops("aten::addmm", "768;512,256;256,768;;", "") == 201326592);
    assert_true(flops("aten::mm", "512,256;256,704", "") == 184549376);
    assert_true(flops("aten::bmm", "8,50,64;8,64,50", "") == 2560000);
    assert_true(flops("aten::baddbmm", "6,40,56;6,40,96;6,96,56;;", "") == 2580480);
    assert_true(flops("aten::mul", "8,128,256;8,128,1", "") == 262144);
    assert_true(flops("aten::add", "6,40,96;6,40,96;", "") == 23040);
    assert_true(flops("aten::conv2d", "4,32,33,33;32,8,3,3;32;;;;", strided) == 5326848);
    assert_true(flops("aten::convolution", "4,16,100;32,16,5;32;;;;;;", line) == 1966080);
    assert_true(flops("aten::convolution", "2,16,16,16;16,8,4,4;8;;;;;;", turned) == 2097152);
    assert_true(flops("aten::_scaled_dot_product_cudnn_attention",
                      "2,4,64,64;2,4,64,64;2,4,64,64;;", "") == 8388608);
}

TEST(what_is_not_recorded_is_not_known)
{
    assert_true(flops("aten::mm", "", "") == 0);
    assert_true(flops("aten::mm", "5", "") == 0);
    assert_true(flops("aten::conv2d", "4,32,33,33;32,8,3,3;32;;;;", "") == 0);
    assert_true(flops("aten::convolution", "4;5", "[\"\"") == 0);
    assert_true(flops("aten::_scaled_dot_product_flash_attention", "2,4;1", "") == 0);
    assert_true(flops("my::mm", "512,256;256,704", "") == 0);
}

TEST(operators_around_others_do_not_add_up)
{
    struct recorded_call inner = {.op = S("aten::mm"), .shapes = S("2,2;2,2")};
    struct recorded_call outer = {.op = S("aten::scaled_dot_product_attention"),
                                  .shapes = S("2,4,64,64;2,4,64,64;2,4,64,64")};

    assert_true(recorded_work_of(&inner).is_leaf);
    assert_false(recorded_work_of(&outer).is_leaf);
}

static double bytes(const char *op, const char *shapes, const char *types, const char *values)
{
    struct recorded_call in = {.op = str_of(op),
                               .shapes = str_of(shapes),
                               .types = str_of(types),
                               .values = str_of(values)};

    return recorded_work_of(&in).bytes;
}

/* Each input read once, each output written once; the sums are done by hand. */
TEST(bytes_are_the_least_that_has_to_move)
{
    static const char half[] = "c10::BFloat16;c10::BFloat16;c10::BFloat16;;";
    static const char dims[] = "[\"\", \"[-1]\", \"True\", \"\"]";
    static const char two[] = "[\"\", \"2\", \"-1\", \"True\", \"True\"]";
    static const char rows[] = "[\"\", \"\", \"8000\", \"-1\", \"False\"]";

    /* 2 * (512*256 + 256*704 + 512*704) */
    assert_true(bytes("aten::mm", "512,256;256,704", half, "") == 1343488);
    /* q, k, v and the output of 2*4*64*64 halves each */
    assert_true(bytes("aten::_scaled_dot_product_cudnn_attention",
                      "2,4,64,64;2,4,64,64;2,4,64,64;;", half, "") == 4 * 65536);
    /* 8*128*256 + 8*128 floats in, 8*128*256 out */
    assert_true(bytes("aten::mul", "8,128,256;8,128,1", "float;float", "") == 4 * 525312);
    assert_true(bytes("aten::add_", "8,4;4;", "float;float;Scalar", "") == 4 * (32 + 4 + 32));
    /* a byte for each comparison */
    assert_true(bytes("aten::lt", "256,256;", "long int;Scalar", "") == 9 * 65536);
    assert_true(bytes("aten::copy_", "8,16;8,16;", "float;c10::BFloat16;Scalar", "") == 128 * 6);
    assert_true(bytes("aten::fill_", "8,16;", "float;Scalar", "") == 512);
    assert_true(bytes("aten::mean", "2,8,16;;;", "float;ScalarList;Scalar;", dims) ==
                4 * (256 + 16));
    assert_true(bytes("aten::_softmax", "512,8;;", "float;Scalar;Scalar", "") == 4 * 8192);
    assert_true(bytes("aten::native_layer_norm", "1,77,512;;512;512;",
                      "c10::BFloat16;ScalarList;c10::BFloat16;c10::BFloat16;Scalar",
                      "") == 2 * (2 * 77 * 512 + 2 * 512));
    /* 4 numbers of 8 bytes, 4 rows of 512 halves read and written */
    assert_true(bytes("aten::embedding", "8000,512;4;;;", "c10::BFloat16;long int;;;", "") ==
                4 * (8 + 2 * 1024));
    assert_true(bytes("aten::index_select", "8000,512;;4", "c10::BFloat16;Scalar;long int", "") ==
                4 * (8 + 2 * 1024));
    /* 512 rows of 8 floats in, 2 floats with their places out of each */
    assert_true(bytes("aten::topk", "512,8;;;;", "float;Scalar;Scalar;Scalar;Scalar", two) ==
                512 * (32 + 2 * 12));
    assert_true(bytes("aten::embedding_dense_backward", "2,256,512;2,256;;;",
                      "c10::BFloat16;long int;Scalar;Scalar;Scalar",
                      rows) == 2 * 262144 + 8 * 512 + 2 * 8000 * 512);
    /* without types there are no bytes */
    assert_true(bytes("aten::mul", "8,4;8,4", "", "") == 0);
    assert_true(bytes("aten::nonsense", "8,4;8,4", "float;float", "") == 0);
}

/* 5 products of 2*b*h*s*t*d backward; two gradients of a convolution, or one. */
TEST(backward_work_is_what_pytorch_counts)
{
    static const char both[] = "[\"\", \"\", \"\", \"[0]\", \"[1]\", \"[0]\", \"[1]\", \"False\", "
                               "\"[0]\", \"1\", \"[True, True, False]\"]";
    static const char weight[] =
        "[\"\", \"\", \"\", \"[0]\", \"[1]\", \"[0]\", \"[1]\", \"False\", "
        "\"[0]\", \"1\", \"[False, True, False]\"]";

    assert_true(flops("aten::_scaled_dot_product_cudnn_attention_backward",
                      "2,4,64,32;2,4,64,32;2,4,64,32;2,4,64,32;2,4,64,32",
                      "") == 5.0 * 2 * 2 * 4 * 64 * 64 * 32);
    assert_true(flops("aten::convolution_backward", "4,32,96;4,16,100;32,16,5;;;", both) ==
                2 * 1966080);
    assert_true(flops("aten::convolution_backward", "4,32,96;4,16,100;32,16,5;;;", weight) ==
                1966080);
}

/* 3 experts of [64, 32] over 100 rows: 2 * 100 * 64 * 32. */
TEST(a_grouped_product_counts_each_row_once)
{
    assert_true(flops("aten::_grouped_mm", "100,64;3,64,32;3;;", "") == 409600);
}

static struct recorded_work of_kernel(const char *type, const char *in, const char *out)
{
    struct recorded_call inputs = {.op = str_of(type),
                                   .shapes = str_of(in),
                                   .types = S("DT_BF16;DT_BF16;DT_BF16"),
                                   .out_shapes = str_of(out),
                                   .out_types = S("DT_BF16;DT_BF16")};

    return recorded_work_of_kernel(&inputs);
}

TEST(kernels_with_outputs_tell_their_work)
{
    struct recorded_work w = of_kernel("MatMulV3", "128,64;256,64", "128,256");

    assert_int_equal(w.kind, RECORDED_WORK_PRODUCT);
    assert_true(w.flops == 2.0 * 128 * 64 * 256);
    assert_true(w.bytes == 2 * (128 * 64 + 256 * 64 + 128 * 256));
    /* the second factor in fractals of 16 by 16 */
    assert_true(of_kernel("MatMulV2", "128,64;4,16,16,16", "128,256").flops == w.flops);
    /* [batch, length, heads * 64] with 2 heads */
    w = of_kernel("FlashAttentionScore", "3,512,128;3,512,128;3,512,128", "3,2,512,8;3,512,128");
    assert_int_equal(w.kind, RECORDED_WORK_ATTENTION);
    assert_true(w.flops == 4.0 * 3 * 2 * 512 * 512 * 64);
    assert_true(w.head == 64);
    assert_int_equal(of_kernel("Add", "8,4;8,4", "8,4").kind, RECORDED_WORK_MEMORY);
    assert_true(of_kernel("GatherV2", "8000,64;4", "4,64").bytes == 2 * (4 + 2 * 256));
    assert_int_equal(of_kernel("MatMulV2", "128", "").kind, RECORDED_WORK_UNKNOWN);
    assert_int_equal(of_kernel("Conv2D", "1,2,3,3;4,2,1,1", "1,4,3,3").kind, RECORDED_WORK_UNKNOWN);
}

TEST_MAIN("ops/recorded_work", cmocka_unit_test(work_is_what_pytorch_counts),
          cmocka_unit_test(what_is_not_recorded_is_not_known),
          cmocka_unit_test(operators_around_others_do_not_add_up),
          T(bytes_are_the_least_that_has_to_move), T(backward_work_is_what_pytorch_counts),
          T(a_grouped_product_counts_each_row_once), T(kernels_with_outputs_tell_their_work))
