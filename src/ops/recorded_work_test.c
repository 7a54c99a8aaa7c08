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

/* ---- each rule of work_rules.def against a case by hand ---- */

#define TWO "[2, 2]"
#define ONE "[1, 1]"
#define CONV(stride, padding, dilation, transposed, groups)                                        \
    "[\"\", \"\", \"\", \"" stride "\", \"" padding "\", \"" dilation "\", \"" transposed          \
    "\", \"[0, 0]\", \"" groups "\"]"
#define F1 "float"
#define F3 F1 ";" F1 ";" F1
#define H4 "c10::Half;c10::Half;c10::Half;c10::Half"

static const struct work_case {
    const char *rule, *op, *shapes, *types, *values;
    double flops, bytes;
} cases[] = {
    {"mm", "aten::mm", "4,3;3,5", F3, "", 2 * 4 * 3 * 5, 4 * (12 + 15 + 20)},
    {"mm", "aten::bmm", "2,4,3;2,3,5", F3, "", 2 * 2 * 4 * 3 * 5, 4 * (24 + 30 + 40)},
    /* the second factor turned round: 5 columns of 3 */
    {"mm", "aten::mm", "4,3;5,3", F3, "", 2 * 4 * 3 * 5, 4 * (12 + 15 + 20)},
    /* 9 rows to 2 experts of [3, 5] */
    {"mm", "aten::_grouped_mm", "9,3;2,3,5;2", F3, "", 2 * 9 * 3 * 5, 4 * (27 + 30 + 45)},
    {"mm", "aten::_scaled_mm", "4,16;16,8", "c10::Float8_e4m3fn;c10::Float8_e4m3fn", "",
     2 * 4 * 16 * 8, 64 + 128 + 2 * 32},
    {"addmm", "aten::addmm", "5;4,3;3,5", F3, "", 120, 4 * (12 + 15 + 20)},
    {"addmm", "aten::baddbmm", "2,4,5;2,4,3;2,3,5", F3, "", 240, 4 * (24 + 30 + 40)},
    {"matmul", "aten::matmul", "2,4,3;3,5", F3, "", 240, 4 * (24 + 15 + 40)},
    {"linear", "aten::linear", "4,3;3,3;3", F3, "", 2 * 4 * 3 * 3, 4 * (12 + 9 + 12)},
    /* 1 x 2 x 5 x 5 by 4 filters of 2 x 3 x 3: 3 x 3 places */
    {"convolution", "aten::convolution", "1,2,5,5;4,2,3,3;4", F3,
     CONV(ONE, "[0, 0]", ONE, "False", "1"), 2 * (4 * 3 * 3) * (2 * 9), 4 * (50 + 72 + 36)},
    /* every second place: 2 x 2; a hole between the taps: one place */
    {"convolution", "aten::convolution", "1,2,5,5;4,2,3,3;4", F3,
     CONV(TWO, "[0, 0]", ONE, "False", "1"), 2 * (4 * 2 * 2) * (2 * 9), 4 * (50 + 72 + 16)},
    {"convolution", "aten::convolution", "1,2,5,5;4,2,3,3;4", F3,
     CONV(ONE, "[0, 0]", TWO, "False", "1"), 2 * 4 * (2 * 9), 4 * (50 + 72 + 4)},
    /* two groups of one channel; a margin of 1 keeps 5 x 5 */
    {"convolution", "aten::convolution", "1,2,5,5;4,1,3,3;4", F3, CONV(ONE, ONE, ONE, "False", "2"),
     2 * (4 * 25) * 9, 4 * (50 + 36 + 100)},
    /* transposed, 2 groups: 3 x 3 places of 4 channels spread over 2 x 2 filters of 1 out of each
     * group; (3 - 1) * 2 + 2 = 6 places */
    {"convolution", "aten::convolution", "1,4,3,3;4,1,2,2;2", F3,
     CONV(TWO, "[0, 0]", ONE, "True", "2"), 2 * (4 * 9) * 4, 4 * (36 + 16 + 2 * 36)},
    {"conv2d", "aten::conv1d", "1,2,5;4,2,3;4", F3,
     "[\"\", \"\", \"\", \"[2]\", \"[0]\", \"[1]\", \"1\"]", 2 * (4 * 2) * (2 * 3),
     4 * (10 + 24 + 8)},
    /* the gradient of the output is 1 x 4 x 3 x 3; both other gradients, then one */
    {"convolution_backward", "aten::convolution_backward", "1,4,3,3;1,2,5,5;4,2,3,3", F3, "",
     2 * 2 * (4 * 9) * (2 * 9), 2 * 4 * (36 + 50 + 72)},
    {"convolution_backward", "aten::convolution_backward", "1,4,3,3;1,2,5,5;4,2,3,3", F3,
     "[\"\", \"\", \"\", \"[0]\", \"\", \"\", \"\", \"\", \"\", \"1\", \"[False, True, False]\"]",
     2 * (4 * 9) * (2 * 9), 4 * (36 + 50 + 72)},
    /* 2 queries and 3 keys of 1 x 4 heads, 8 wide; values 16 wide */
    {"attention", "aten::_scaled_dot_product_efficient_attention", "1,4,2,8;1,4,3,8;1,4,3,16", H4,
     "", 2 * (4 * 2 * 3) * (8 + 16), 2 * (64 + 96 + 192 + 128)},
    /* 4 heads of queries, 1 of keys */
    {"attention", "aten::_scaled_dot_product_flash_attention", "1,4,2,8;1,1,3,8;1,1,3,8", H4, "",
     2 * (4 * 2 * 3) * (8 + 8), 2 * (64 + 24 + 24 + 64)},
    {"attention_wrapper", "aten::scaled_dot_product_attention", "1,4,2,8;1,4,2,8;1,4,2,8", H4, "",
     2 * (4 * 2 * 2) * 16, 2 * 4 * 64},
    {"attention_backward", "aten::_scaled_dot_product_flash_attention_backward",
     "1,4,2,8;1,4,2,8;1,4,2,8;1,4,2,8", H4, "", 2 * (4 * 2 * 2) * (3 * 8 + 2 * 8),
     2 * 2 * (4 * 64)},
    /* [4, 1] and [1, 3] make [4, 3]; PyTorch counts the elements of the first */
    {"add", "aten::add", "4,1;1,3", F3, "", 4, 4 * (4 + 3 + 12)},
    {"add", "aten::mul_", "4,3;4,1", F3, "", 0, 4 * (12 + 4 + 12)},
    {"map", "aten::gelu", "4,3", F1, "", 0, 4 * 24},
    {"map", "aten::where", "4,3;4,3;4,1", "bool;float;float", "", 0, 12 + 48 + 16 + 12},
    {"compare", "aten::lt", "4,3;4,3", F3, "", 0, 2 * 48 + 12},
    {"like_first", "aten::_softmax", "4,3", F1, "", 0, 2 * 48},
    {"like_first", "aten::native_layer_norm", "4,3;;3;3", "float;ScalarList;float;float", "", 0,
     4 * (12 + 3 + 3 + 12)},
    {"reduce", "aten::sum", "4,3;;", F1, "[\"\", \"[0]\", \"False\"]", 0, 4 * (12 + 3)},
    {"reduce", "aten::max", "4,3", F1, "", 0, 4 * (12 + 1)},
    {"fill", "aten::zero_", "4,3", F1, "", 0, 48},
    {"copy", "aten::copy_", "4,3;4,3", "float;c10::Half", "", 0, 48 + 24},
    {"rows", "aten::embedding", "9,3;2", "float;long int", "", 0, 2 * (8 + 2 * 12)},
    {"index_kernel", "Index", "9,3;1;1;2", "DT_BF16;INT64;INT64;INT64", "", 0, 2 * (8 + 2 * 6)},
    {"index", "aten::index", "9,3;[2]", "float;TensorList", "", 0, 2 * (8 + 2 * 12)},
    {"select", "aten::index_select", "9,3;;2", "float;Scalar;int", "", 0, 2 * (4 + 2 * 12)},
    {"gather", "aten::gather", "9,3;;2,3", "float;Scalar;long int", "", 0, 6 * (8 + 2 * 4)},
    {"scatter", "aten::scatter_add_", "9,3;;2,3;2,3", "float;Scalar;long int;float", "", 0,
     2 * 108 + 6 * (8 + 2 * 4)},
    {"topk", "aten::topk", "4,9", F1, "[\"\", \"2\"]", 0, 4 * 36 + 4 * 2 * (4 + 8)},
    {"row_gradient", "aten::embedding_dense_backward", "2,3;2", "float;long int",
     "[\"\", \"\", \"9\"]", 0, 24 + 16 + 4 * 27},
    {"mm", "MatMulV2", "4,3;5,3", "DT_BF16;DT_BF16", "", 120, 2 * (12 + 15 + 20)},
    {"rows", "GatherV2", "9,3;2", "DT_BF16;INT64", "", 0, 2 * (8 + 2 * 6)},
    {"halves", "SwiGlu", "4,6", "DT_BF16", "", 0, 2 * (24 + 12)},
    {"twice", "ConcatD", "4,6;4,2", "DT_BF16;DT_BF16", "", 0, 2 * 2 * (24 + 8)},
    {"operands", "_C::silu_and_mul", "4,3;4,6", "c10::Half;c10::Half", "", 0, 2 * (12 + 24)},
};

