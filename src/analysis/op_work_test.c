#include "analysis/op_stats.h"

#include "base/testing.h"

static double flops(const char *op, const char *shapes, const char *values)
{
    return op_work_of(str_of(op), str_of(shapes), str_of(values)).flops;
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
    assert_true(op_work_of(S("aten::mm"), S("2,2;2,2"), S("")).is_leaf);
    assert_false(op_work_of(S("aten::scaled_dot_product_attention"),
                            S("2,4,64,64;2,4,64,64;2,4,64,64"), S(""))
                     .is_leaf);
}

TEST_MAIN("op_work", cmocka_unit_test(work_is_what_pytorch_counts),
          cmocka_unit_test(what_is_not_recorded_is_not_known),
          cmocka_unit_test(operators_around_others_do_not_add_up))
