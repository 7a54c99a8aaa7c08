#include "analysis/arch/arch_shapes.h"

#include "base/testing.h"

TEST(other_text_is_refused)
{
    struct tensor_shapes s;

    assert_false(arch_shapes_read(S(""), &s));
    assert_false(arch_shapes_read(S("a,b"), &s));
    assert_false(arch_shapes_read(S("[[4, x]]"), &s));
    assert_false(arch_shapes_read(S("[[4, 4]"), &s));
    assert_false(arch_shapes_read(S("1,2,3,4,5,6,7,8,9"), &s));
}

TEST_MAIN("analysis/arch/arch_shapes", T(other_text_is_refused))