static bool has_case(const char *rule)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (strcmp(cases[i].rule, rule) == 0)
            return true;
    return false;
}

TEST(each_rule_has_a_case_by_hand)
{
    static const char *const rules[] = {
#define WORK(id, ...) #id,
#include "ops/work_rules.def"
#undef WORK
    };

    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (!has_case(rules[i]))
            fail_msg("no case for the rule %s", rules[i]);
}

TEST(each_case_by_hand_is_what_its_rule_says)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct work_case *c = &cases[i];
        if (flops(c->op, c->shapes, c->values) != c->flops)
            fail_msg("%s %s: %g operations, by hand %g", c->op, c->shapes,
                     flops(c->op, c->shapes, c->values), c->flops);
        if (bytes(c->op, c->shapes, c->types, c->values) != c->bytes)
            fail_msg("%s %s: %g bytes, by hand %g", c->op, c->shapes,
                     bytes(c->op, c->shapes, c->types, c->values), c->bytes);
    }
}

TEST(shapes_of_no_product_are_not_known)
{
    assert_int_equal(
        recorded_work_of(&(struct recorded_call){.op = S("aten::mm"), .shapes = S("4,3;7,5")}).kind,
        RECORDED_WORK_UNKNOWN);
    assert_true(bytes("aten::index", "9,3;[2],[2]", "float;TensorList", "") == 0);
    assert_true(flops("mm", "4,3;3,5", "") == 0); /* of nobody we know */
    assert_true(flops("aten::MatMulV2x", "4,3;3,5", "") == 0);
}

