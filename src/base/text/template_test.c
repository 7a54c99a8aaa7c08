/*
 * Holes, choices and repetitions of templates.
 */
#include "base/text/template.h"

#include "base/testing.h"

static void template_check(const char *template, const char *expected)
{
    const struct template_value items[] = {
        {.name = "name", .text = S_INIT("a")},
        {.name = "last", .text = S_INIT("")},
        {.name = "name", .text = S_INIT("b")},
        {.name = "last", .text = S_INIT("yes")},
    };
    const struct template_value values[] = {
        {.name = "who", .text = S_INIT("you")},
        {.name = "list", .items = items, .n = 2, .width = 2},
        {.name = "none"},
        template_flag("name", false),
    };
    struct text out = {0};

    template_fill(&out, str_of(template), values, ARRAY_LEN(values));
    assert_int_equal(out.n, strlen(expected));
    assert_memory_equal(out.at != NULL ? out.at : "", expected, out.n);
    text_free(&out);
}

TEST(holes_are_filled_and_other_signs_stay)
{
    template_check("to @who@, a@b @ @1@", "to you, a@b @ @1@");
    template_check("@who@@who@", "youyou");
    template_check("", "");
}

TEST(lines_are_chosen)
{
    template_check("a\n@if who\nb\n@else\nc\n@end\nd", "a\nb\nd");
    template_check("a\n  @if none\nb\n@else\nc\n  @end\nd\n", "a\nc\nd\n");
    template_check("@if who\n@if none\nx\n@else\ny\n@end\nz\n@end\n", "y\nz\n");
}

TEST(lines_are_repeated_with_their_own_values)
{
    template_check("@each list\n@name@ of @who@\n@if last\nend\n@end\n@end\n",
                   "a of you\nb of you\nend\n");
    template_check("@each none\nx\n@end\n", "");
}

TEST_MAIN("base/text/template", T(holes_are_filled_and_other_signs_stay), T(lines_are_chosen),
          T(lines_are_repeated_with_their_own_values))
