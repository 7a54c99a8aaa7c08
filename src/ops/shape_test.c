#include "ops/shape.h"

#include "base/testing.h"

TEST(shapes_are_read_with_scalars_between_them)
{
    struct tensor_shapes s = tensor_shapes_read(S("8,1024;;1024,4096"));

    assert_int_equal(s.n, 3);
    assert_int_equal(s.at[1].n, 0);
    assert_true(tensor_elements(&s.at[0]) == 8192);
    assert_true(tensor_elements(&s.at[1]) == 0);
    assert_true(tensor_elements(&tensor_shapes_read(S("8,4;\r\n2,3")).at[1]) == 6);
    s = tensor_shapes_read(S("\"2,3,4;5\""));
    assert_int_equal(s.at[0].dim[2], 4);
    assert_int_equal(s.at[1].dim[0], 5);
    assert_false(s.is_damaged);
}

TEST(pytorch_prints_lists)
{
    struct tensor_shapes s = tensor_shapes_read(S("[[4, 16, 512, 128], [4, 4, 512, 128], [], []]"));

    assert_int_equal(s.n, 4);
    assert_int_equal(s.at[0].n, 4);
    assert_int_equal(s.at[0].dim[2], 512);
    assert_int_equal(s.at[1].dim[1], 4);
    assert_int_equal(s.at[3].n, 0);
    assert_int_equal(s.at[3].list, 0);
    assert_int_equal(tensor_shapes_read(S("[]")).n, 0);
}

TEST(a_list_of_one_tensor_is_that_tensor_and_of_several_none)
{
    static const char *const texts[] = {"[[[4, 1], [4, 512]], [7]]", "[4,1],[4,512];7"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct tensor_shapes s = tensor_shapes_read(str_of(texts[i]));
        assert_int_equal(s.n, 2);
        assert_int_equal(s.at[0].n, 0);
        assert_int_equal(s.at[0].list, 2);
        assert_int_equal(s.at[1].dim[0], 7);
        assert_int_equal(s.at[1].list, 0);
        assert_false(s.is_damaged);
    }
    assert_int_equal(tensor_shapes_read(S("32,512;[7]")).at[1].list, 1);
    assert_int_equal(tensor_shapes_read(S("32,512;[7]")).at[1].dim[0], 7);
    assert_int_equal(tensor_shapes_read(S("2;[],[3]")).at[1].n, 0);
}

TEST(what_is_no_number_is_damaged_and_no_tensor)
{
    static const char *const texts[] = {"a,b",     "[[4, x]]", "[[4, 4]", "1,2,3,4,5,6,7,8,9",
                                        "8,x;4,2", "-4,2",     "8,1.5"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct tensor_shapes s = tensor_shapes_read(str_of(texts[i]));
        assert_true(s.is_damaged);
        assert_int_equal(s.at[0].n, 0);
    }
    assert_int_equal(tensor_shapes_read(S("8,x;4,2")).at[1].n, 2);
    assert_int_equal(tensor_shapes_read(S("")).n, 0);
    assert_false(tensor_shapes_read(S("")).is_damaged);
}

TEST(inputs_beyond_the_eighth_are_left_out)
{
    struct tensor_shapes s = tensor_shapes_read(S("1;2;3;4;5;6;7;8;9;10"));

    assert_int_equal(s.n, SHAPE_INPUTS);
    assert_int_equal(s.at[7].dim[0], 8);
}

TEST(dimensions_count_from_the_end)
{
    struct tensor_shapes s = tensor_shapes_read(S("2,3,5;7"));

    assert_true(tensor_back_dim(&s.at[0], 0) == 5);
    assert_true(tensor_back_dim(&s.at[0], 2) == 2);
    assert_true(tensor_back_dim(&s.at[0], 3) == 1);
    assert_true(tensor_shape_rows(&s.at[0]) == 6);
    assert_true(tensor_shape_rows(&s.at[1]) == 1);
}

TEST_MAIN("ops/shape", T(shapes_are_read_with_scalars_between_them), T(pytorch_prints_lists),
          T(a_list_of_one_tensor_is_that_tensor_and_of_several_none),
          T(what_is_no_number_is_damaged_and_no_tensor), T(inputs_beyond_the_eighth_are_left_out),
          T(dimensions_count_from_the_end))
