#include "base/text/text.h"

#include "base/testing.h"

TEST(parts_follow_each_other)
{
    struct text t = {0};

    text_put(&t, S("a"));
    text_char(&t, 'b');
    text_repeat(&t, '-', 3);
    text_format(&t, "%d %s", 7, "end");

    assert_true(str_equal(text_view(&t), S("ab---7 end")));
    text_free(&t);
}

TEST(nothing_is_an_empty_view)
{
    struct text t = {0};

    text_put(&t, S(""));
    text_format(&t, "%s", "");
    text_repeat(&t, ' ', 0);

    assert_int_equal(text_view(&t).n, 0);
    text_free(&t);
}

TEST(a_sink_adds_to_the_text)
{
    struct text t = {0};
    struct sink sink = text_sink(&t);

    assert_true(sink.write(sink.ctx, S("one")));
    assert_true(sink.write(sink.ctx, S(", two")));

    assert_true(str_equal(text_view(&t), S("one, two")));
    text_free(&t);
}

TEST_MAIN("base/text/text", T(parts_follow_each_other), T(nothing_is_an_empty_view),
          T(a_sink_adds_to_the_text))
