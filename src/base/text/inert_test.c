#include "base/text/inert.h"

#include "base/testing.h"

static void shows(struct str text, const char *expected)
{
    struct arena arena;

    arena_init(&arena);
    struct str shown = inert_line(&arena, text);
    assert_string_equal(arena_cstr(&arena, shown), expected);
    assert_int_equal(inert_width(text), str_width(shown));
    arena_free(&arena);
}

TEST(harmless_text_is_itself)
{
    static const struct str names[] = {S_INIT("aclnnMatMul_1<float>|`x`"), S_INIT("\xe7\xae\x97"),
                                       S_INIT("caf\xc3\xa9 \xc2\xa0 \xf0\x9f\x98\x80"), S_INIT("")};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_ptr_equal(inert_line(NULL, names[i]).at, names[i].at);
}

TEST(controls_are_shown)
{
    shows(S("\033]0;t\007x"), "\\x1b]0;t\\x07x");
    shows(S("12345678\03312345678"), "12345678\\x1b12345678"); /* behind a whole word of eight */
    shows(S("1234567\177\177"), "1234567\\x7f\\x7f");
    shows(S("a\nb\tc\rd\0e"), "a\\nb\\tc\\rd\\x00e");
    shows(S("\xc2\x9b"
            "31m"),
          "\\u{9b}31m");
}

TEST(what_turns_or_breaks_the_line_is_shown)
{
    /* U+202E a U+2066 b U+200F U+061C */
    static const unsigned char turned[] = {0xe2, 0x80, 0xae, 'a',  0xe2, 0x81, 0xa6,
                                           'b',  0xe2, 0x80, 0x8f, 0xd8, 0x9c};

    shows((struct str){(const char *)turned, sizeof(turned)},
          "\\u{202e}a\\u{2066}b\\u{200f}\\u{61c}");
    shows(S("\xe2\x80\xa8"), "\\u{2028}");
    shows(S("\xe2\x80\x8d"), "\xe2\x80\x8d"); /* a joiner of emoji stays */
}

TEST(bytes_that_are_not_utf8_are_shown_one_by_one)
{
    shows(S("\xff\x80"
            "a"),
          "\\xff\\x80a");
    shows(S("\xc2"), "\\xc2");
    shows(S("\xe7\xae"), "\\xe7\\xae");
    shows(S("\xed\xa0\x80"), "\\xed\\xa0\\x80"); /* half of a pair */
    shows(S("\xc0\x9b"), "\\xc0\\x9b");          /* ESC in two bytes */
}

TEST(layout_keeps_its_lines)
{
    struct text t = {0};

    inert_put(&t, S("a\n\tb\r\n"), INERT_LINES);
    assert_true(str_equal(text_view(&t), S("a\n\tb\\r\n")));
    text_free(&t);
}

/* The pieces end inside of characters; the last one has no beginning. */
TEST(half_a_character_waits_for_its_rest)
{
    static const struct str pieces[] = {S_INIT("ab\xe7"), S_INIT("\xae\x97\xf0\x9f"),
                                        S_INIT("\x98"),   S_INIT("\x80\n"),
                                        S_INIT(""),       S_INIT("\x80\x80\x80\x80.")};
    struct text t = {0}, half = {0};

    for (size_t i = 0; i < ARRAY_LEN(pieces); i++)
        inert_pass(&t, &half, pieces[i]);
    assert_true(
        str_equal(text_view(&t), S("ab\xe7\xae\x97\xf0\x9f\x98\x80\n\\x80\\x80\\x80\\x80.")));
    text_free(&t);
    text_free(&half);
}

static size_t first_mark(struct str s)
{
    uint8_t state = 0;
    size_t i = 0;

    while (i < s.n && !inert_is_mark(&state, s.at[i]))
        i++;
    return i;
}

TEST(only_brackets_of_commands_are_marks)
{
    assert_int_equal(first_mark(S("##[error]x")), 2);
    assert_int_equal(first_mark(S("a ###vso[task.complete]")), 8);
    assert_int_equal(first_mark(S("####teamcity[x]")), 12);
    assert_int_equal(first_mark(S("## [x] ##### a#b[0] #[ ##\n[")), 27);
}

TEST_MAIN("base/text/inert", T(harmless_text_is_itself), T(controls_are_shown),
          T(what_turns_or_breaks_the_line_is_shown),
          T(bytes_that_are_not_utf8_are_shown_one_by_one), T(layout_keeps_its_lines),
          T(half_a_character_waits_for_its_rest), T(only_brackets_of_commands_are_marks))
