#include "input/trace/trace_strings.h"

#include <stdio.h>

#include "base/testing.h"

TEST(equal_texts_of_one_form_share_a_number)
{
    struct trace_strings t;

    trace_strings_init(&t);
    strid a = trace_strings_put(&t, S("alpha"), FORM_TEXT);

    assert_int_equal(trace_strings_put(&t, S(""), FORM_TEXT), 0);
    assert_int_equal(trace_strings_put(&t, S("alpha"), FORM_TEXT), a);
    assert_int_not_equal(trace_strings_put(&t, S("alpha"), FORM_CORE), a);
    assert_int_not_equal(trace_strings_put(&t, S("alphb"), FORM_TEXT), a);
    trace_strings_clear(&t);
    assert_int_equal(trace_strings_put(&t, S("beta"), FORM_TEXT), 1);
    trace_strings_fini(&t);
}

TEST(thousands_of_texts_keep_their_numbers)
{
    static char texts[5000][24];
    struct trace_strings t;

    trace_strings_init(&t);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 5000; i++) {
            size_t n = (size_t)snprintf(texts[i], sizeof(texts[i]), "hcom_send__%d_%d", i % 7, i);
            assert_int_equal(trace_strings_put(&t, (struct str){texts[i], n}, FORM_TEXT), i + 1);
        }
    trace_strings_fini(&t);
}

TEST(texts_of_every_length_are_compared_whole)
{
    const char *const text = "0123456789abcdefghijklmnopqrstuvwxyz";
    char other[40];

    for (size_t n = 1; n <= 36; n++)
        for (size_t k = 0; k < n; k++) {
            memcpy(other, text, n);
            assert_true(trace_same((struct str){text, n}, (struct str){other, n}));
            other[k] ^= 1;
            assert_false(trace_same((struct str){text, n}, (struct str){other, n}));
        }
    assert_false(trace_same(S("a"), S("ab")));
}

TEST_MAIN("input/trace/trace_strings", T(equal_texts_of_one_form_share_a_number),
          T(thousands_of_texts_keep_their_numbers), T(texts_of_every_length_are_compared_whole))
