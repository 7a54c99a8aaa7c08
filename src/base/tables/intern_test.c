#include "base/tables/intern.h"

#include <stdio.h>

#include "base/testing.h"

enum { MANY = 100000 };

TEST(ids_come_in_order_of_first_appearance)
{
    struct intern in;

    intern_init(&in);
    assert_int_equal(intern_put(&in, S("b")), 1);
    assert_int_equal(intern_put(&in, S("a")), 2);
    assert_int_equal(intern_put(&in, S("b")), 1);
    assert_int_equal(intern_put(&in, S("B")), 3);
    assert_str(intern_get(&in, 2), "a");
    assert_int_equal(intern_find(&in, S("a")), 2);
    assert_int_equal(intern_find(&in, S("c")), 0);
    intern_fini(&in);
}

TEST(an_expected_text_is_the_same_text)
{
    struct intern in;

    intern_init(&in);
    uint32_t expected = intern_expect(&in, S("MatMul"));
    assert_int_equal(intern_put_expected(&in, S("MatMul"), expected), 1);
    assert_int_equal(intern_put(&in, S("MatMul")), 1);
    assert_int_equal(intern_put_expected(&in, S(""), intern_expect(&in, S(""))), 0);
    intern_fini(&in);
}

TEST(the_empty_string_is_number_zero)
{
    struct intern in;

    intern_init(&in);
    assert_int_equal(intern_find(&in, S("")), 0);
    assert_int_equal(intern_find(&in, S("a")), 0);
    assert_int_equal(intern_put(&in, (struct str){NULL, 0}), 0);
    assert_int_equal(intern_put(&in, S("")), 0);
    assert_str(intern_get(&in, 0), "");
    assert_int_equal(intern_put(&in, S("a")), 1);
    intern_fini(&in);
}

TEST(texts_are_copied_whole_and_end_in_a_nul)
{
    struct intern in;
    char text[] = "Cast\0x";

    intern_init(&in);
    strid whole = intern_put(&in, (struct str){text, 6});
    strid part = intern_put(&in, (struct str){text, 4});
    assert_int_not_equal(whole, part);
    memset(text, '#', sizeof(text));
    assert_str(intern_get(&in, whole), "Cast\0x");
    assert_str(intern_get(&in, part), "Cast");
    assert_int_equal(intern_get(&in, part).at[4], '\0');
    intern_fini(&in);
}

TEST(a_hundred_thousand_names_are_each_kept_once)
{
    struct intern in;
    char name[64];

    intern_init(&in);
    for (int round = 0; round < 2; round++)
        for (unsigned i = 0; i < MANY; i++) {
            int n = sprintf(name, "aclnnAdd_AddAiCore_Add_%u", i);
            assert_int_equal(intern_put(&in, (struct str){name, (size_t)n}), i + 1);
        }
    assert_int_equal(in.strings.n, MANY + 1);
    for (unsigned i = 0; i < MANY; i++) {
        int n = sprintf(name, "aclnnAdd_AddAiCore_Add_%u", i);
        assert_true(str_equal(intern_get(&in, i + 1), (struct str){name, (size_t)n}));
        assert_int_equal(intern_find(&in, (struct str){name, (size_t)n}), i + 1);
    }
    intern_fini(&in);
}

TEST_MAIN("base/tables/intern", T(ids_come_in_order_of_first_appearance),
          T(the_empty_string_is_number_zero), T(texts_are_copied_whole_and_end_in_a_nul),
          T(a_hundred_thousand_names_are_each_kept_once), T(an_expected_text_is_the_same_text))
