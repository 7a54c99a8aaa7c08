#include "base/testing.h"
#include "render/render.h"

struct page {
    char text[4096];
    size_t n;
};

static bool to_page(void *ctx, struct str text)
{
    struct page *page = ctx;

    memcpy(page->text + page->n, text.at, text.n);
    page->n += text.n;
    page->text[page->n] = '\0';
    return true;
}

static const struct column columns[] = {
    {"op", COLUMN_TEXT, UNIT_PLAIN},
    {"busy ms", COLUMN_NUMBER, UNIT_MS},
};

TEST(every_block_kind_is_written_and_names_are_escaped)
{
    struct report *r = report_new(LANG_EN, S("rank_0"));
    struct page page = {0};

    report_summary(r, S("2 steps"));
    report_heading(r, S("Steps"));
    report_text(r, S("  All\nof them."));
    struct table *t = report_table(r, columns, ARRAY_LEN(columns));
    table_text(r, t, S("a|b<int>"));
    table_number(t, 83e6);
    struct finding *f = report_finding(r, "TAIL_GAP_HEAVY", PRIORITY_P2, S("step 1"), S("5 ms"));
    finding_cause(r, f, CERTAINTY_POSSIBLE, S("host launch lag"));
    finding_gap(r, f, S("stacks"));
    finding_advice(r, f, S("record stacks"));
    assert_true(render_write(&renderer_markdown, r, &(struct render_options){0},
                             (struct sink){to_page, &page}));
    report_free(r);

    assert_string_equal(page.text, "# rank\\_0\n"
                                   "\n"
                                   "2 steps\n"
                                   "\n"
                                   "## Steps\n"
                                   "\n"
                                   "All of them.\n"
                                   "\n"
                                   "| op | busy ms |\n"
                                   "|---|---:|\n"
                                   "| a\\|b\\<int\\> | 83.00 |\n"
                                   "\n"
                                   "- **P2** `TAIL_GAP_HEAVY` step 1: 5 ms\n"
                                   "  - possible: host launch lag\n"
                                   "  - missing: stacks\n"
                                   "  - try: record stacks\n");
}

TEST_MAIN("render/markdown", T(every_block_kind_is_written_and_names_are_escaped))
