#include "base/formats/markdown.h"

#include <math.h>

#include "base/testing.h"

TEST(a_table_has_heads_and_rows)
{
    struct text t = {0};

    markdown_head(&t, "Name|us");
    markdown_row(&t, "s2", S("a|b\nc"), 1.234);
    markdown_row(&t, "cg", "", 1234567.0);
    markdown_row(&t, "z0", (size_t)3, NAN);
    assert_str(text_view(&t), "| Name | us |\n|---|---|\n| a\\|b\\\\nc | 1.23 |\n"
                              "| " MARKDOWN_DASH " | 1.235e+06 |\n| 3 | " MARKDOWN_DASH " |\n");
    text_free(&t);
}

static void markdown_written(struct str text, const char *expected)
{
    struct text t = {0};

    markdown_line(&t, text);
    assert_true(str_equal(text_view(&t), str_of(expected)));
    text_free(&t);
}

TEST(markup_in_names_is_escaped)
{
    markdown_written(S("<script>x</script><!--"), "&lt;script>x&lt;/script>&lt;!--");
    markdown_written(S("gemm<64> a < b"), "gemm<64> a < b");
    markdown_written(S("![x](http://y) [z]: w a[1]"), "![x\\](http://y) [z\\]: w a[1]");
    markdown_written(S("&lt; &#x202e; a & b"), "&amp;lt; &amp;#x202e; a & b");
    markdown_written(S("a\\|b"), "a\\\\|b");
    markdown_written(S("a\033[2J"), "a\\\\x1b[2J");
}

TEST_MAIN("base/formats/markdown", T(a_table_has_heads_and_rows), T(markup_in_names_is_escaped))
