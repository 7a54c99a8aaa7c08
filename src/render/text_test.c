#include "render/render.h"

#include <math.h>

#include "base/testing.h"

struct page {
    char text[4096];
    size_t n, room;
};

static bool to_page(void *ctx, struct str text)
{
    struct page *page = ctx;

    if (text.n > page->room - page->n)
        return false;
    memcpy(page->text + page->n, text.at, text.n);
    page->n += text.n;
    page->text[page->n] = '\0';
    return true;
}

static const struct column columns[] = {
    {"op", COLUMN_TEXT, UNIT_PLAIN},
    {"busy ms", COLUMN_NUMBER, UNIT_MS},
    {"idle %", COLUMN_NUMBER, UNIT_RATIO},
};

/* Every block kind once. */
static struct report *text_sample(enum lang lang)
{
    struct report *r = report_new(lang, S("rank0"));

    report_summary(r, S("2 steps"));
    report_heading(r, S("Steps"));
    report_text(r, S("All of them."));
    struct table *t = report_table(r, columns, ARRAY_LEN(columns));
    table_text(r, t, S("naïve"));
    table_number(t, 83e6);
    table_number(t, 0.17);
    table_text(r, t, S("x"));
    table_number(t, 123456e6);
    table_number(t, NAN);
    struct finding *f = report_finding(r, "TAIL_GAP_HEAVY", PRIORITY_P2, S("step 1"), S("5 ms"));
    finding_cause(r, f, CERTAINTY_POSSIBLE, S("host launch lag"));
    finding_gap(r, f, S("stacks"));
    finding_advice(r, f, S("record stacks"));
    return r;
}

TEST(every_block_kind_is_laid_out)
{
    struct report *r = text_sample(LANG_EN);
    struct page page = {.room = sizeof(page.text) - 1};

    assert_true(render_write(&renderer_text, r, &(struct render_options){0},
                             (struct sink){to_page, &page}));

    assert_string_equal(page.text, "rank0   2 steps\n"
                                   "\n"
                                   "Steps\n"
                                   "\n"
                                   "All of them.\n"
                                   "\n"
                                   "  op     busy ms  idle %\n"
                                   "  naïve    83.00    17.0\n"
                                   "  x       123456       -\n"
                                   "\n"
                                   "  P2  step 1: 5 ms [TAIL_GAP_HEAVY]\n"
                                   "      possible   host launch lag\n"
                                   "      missing    stacks\n"
                                   "      try        record stacks\n");
    report_free(r);
}

TEST(colour_adds_escape_sequences_and_nothing_else)
{
    struct report *r = text_sample(LANG_EN);
    struct page plain = {.room = sizeof(plain.text) - 1}, painted = plain;
    size_t kept = 0;

    render_write(&renderer_text, r, &(struct render_options){0}, (struct sink){to_page, &plain});
    render_write(&renderer_text, r, &(struct render_options){.color = true},
                 (struct sink){to_page, &painted});
    for (size_t i = 0; i < painted.n; i++) {
        if (painted.text[i] == '\033')
            while (painted.text[i] != 'm')
                i++;
        else
            painted.text[kept++] = painted.text[i];
    }

    assert_true(painted.n > plain.n);
    assert_int_equal(kept, plain.n);
    assert_memory_equal(painted.text, plain.text, kept);
    report_free(r);
}

TEST(a_full_sink_is_reported)
{
    struct report *r = text_sample(LANG_EN);
    struct page page = {.room = 20};

    assert_false(render_write(&renderer_text, r, &(struct render_options){0},
                              (struct sink){to_page, &page}));
    report_free(r);
}

TEST(renderers_are_found_by_name)
{
    assert_ptr_equal(render_find(S("text")), &renderer_text);
    assert_null(render_find(S("papyrus")));
}

TEST(chinese_is_two_columns_wide)
{
    struct report *r = text_sample(LANG_ZH);
    struct page page = {.room = sizeof(page.text) - 1};

    assert_true(render_write(&renderer_text, r, &(struct render_options){0},
                             (struct sink){to_page, &page}));
    assert_non_null(strstr(page.text, "  op     忙碌 ms  空闲 %\n"
                                      "  naïve    83.00    17.0\n"
                                      "  x       123456       -\n"));
    assert_non_null(strstr(page.text, "      可能       host launch lag\n"
                                      "      缺少       stacks\n"
                                      "      建议       record stacks\n"));
    report_free(r);
}

TEST_MAIN("render/text", T(every_block_kind_is_laid_out),
          T(colour_adds_escape_sequences_and_nothing_else), T(a_full_sink_is_reported),
          T(renderers_are_found_by_name), T(chinese_is_two_columns_wide))
