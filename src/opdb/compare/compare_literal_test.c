#include "opdb/compare/compare_literal.h"

#include "base/testing_arena.h"

TEST(pairs_are_names_and_numbers)
{
    struct kernel_share *s;

    assert_int_equal(
        literal_shares(&arena, S("[('A', 9.0), [\"B\", -5], ( 'it\\'s' , '2e1' ),]"), &s), 3);
    assert_str(s[0].kernel, "A");
    assert_true(s[0].us == 9.0 && s[1].us == -5 && s[2].us == 20);
    assert_str(s[1].kernel, "B");
    assert_str(s[2].kernel, "it's");
}

TEST(anything_else_holds_no_pairs)
{
    static const char *const texts[] = {
        "",           "oops(",     "[('A', 1.0, 2)]", "[('A',)]",       "[]",
        "('A', 1.0)", "[('A' 1)]", "[('A', 1)] x",    "[('A', None)]",  "[(1, 2)]",
        "[('A', 1",   "{'A': 1}",  "[('A', nan)]",    "[('A\n', 1.0)]", "[('A\\q', 1.0)]",
        "[[[[]]]]",   "['",        "[('A', 1),,]",
    };
    struct kernel_share *s;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_int_equal(literal_shares(&arena, str_of(texts[i]), &s), 0);
}

TEST(nesting_ends_at_a_depth)
{
    char deep[4096];

    memset(deep, '[', sizeof(deep));
    assert_null(literal_read(&arena, (struct str){deep, sizeof(deep)}));
    memset(deep + LITERAL_DEPTH, ']', LITERAL_DEPTH);
    assert_non_null(literal_read(&arena, (struct str){deep, 2 * (size_t)LITERAL_DEPTH}));
}

TEST(a_text_beyond_the_limit_is_no_literal)
{
    char *text = arena_alloc(&arena, LITERAL_BYTES + 1);

    memset(text, ' ', LITERAL_BYTES + 1);
    text[0] = '[';
    text[LITERAL_BYTES - 1] = ']';
    assert_non_null(literal_read(&arena, (struct str){text, LITERAL_BYTES}));
    text[LITERAL_BYTES] = ']';
    text[LITERAL_BYTES - 1] = ' ';
    assert_null(literal_read(&arena, (struct str){text, LITERAL_BYTES + 1}));
}

TEST(brackets_around_one_value_are_that_value)
{
    const struct literal *l = literal_read(&arena, S("( ( 7 ) )"));

    assert_int_equal(l->kind, LITERAL_NUMBER);
    assert_str(l->text, "7");
    assert_int_equal(literal_read(&arena, S("(7,)"))->kind, LITERAL_TUPLE);
}

TEST(equal_shapes_have_one_key)
{
    assert_str(literal_shapes(&arena, S("[[16, 5120], [5120, 768]]")), "16,5120;5120,768");
    assert_str(literal_shapes(&arena, S(" \"16,5120; 5120,768\"\t")), "16,5120;5120,768");
    assert_str(literal_shapes(&arena, S("[(16, 5120), [7]]")), "16,5120;7");
    assert_str(literal_shapes(&arena, S("16, 151936")), "16,151936");
    assert_str(literal_shapes(&arena, S("[[-1, +2]]")), "-1,2");
}

TEST(empty_lists_give_empty_parts)
{
    assert_str(literal_shapes(&arena, S("")), "");
    assert_str(literal_shapes(&arena, S("\"\"")), "");
    assert_str(literal_shapes(&arena, S("[]")), "");
    assert_str(literal_shapes(&arena, S("[[], [3]]")), ";3");
}

TEST(what_cannot_be_read_stands_for_itself)
{
    assert_str(literal_shapes(&arena, S("not a list")), "notalist");
    assert_str(literal_shapes(&arena, S("[[1, 2]")), "[[1,2]");
    assert_str(literal_shapes(&arena, S("[1, 2]")), "[1,2]");
    assert_str(literal_shapes(&arena, S("[[[1], 2]]")), "[[[1],2]]");
    assert_str(literal_shapes(&arena, S("[[1];[2]]")), "[[1];[2]]");
    assert_str(literal_shapes(&arena, S("N/A")), "N/A");
}

TEST_MAIN("opdb/compare/compare_literal", TA(pairs_are_names_and_numbers),
          TA(anything_else_holds_no_pairs), TA(nesting_ends_at_a_depth),
          TA(a_text_beyond_the_limit_is_no_literal), TA(brackets_around_one_value_are_that_value),
          TA(equal_shapes_have_one_key), TA(empty_lists_give_empty_parts),
          TA(what_cannot_be_read_stands_for_itself))
