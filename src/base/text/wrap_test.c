#include "base/text/wrap.h"

#include "base/testing.h"

static void expect_line(const char *line, size_t width, const char *expected)
{
    struct text t = {0};

    wrap_line(&t, str_of(line), width);
    text_char(&t, '\0');
    assert_string_equal(t.at, expected);
    text_free(&t);
}

TEST(a_line_that_fits_stays)
{
    expect_line("two words", 9, "two words\n");
    expect_line("", 9, "\n");
    expect_line("a line of any length", 0, "a line of any length\n");
}

TEST(lines_break_at_blanks)
{
    expect_line("one two three four", 9, "one two\n  three\n  four\n");
    expect_line("    one two three four", 12, "    one two\n      three\n      four\n");
    expect_line("flags 3.1 % of it", 9,
                "flags\n  3.1 %\n  of it\n"); /* not before a percent sign */
}

TEST(text_behind_a_gap_hangs_under_itself)
{
    expect_line("  -o PATH  write the answer to PATH", 26,
                "  -o PATH  write the\n           answer to PATH\n");
    expect_line("a name that is long  and text", 20, "a name that is long\n  and text\n");
}

TEST(a_long_word_breaks_where_it_has_parts)
{
    expect_line("see some/folder/of/files.json", 16, "see\n  some/folder/\n  of/files.json\n");
    expect_line("abcdefghijkl", 6, "abcdef\n  ghij\n  kl\n");
}

TEST(wide_characters_take_two_and_colour_none)
{
    expect_line("设备空闲时间", 6, "设备空\n  闲时\n  间\n");
    expect_line("\033[1mbold\033[0m word", 9, "\033[1mbold\033[0m word\n");
}

static void expect_short(const char *name, size_t width, const char *expected)
{
    struct text t = {0};

    wrap_shorten(&t, str_of(name), width);
    text_char(&t, '\0');
    assert_string_equal(t.at, expected);
    assert_true(str_width(str_of(t.at)) <= width);
    text_free(&t);
}

TEST(names_lose_their_middle)
{
    expect_short("abc", 3, "abc");
    expect_short("abcdefgh", 5, "ab…gh");
    expect_short("abcdefgh", 4, "a…gh");
    expect_short("设备空闲时间", 7, "设…间");
}

static const struct str heads[] = {S_INIT("name"), S_INIT("count"), S_INIT("what it is for")};
static const struct str cells[] = {S_INIT("a_rather_long_name_of_a_kernel"), S_INIT("12"),
                                   S_INIT("text that takes some more room than there is")};

static void expect_table(size_t width, const char *expected)
{
    struct wrap_column columns[3] = {[1].is_right = true};
    struct text t = {0};

    for (size_t c = 0; c < 3; c++) {
        wrap_widen(&columns[c], heads[c]);
        wrap_widen(&columns[c], cells[c]);
    }
    wrap_fit(columns, 3, width);
    wrap_row(&t, columns, 3, heads);
    wrap_row(&t, columns, 3, cells);
    wrap_left_out(&t, columns, 3, heads, width);
    text_char(&t, '\0');
    assert_string_equal(t.at, expected);
    text_free(&t);
}

TEST(tables_become_narrower_and_then_lose_columns)
{
    expect_table(0, "  name                            count  what it is for\n"
                    "  a_rather_long_name_of_a_kernel     12  text that takes some more room than "
                    "there is\n");
    expect_table(66, "  name                            count  what it is for\n"
                     "  a_rather_long_name_of_a_kernel     12  text that takes some more\n"
                     "                                         room than there is\n");
    expect_table(46, "  name               count  what it is for\n"
                     "  a_rather…a_kernel     12  text that takes\n"
                     "                            some more room\n"
                     "                            than there is\n");
    expect_table(30, "  name           what it is\n"
                     "                 for\n"
                     "  a_rath…kernel  text that\n"
                     "                 takes some\n"
                     "                 more room\n"
                     "                 than there is\n"
                     "  hidden in this width: count\n");
}

TEST(columns_to_drop_go_before_names_are_cut)
{
    struct wrap_column columns[4] = {[1] = {.is_right = true, .drop = 1},
                                     [2] = {.is_right = true, .drop = 2},
                                     [3] = {.is_right = true}};
    static const size_t widths[] = {30, 8, 8, 8};

    for (size_t c = 0; c < 4; c++)
        columns[c].width = widths[c];
    wrap_fit(columns, 4, 50);
    assert_true(columns[2].is_left_out);
    assert_false(columns[1].is_left_out || columns[3].is_left_out);
    assert_true(columns[0].width >= 24);
    wrap_fit(columns, 4, 36);
    assert_true(columns[1].is_left_out);
    assert_false(columns[3].is_left_out);
}

TEST_MAIN("base/text/wrap", T(a_line_that_fits_stays), T(lines_break_at_blanks),
          T(text_behind_a_gap_hangs_under_itself), T(a_long_word_breaks_where_it_has_parts),
          T(wide_characters_take_two_and_colour_none), T(names_lose_their_middle),
          T(tables_become_narrower_and_then_lose_columns),
          T(columns_to_drop_go_before_names_are_cut))
