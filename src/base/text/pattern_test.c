/* Expressions that are found, that are not, and that are none. */
#include "base/text/pattern.h"

#include "base/testing.h"

TEST(a_pattern_is_found_anywhere_in_a_text)
{
    char why[PATTERN_WHY];
    struct pattern *p = pattern_new("b+$", PATTERN_EXACT, why);

    assert_non_null(p);
    assert_true(pattern_finds(p, S("aabb")));
    assert_true(pattern_finds(p, str_part(S("aabbcc"), 0, 4))); /* a view ends without a NUL */
    assert_false(pattern_finds(p, S("aabbcc")));
    assert_false(pattern_finds(p, S("AABB")));
    assert_false(pattern_finds(p, (struct str){NULL, 0}));
    pattern_free(p);
    pattern_free(NULL);
}

TEST(letters_of_any_case_are_found_on_request)
{
    char why[PATTERN_WHY];
    struct pattern *p = pattern_new("Step#[0-9]", PATTERN_ANY_CASE, why);

    assert_true(pattern_finds(p, S("my step#7")));
    pattern_free(p);
}

TEST(what_is_no_expression_is_explained)
{
    char why[PATTERN_WHY] = "";

    assert_null(pattern_new("(", PATTERN_EXACT, why));
    assert_true(why[0] != '\0');
}

TEST_MAIN("base/text/pattern", T(a_pattern_is_found_anywhere_in_a_text),
          T(letters_of_any_case_are_found_on_request), T(what_is_no_expression_is_explained))
