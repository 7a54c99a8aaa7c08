#include "ops/short_name.h"

#include "base/testing_arena.h"

TEST(a_short_name_has_neither_type_nor_arguments)
{
    assert_str(short_name_of(S("void gemm_tiled<32>(const float *, int)")), "gemm_tiled<32>");
    assert_str(short_name_of(S("gemm(int)")), "gemm");
    assert_str(short_name_of(S("_Z4gemmPKf")), "_Z4gemmPKf");
    assert_str(short_name_of(S("void f<void (*)(int), 3>(int (*)(char))")), "f<void (*)(int), 3>");
    assert_str(short_name_of(S("")), "");
    assert_str(short_name_of(S("odd)")), "odd)");
}

TEST(a_short_name_stands_names_that_a_tool_cut)
{
    assert_str(
        short_name_of(S("void k<4, unnamed>::f(T &)::[lambda() (instance 1)]::operator ()() "
                        "lambda(B) (instance 1)], array<char *, 2>>(int, T2)")),
        "k<4, unnamed>::f(T &)::[lambda() (instance 1)]::operator ()() lambda(B) (instance 1)], "
        "array<char *, 2>>");
    assert_str(short_name_of(S("void unnamed>::Cat<unnamed>::Op<2>, unsigned int, 4>(T1 *)")),
               "unnamed>::Cat<unnamed>::Op<2>, unsigned int, 4>");
    assert_str(short_name_of(S("void <unnamed>::k<1>(int)")), "<unnamed>::k<1>");
}

TEST(a_bare_name_has_no_scopes)
{
    assert_str(short_name_bare(&arena, S("void at::native::vectorized_elementwise_kernel<4, "
                                         "at::native::CUDAFunctor_add<float>, "
                                         "std::array<char*, 3ul> >(int)")),
               "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, array<char*, 3ul> >");
    assert_str(short_name_bare(&arena, S("nvjet_sm90_tst_64x8")), "nvjet_sm90_tst_64x8");
    assert_str(short_name_bare(&arena, S("void at::native::(anonymous namespace)::cleanup<float, "
                                         "Op<1>::inner>(T3)")),
               "cleanup<float, inner>");
    assert_str(short_name_bare(&arena, S("f<unnamed>::k<1>(int)")), "k<1>");
    assert_str(short_name_bare(&arena, S("a::")), "");
    assert_str(short_name_bare(&arena, S("odd>::x")), "x");
    assert_str(short_name_bare(&arena, S("")), "");
}

TEST_MAIN("ops/short_name", TA(a_short_name_has_neither_type_nor_arguments),
          TA(a_short_name_stands_names_that_a_tool_cut), TA(a_bare_name_has_no_scopes))
