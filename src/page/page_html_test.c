#include "page/page_html.h"

#include "base/testing.h"
#include "base/text/text.h"
#include "page/page_json.h"

struct kept {
    struct text out;
    size_t room; /* bytes until the sink fails */
};

static bool kept_write(void *ctx, struct str text)
{
    struct kept *k = ctx;

    if (text.n > k->room)
        return false;
    k->room -= text.n;
    text_put(&k->out, text);
    return true;
}

static void expect_kept(struct kept *k, const char *wanted)
{
    text_char(&k->out, 0);
    assert_string_equal(k->out.at, wanted);
    text_free(&k->out);
}

TEST(no_text_of_a_capture_is_markup)
{
    struct kept k = {.room = 1000};
    struct page_html h = {.sink = {kept_write, &k}};

    page_html_put(&h, S("<b title=\""));
    page_html_text(&h, S("</script><img src=x onerror='f()'>\" & \x1b[31m"));
    page_html_put(&h, S("\">"));
    assert_false(h.has_failed);
    expect_kept(&k, "<b title=\"&lt;/script&gt;&lt;img src=x onerror=&#39;f()&#39;&gt;&quot; &amp; "
                    "\\x1b[31m\">");
}

TEST(nothing_is_written_after_a_failure)
{
    struct kept k = {.room = 3};
    struct page_html h = {.sink = {kept_write, &k}};

    page_html_put(&h, S("abc"));
    page_html_put(&h, S("d"));
    assert_true(h.has_failed);
    k.room = 1000;
    page_html_format(&h, "%s", "more");
    expect_kept(&k, "abc");
}

TEST(json_cannot_end_the_element_it_is_in)
{
    struct kept k = {.room = 1000};
    struct page_json j = {{kept_write, &k}};
    struct sink sink = page_json_sink(&j);

    assert_true(sink.write(sink.ctx, S("{\"name\":\"</script><!-- &\"}")));
    assert_true(sink.write(sink.ctx, S("")));
    expect_kept(&k, "{\"name\":\"\\u003c/script\\u003e\\u003c!-- \\u0026\"}");
    k = (struct kept){.room = 4};
    assert_false(sink.write(sink.ctx, S("ab<c"))); /* the escape has no room */
    expect_kept(&k, "ab");
}

TEST_MAIN("page/page_html", T(no_text_of_a_capture_is_markup),
          T(nothing_is_written_after_a_failure), T(json_cannot_end_the_element_it_is_in))
