#include "base/mangled.h"

#include "base/testing.h"

static void check(const char *mangled, const char *plain)
{
    struct str got = mangled_plain(str_of(mangled));

    assert_true(str_equal(got, str_of(plain)));
}

TEST(the_last_identifier_is_the_name)
{
    check("_Z4gemmPfS_i", "gemm");
    check("_ZN3lib6detail4gemmIfEEvPT_", "gemm");
    check("_ZL6staticPi", "static");
    check("_ZNK1a1bEv", "b");
    check("_Z32ncclDevKernel_AllReduce_Sum_f32_PvS_", "ncclDevKernel_AllReduce_Sum_f32_");
}

TEST(other_names_stay_as_they_are)
{
    check("gemm_kernel", "gemm_kernel");
    check("", "");
    check("_Z", "_Z");
    check("_Z99short", "_Z99short");
    check("_ZN", "_ZN");
    check("_Z99999999999999999999999999x", "_Z99999999999999999999999999x");
}

TEST_MAIN("base/mangled", T(the_last_identifier_is_the_name), T(other_names_stay_as_they_are))
