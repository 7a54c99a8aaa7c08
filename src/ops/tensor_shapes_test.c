#include "ops/tensor_shapes.h"

#include "base/testing.h"

static struct tensor_product product(const char *op, const char *shapes)
{
    struct tensor_shapes read = tensor_shapes_read(str_of(shapes));

    return tensor_product_of(str_of(op), &read);
}

TEST(shapes_are_read_with_scalars_between_them)
{
    struct tensor_shapes s = tensor_shapes_read(S("8,1024;;1024,4096"));

    assert_int_equal(s.n, 3);
    assert_int_equal(s.at[1].n, 0);
    assert_true(tensor_shape_elements(&s.at[0]) == 8192);
    assert_true(tensor_shape_elements(&s.at[1]) == 0);
    assert_true(tensor_shape_elements(&tensor_shapes_read(S("8,4;\r\n2,3")).at[1]) == 6);
}

TEST(damaged_shapes_are_no_tensor)
{
    struct tensor_shapes s = tensor_shapes_read(S("8,x;-4,2"));

    assert_int_equal(s.at[0].n, 0);
    assert_int_equal(s.at[1].n, 0);
    assert_int_equal(tensor_shapes_read(S("")).n, 0);
}

TEST(products_count_two_operations_for_each_multiplication)
{
    assert_true(product("aten::mm", "8,16;16,4").flops == 2 * 8 * 16 * 4);
    assert_true(product("aten::mm", "8,16;16,4").elements == 8 * 16 + 16 * 4 + 8 * 4);
    assert_true(product("aten::addmm", "4;8,16;16,4").flops == 2 * 8 * 16 * 4);
    assert_true(product("aten::linear", "2,8,16;4,16").flops == 2 * 2 * 8 * 16 * 4);
    assert_true(product("aten::add", "8,16;16,4").flops == 0);
    assert_true(product("aten::mm", "8").flops == 0);
}

static struct tensor_product convolution(const char *op, const char *shapes)
{
    struct tensor_shapes read = tensor_shapes_read(str_of(shapes));
    struct tensor_shape output;

    return tensor_convolution_of(str_of(op), &read, &output);
}

TEST(convolutions_count_every_tap_of_every_output)
{
    assert_true(convolution("aten::cudnn_convolution", "2,3,8,8;16,3,3,3").flops ==
                2.0 * (2 * 16 * 64) * 27);
    assert_true(convolution("aten::convolution_backward", "2,16,4,4;2,3,8,8;16,3,3,3").flops ==
                2 * 2.0 * (2 * 16 * 16) * 27);
    assert_true(convolution("aten::conv1d", "2,3,8;16,3,3").flops == 2.0 * (2 * 16 * 8) * 9);
    assert_true(convolution("aten::mm", "2,3,8,8;16,3,3,3").flops == 0);
    assert_true(convolution("aten::conv2d", "2,3,8,8;0,3,3,3").flops == 0);
    assert_true(convolution("aten::conv2d", "2,3,8,8").flops == 0);
}

TEST_MAIN("ops/tensor_shapes", T(shapes_are_read_with_scalars_between_them),
          T(damaged_shapes_are_no_tensor), T(products_count_two_operations_for_each_multiplication),
          T(convolutions_count_every_tap_of_every_output))
