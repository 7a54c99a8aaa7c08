#include "cli/terminal/markdown_view.h"

#include "base/testing.h"

TEST(tables_headings_and_lines)
{
    struct report *r = report_new(LANG_EN, S(""));

    markdown_view(r, S("## Stages\n| Name | us | Why |\n|---|---:|---|\n| a\\|b | 1.5 | - |\n"
                       "| c | 2 | x |\n\nfirst\nsecond\n"));
    assert_int_equal(r->blocks.n, 4);
    assert_str(r->blocks.at[0]->text, "Stages");
    const struct table *t = r->blocks.at[1]->table;
    assert_int_equal(t->n_columns, 3);
    assert_int_equal(t->cells.n, 6);
    assert_string_equal(t->columns[1].head, "us");
    assert_int_equal(t->columns[1].type, COLUMN_RIGHT);
    assert_int_equal(t->columns[2].type, COLUMN_TEXT);
    assert_str(t->cells.at[0].text, "a|b");
    assert_str(t->cells.at[4].text, "2");
    assert_str(r->blocks.at[2]->text, "first");
    assert_str(r->blocks.at[3]->text, "second");
    report_free(r);
}

/* Rows that are too short or too long, a table without rows, a line that only looks like one. */
TEST(odd_tables)
{
    struct report *r = report_new(LANG_EN, S(""));

    markdown_view(r, S("| a | b |\n|---|---|\n| 1 |\n| 1 | 2 | 3 |\n\n|\n\n| x |\n"));
    const struct table *t = r->blocks.at[0]->table;
    assert_int_equal(t->cells.n, 4);
    assert_str(t->cells.at[1].text, "");
    assert_str(t->cells.at[3].text, "2");
    report_free(r);
}

TEST_MAIN("cli/terminal/markdown_view", T(tables_headings_and_lines), T(odd_tables))
