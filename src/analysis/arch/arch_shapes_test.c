#include "analysis/arch/arch_shapes.h"

#include "base/testing.h"

TEST(tables_part_inputs_by_semicolons)
{
    struct shapes s;

    assert_true(shapes_read(S("4096,1024;1024;;2,3,4"), &s));
    assert_int_equal(s.n, 4);
    assert_int_equal(s.at[0].n, 2);
    assert_int_equal(s.at[0].dim[1], 1024);
    assert_int_equal(s.at[2].n, 0);
    assert_int_equal(s.at[3].dim[2], 4);
}

TEST(pytorch_prints_lists)
{
    struct shapes s;

    assert_true(shapes_read(S("[[4, 16, 512, 128], [4, 4, 512, 128], [], []]"), &s));
    assert_int_equal(s.n, 4);
    assert_int_equal(s.at[0].n, 4);
    assert_int_equal(s.at[0].dim[2], 512);
    assert_int_equal(s.at[1].dim[1], 4);
    assert_int_equal(s.at[3].n, 0);
}

TEST(a_list_of_tensors_gives_its_first)
{
    struct shapes s;

    assert_true(shapes_read(S("[[[4, 1], [4, 512]], [7]]"), &s));
    assert_int_equal(s.n, 2);
    assert_int_equal(s.at[0].n, 2);
    assert_int_equal(s.at[0].dim[1], 1);
    assert_int_equal(s.at[1].dim[0], 7);
}

TEST(other_text_is_refused)
{
    struct shapes s;

    assert_false(shapes_read(S(""), &s));
    assert_false(shapes_read(S("a,b"), &s));
    assert_false(shapes_read(S("[[4, x]]"), &s));
    assert_false(shapes_read(S("[[4, 4]"), &s));
    assert_false(shapes_read(S("1,2,3,4,5,6,7,8,9"), &s));
}

TEST_MAIN("analysis/arch/arch_shapes", T(tables_part_inputs_by_semicolons), T(pytorch_prints_lists),
          T(a_list_of_tensors_gives_its_first), T(other_text_is_refused))
