#include "base/text/ascii.h"

#include "base/testing.h"

static void ascii_check(const char *from, const char *to)
{
    struct text text = {0};

    ascii_put(&text, str_of(from));
    text_char(&text, '\0');
    assert_string_equal(text.at, to);
    text_free(&text);
}

TEST(signs_become_what_looks_like_them)
{
    ascii_check("", "");
    ascii_check("plain \033[1mbold\033[0m", "plain \033[1mbold\033[0m");
    ascii_check("5 µs – 3 × 4 → 12", "5 us - 3 x 4 > 12");
    ascii_check("├─ a", "+- a");
}

TEST(dots_for_a_middle_take_one_column)
{
    ascii_check("aten::na…kernel", "aten::na~kernel");
    ascii_check("… and 3 more", "... and 3 more");
    ascii_check("more…", "more...");
}

TEST(other_characters_keep_their_columns)
{
    ascii_check("迭代 é", "???? ?");
    ascii_check("\xff", "?");
}

TEST_MAIN("base/text/ascii", T(signs_become_what_looks_like_them),
          T(dots_for_a_middle_take_one_column), T(other_characters_keep_their_columns))
