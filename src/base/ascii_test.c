#include "base/ascii.h"

#include "base/testing.h"

static void check(const char *from, const char *to)
{
    struct text text = {0};

    ascii_put(&text, str_of(from));
    text_char(&text, '\0');
    assert_string_equal(text.at, to);
    text_free(&text);
}

static void signs_become_what_looks_like_them(void **state)
{
    (void)state;
    check("", "");
    check("plain \033[1mbold\033[0m", "plain \033[1mbold\033[0m");
    check("5 µs – 3 × 4 → 12", "5 us - 3 x 4 > 12");
    check("├─ a", "+- a");
}

static void dots_for_a_middle_take_one_column(void **state)
{
    (void)state;
    check("aten::na…kernel", "aten::na~kernel");
    check("… and 3 more", "... and 3 more");
    check("more…", "more...");
}

static void other_characters_keep_their_columns(void **state)
{
    (void)state;
    check("迭代 é", "???? ?");
    check("\xff", "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signs_become_what_looks_like_them),
        cmocka_unit_test(dots_for_a_middle_take_one_column),
        cmocka_unit_test(other_characters_keep_their_columns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
