#include "base/text/mangled.h"

#include "base/testing_arena.h"

static void mangled_check(const char *mangled, const char *plain)
{
    struct str got = mangled_plain(str_of(mangled));

    assert_true(str_equal(got, str_of(plain)));
}

TEST(the_last_identifier_is_the_name)
{
    mangled_check("_Z4gemmPfS_i", "gemm");
    mangled_check("_ZN3lib6detail4gemmIfEEvPT_", "gemm");
    mangled_check("_ZL6staticPi", "static");
    mangled_check("_ZNK1a1bEv", "b");
    mangled_check("_Z32ncclDevKernel_AllReduce_Sum_f32_PvS_", "ncclDevKernel_AllReduce_Sum_f32_");
}

TEST(other_names_stay_as_they_are)
{
    mangled_check("gemm_kernel", "gemm_kernel");
    mangled_check("", "");
    mangled_check("_Z", "_Z");
    mangled_check("_Z99short", "_Z99short");
    mangled_check("_ZN", "_ZN");
    mangled_check("_Z99999999999999999999999999x", "_Z99999999999999999999999999x");
}

TEST(people_read_names_without_templates)
{
    static const char *const names[][2] = {
        {"void at::native::add<4, float>(int, float*)", "at::native::add"},
        {"void at::native::(anonymous namespace)::cat<a, 2>(b)", "at::native::cat"},
        {"ns::k<f<g>, h->i>", "ns::k"},
        {"_ZN3lib4gemmIfEEvPT_", "gemm"},
        {"void softmax(float*, int)", "softmax"},
        {"cut<short", "cut"},
        {"a < b", "a < b"},
        {"x (3 of 4)", "x (3 of 4)"},
        {"bool ns::operator<(int)", "bool ns::operator<(int)"},
        {"plain_kernel", "plain_kernel"},
        {"<unnamed>", "<unnamed>"},
        {"", ""},
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct str got = mangled_short(&arena, str_of(names[i][0]));
        assert_true(str_equal(got, str_of(names[i][1])));
    }
}

TEST_MAIN("base/text/mangled", T(the_last_identifier_is_the_name), T(other_names_stay_as_they_are),
          TA(people_read_names_without_templates))
