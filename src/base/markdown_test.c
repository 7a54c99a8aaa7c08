#include "base/markdown.h"

#include <math.h>

#include "base/testing.h"

TEST(a_table_has_heads_and_rows)
{
    struct text t = {0};

    markdown_head(&t, "Name|us");
    markdown_row(&t, "s2", S("a|b\nc"), 1.234);
    markdown_row(&t, "cg", "", 1234567.0);
    markdown_row(&t, "z0", (size_t)3, NAN);
    assert_str(text_view(&t), "| Name | us |\n|---|---|\n| a\\|b c | 1.23 |\n"
                              "| " MARKDOWN_DASH " | 1.235e+06 |\n| 3 | " MARKDOWN_DASH " |\n");
    text_free(&t);
}

TEST_MAIN("base/markdown", T(a_table_has_heads_and_rows))
