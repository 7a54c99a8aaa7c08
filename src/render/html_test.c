#include "render/render.h"

#include "base/testing.h"
#include "base/text/text.h"

/* Every kind of block once. */
static struct report *html_make(void)
{
    static const struct column columns[] = {
        {"kernel", COLUMN_TEXT, UNIT_PLAIN},
        {"calls", COLUMN_RIGHT, UNIT_PLAIN},
        {"busy ms", COLUMN_NUMBER, UNIT_MS},
    };
    struct report *r = report_new(LANG_EN, S("run <1>"));

    report_summary(r, S("2 steps"));
    report_heading(r, S("Where"));
    report_text(r, S("a & b"));
    report_line(r, "%d lines", 2);
    report_fact(r, "span", S("3 ms"));
    report_fact(r, "", S("of 4"));
    struct table *t = report_table(r, columns, ARRAY_LEN(columns));
    table_text(r, t, S("gemm,\"x\""));
    table_text(r, t, S("7"));
    table_number(t, 1500000);
    struct finding *f = report_finding(r, "IDLE", PRIORITY_P1, S("step 3"), S("waits"));
    finding_cause(r, f, CERTAINTY_POSSIBLE, S("sync"));
    finding_gap(r, f, S("stacks"));
    finding_advice(r, f, S("look"));
    return r;
}

static void assert_written(const struct renderer *renderer, const char *want)
{
    struct report *r = html_make();
    struct text out = {0};

    assert_true(render_write(renderer, r, &(struct render_options){0}, text_sink(&out)));
    text_char(&out, '\0');
    assert_string_equal(strstr(out.at, "<body>") != NULL ? strstr(out.at, "<body>") : out.at, want);
    text_free(&out);
    report_free(r);
}

TEST(a_page_has_every_block_and_escapes_text)
{
    assert_written(
        &renderer_html,
        "<body>\n<h1>run &lt;1&gt;</h1>\n<p>2 steps</p><h2>Where</h2>\n<p>a &amp; b</p>\n"
        "<p>2 lines</p>\n<dl>\n<dt>span</dt><dd>3 ms</dd>\n<dt></dt><dd>of 4</dd>\n"
        "</dl>\n\n<table>\n<tr><th>kernel</th><th class=n>calls</th>"
        "<th class=n>busy ms</th></tr>\n<tr><td>gemm,&quot;x&quot;</td>"
        "<td class=n>7</td><td class=n>1.500</td></tr>\n</table>\n\n<ul>\n"
        "<li><b>P1</b> <code>IDLE</code> step 3: waits<ul><li><i>possible</i> sync</li>"
        "<li><i>missing</i> stacks</li><li><i>try</i> look</li></ul></li>\n</ul>\n"
        "</body></html>\n");
}

TEST(csv_has_the_tables)
{
    assert_written(&renderer_table, "kernel,calls,busy ms\n\"gemm,\"\"x\"\"\",7,1.500\n");
}

TEST(text_has_facts_and_lines)
{
    assert_written(&renderer_text, "run <1>   2 steps\n\nWhere\n\na & b\n2 lines\n\n"
                                   "  span        3 ms\n              of 4\n\n"
                                   "  kernel    calls  busy ms\n  gemm,\"x\"      7    1.500\n\n"
                                   "  P1  step 3: waits [IDLE]\n      possible   sync\n"
                                   "      missing    stacks\n      try        look\n");
}

TEST(markdown_has_facts_and_lines)
{
    assert_written(&renderer_markdown,
                   "# run \\<1\\>\n\n2 steps\n\n## Where\n\na \\& b\n2 lines\n\n- **span**: 3 ms\n"
                   "  of 4\n\n| kernel | calls | busy ms |\n|---|---:|---:|\n"
                   "| gemm,\"x\" | 7 | 1.500 |\n\n- **P1** `IDLE` step 3: waits\n"
                   "  - possible: sync\n  - missing: stacks\n  - try: look\n");
}

TEST_MAIN("render/html", T(a_page_has_every_block_and_escapes_text), T(csv_has_the_tables),
          T(text_has_facts_and_lines), T(markdown_has_facts_and_lines))
