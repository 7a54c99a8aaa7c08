#include "kernels/pto/text/lex.h"

#include "base/testing.h"

static struct pto_token nth(const char *text, int n)
{
    struct pto_lex lex;
    struct pto_token t;

    pto_lex_open(&lex, str_of(text));
    do
        pto_lex_next(&lex, &t);
    while (n-- > 0);
    return t;
}

TEST(a_name_keeps_its_dashes_but_not_the_arrow)
{
    struct pto_token t = nth("%a-b.c$->", 0);

    assert_int_equal(t.kind, PTO_T_VALUE);
    assert_str(t.text, "a-b.c$");
    assert_int_equal(nth("%a-b.c$->", 1).kind, PTO_T_ARROW);
}

TEST(a_value_of_a_pack_has_its_number)
{
    assert_int_equal(nth("%x#12,", 0).number, 12);
    assert_int_equal(nth("%x:2", 0).number, UINT32_MAX);
    assert_int_equal(nth("%x#99999999999", 0).number, UINT32_MAX - 1);
}

TEST(numbers_are_told_apart)
{
    assert_int_equal(nth("-12", 0).kind, PTO_T_INT);
    assert_int_equal(nth("0x7F80", 0).kind, PTO_T_HEX);
    assert_int_equal(nth("1.5e-03", 0).kind, PTO_T_FLOAT);
    assert_str(nth("1.5e-03 x", 0).text, "1.5e-03");
    assert_int_equal(nth("2e4", 0).kind, PTO_T_FLOAT);
    assert_str(nth("12e", 0).text, "12");
}

TEST(comments_and_lines_are_counted)
{
    struct pto_token t = nth("// one\n\n  %x", 0);

    assert_int_equal(t.line, 3);
    assert_int_equal(t.col, 3);
    assert_int_equal(nth("// only", 0).kind, PTO_T_END);
}

TEST(a_string_ends_on_its_line)
{
    assert_str(nth("\"a\\\"b\" c", 0).text, "a\\\"b");
    assert_int_equal(nth("\"a\nb\"", 0).kind, PTO_T_BAD);
    assert_int_equal(nth("\"a\\", 0).kind, PTO_T_BAD);
    assert_str(nth("@\"odd name\"", 0).text, "odd name");
}

TEST(bytes_that_start_nothing_are_bad_tokens)
{
    assert_int_equal(nth("\x01", 0).kind, PTO_T_BAD);
    assert_int_equal(nth("%", 0).kind, PTO_T_BAD);
    assert_int_equal(nth("", 0).kind, PTO_T_END);
    assert_int_equal(nth("", 5).kind, PTO_T_END);
}

TEST_MAIN("kernels/pto/text/lex", T(a_name_keeps_its_dashes_but_not_the_arrow),
          T(a_value_of_a_pack_has_its_number), T(numbers_are_told_apart),
          T(comments_and_lines_are_counted), T(a_string_ends_on_its_line),
          T(bytes_that_start_nothing_are_bad_tokens))
