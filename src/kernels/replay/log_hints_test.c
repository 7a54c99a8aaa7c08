#include "kernels/replay/log_hints.h"

#include "base/testing.h"

TEST(each_complaint_is_answered_once)
{
    const char *out[LOG_HINTS_MAX];

    assert_int_equal(log_hints(S("x.cpp:1: error: unknown type name '__biasbuf__'\n"
                                 "use of undeclared identifier 'aicore'"),
                               out),
                     1);
    assert_non_null(strstr(out[0], "--cann-set-env"));
    assert_int_equal(log_hints(S("cannot find -lruntime_camodel\nThe timeout has reached"), out),
                     2);
    assert_non_null(strstr(out[1], "--sim-minutes"));
}

TEST(a_second_word_may_be_needed)
{
    const char *out[LOG_HINTS_MAX];

    assert_int_equal(log_hints(S("107001 rows"), out), 0);
    assert_int_equal(log_hints(S("aclrtSetDevice failed: 107001"), out), 1);
    assert_int_equal(log_hints(S(""), out), 0);
}

TEST_MAIN("kernels/replay/log_hints", T(each_complaint_is_answered_once),
          T(a_second_word_may_be_needed))
