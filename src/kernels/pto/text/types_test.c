#include "kernels/pto/text/types.h"

#include "base/testing.h"

TEST(every_operation_is_found_by_its_name)
{
    for (unsigned i = PTO_OP_NONE + 1; i < PTO_OP_COUNT; i++)
        assert_int_equal(pto_op_find(str_of(pto_op_name((enum pto_opcode)i))), i);
    assert_int_equal(pto_op_find(S("pto.vadd")), PTO_OP_NONE);
    assert_string_equal(pto_op_name(PTO_OP_NONE), "?");
}

TEST(element_types_have_a_name_and_a_size)
{
    enum pto_dtype t;

    for (unsigned i = PTO_I1; i < PTO_DTYPE_COUNT; i++) {
        assert_true(pto_dtype_find(str_of(pto_dtype_name((enum pto_dtype)i)), &t));
        assert_int_equal(t, i);
        assert_true(pto_dtype_size(t) > 0);
    }
    assert_int_equal(pto_dtype_size(PTO_F4E2M1X2), 1);
    assert_int_equal(pto_dtype_size(PTO_BF16X2), 4);
    assert_int_equal(pto_dtype_size(PTO_INDEX), 8);
    assert_true(pto_dtype_is_float(PTO_HIF8));
    assert_false(pto_dtype_is_float(PTO_U32));
    assert_false(pto_dtype_find(S("f64"), &t));
}

TEST(the_old_name_of_vec_is_ub)
{
    enum pto_space s;

    assert_true(pto_space_find(S("ub"), &s));
    assert_int_equal(s, PTO_VEC);
    assert_true(pto_space_find(S("scaling"), &s));
    assert_string_equal(pto_space_name(s), "scaling");
    assert_false(pto_space_find(S("l1"), &s));
}

TEST(a5_has_a_larger_unified_buffer_and_accumulator)
{
    assert_int_equal(pto_space_size(PTO_A2A3, PTO_VEC), 196608);
    assert_int_equal(pto_space_size(PTO_A5, PTO_VEC), 253952);
    assert_int_equal(pto_space_size(PTO_A5, PTO_ACC), 2 * pto_space_size(PTO_A2A3, PTO_ACC));
    assert_int_equal(pto_space_size(PTO_A5, PTO_GM), 0);
}

TEST(pipes_have_the_numbers_of_the_dialect)
{
    assert_int_equal(PTO_PIPE_FIX, 10);
    assert_string_equal(pto_pipe_name(PTO_PIPE_FIX), "PIPE_FIX");
    assert_string_equal(pto_pipe_name(PTO_PIPE_MTE2), "PIPE_MTE2");
    assert_string_equal(pto_pipe_name(PTO_PIPE_NONE), "?");
}

TEST_MAIN("kernels/pto/text/types", T(every_operation_is_found_by_its_name),
          T(element_types_have_a_name_and_a_size), T(the_old_name_of_vec_is_ub),
          T(a5_has_a_larger_unified_buffer_and_accumulator),
          T(pipes_have_the_numbers_of_the_dialect))