static struct recorded_work estimate(const char *op, const char *shapes)
{
    return recorded_work_estimate(
        &(struct recorded_call){.op = str_of(op), .shapes = str_of(shapes)});
}

TEST(a_guess_takes_an_output_as_large_as_the_input)
{
    struct recorded_work w = estimate("aten::cudnn_convolution", "2,3,8,8;16,3,3,3");

    assert_true(w.is_estimated);
    assert_true(w.flops == 2.0 * (2 * 16 * 64) * 27);
    assert_true(w.moved == 2 * 16 * 64 + 2 * 3 * 64 + 16 * 27);
    assert_true(estimate("aten::conv2d", "2,3,8,8;0,3,3,3").flops == 0);
    assert_true(estimate("aten::conv2d", "2,3,8,8").flops == 0);
    assert_true(estimate("aten::conv2d", "5;5").flops == 0);
    assert_true(estimate("MatMulV2", "128,64;256,64").flops == 2.0 * 128 * 64 * 256);
    assert_false(estimate("aten::mm", "4,3;3,5").is_estimated);
    assert_true(estimate("aten::mm", "4,3;3,5").flops == 120);
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

TEST_MAIN("ops/recorded_work", T(work_is_what_pytorch_counts), T(what_is_not_recorded_is_not_known),
          T(operators_around_others_do_not_add_up), T(bytes_are_the_least_that_has_to_move),
          T(backward_work_is_what_pytorch_counts), T(a_grouped_product_counts_each_row_once),
          T(each_rule_has_a_case_by_hand), T(each_case_by_hand_is_what_its_rule_says),
          T(shapes_of_no_product_are_not_known), T(a_guess_takes_an_output_as_large_as_the_input),
          T(kernels_with_outputs_tell_their_work))
