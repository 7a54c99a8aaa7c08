#include "render/render.h"

#include "base/testing.h"

TEST(xml_has_only_what_it_can_hold)
{
    static const struct junit_case cases[] = {
        {"p", "a<b & \"c\"", "x\033[2J", NULL},
        {"p", "g", "\xff", "1 > 0"},
    };
    struct text xml = {0};

    junit_write(&xml, "t", cases, 2);
    struct str text = text_view(&xml);
    assert_true(str_find(text, S("tests=\"2\" failures=\"1\"")) < text.n);
    assert_true(str_find(text, S("name=\"a&lt;b &amp; &quot;c&quot;\"")) < text.n);
    assert_true(str_find(text, S("message=\"1 &gt; 0\"")) < text.n);
    assert_int_equal(str_find_char(text, '\033'), text.n);
    assert_int_equal(str_find_char(text, '\xff'), text.n);
    text_free(&xml);
}

TEST(annotations_cannot_be_forged)
{
    static const struct junit_case cases[] = {
        {"p", "good", "x", NULL},
        {"p", "--max-idle 5%", "cap", "idle for 9.0 %\n::error::forged"},
    };
    struct text lines = {0};

    junit_annotate(&lines, "a: b, c", cases, 2);
    struct str text = text_view(&lines);
    assert_true(str_starts(text, S("::error title=a%3A b%2C c::cap: --max-idle 5%25: idle for 9.0 "
                                   "%25")));
    assert_int_equal(str_find_char(text, '\n'), text.n - 1); /* one line for the one that failed */
    text_free(&lines);
}

TEST_MAIN("render/junit", T(xml_has_only_what_it_can_hold), T(annotations_cannot_be_forged))
