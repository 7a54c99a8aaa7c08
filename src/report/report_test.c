#include "report/report.h"

#include "base/testing.h"

static const struct column columns[] = {
    {"step", COLUMN_TEXT, UNIT_PLAIN},
    {"busy ms", COLUMN_NUMBER, UNIT_MS},
};

TEST(blocks_stand_in_the_order_they_were_added)
{
    struct report *r = report_new(LANG_EN, S("rank0"));
    char buf[QUANTITY_TEXT];

    report_heading(r, S("Steps"));
    struct table *t = report_table(r, columns, ARRAY_LEN(columns));
    table_text(r, t, S("pseudo"));
    table_number(t, 83e6);
    report_text(r, S("done"));

    assert_int_equal(r->blocks.n, 3);
    assert_int_equal(r->blocks.at[0]->kind, BLOCK_HEADING);
    assert_int_equal(r->blocks.at[1]->kind, BLOCK_TABLE);
    assert_int_equal(table_rows(r->blocks.at[1]->table), 1);
    assert_str(table_cell_text(t, 0, buf), "pseudo");
    assert_str(table_cell_text(t, 1, buf), "83.00");
    assert_str(r->blocks.at[2]->text, "done");
    report_free(r);
}

TEST(findings_that_follow_each_other_share_a_block)
{
    struct report *r = report_new(LANG_EN, S("rank0"));
    struct finding *f = report_finding(r, "TAIL_GAP_HEAVY", PRIORITY_P2, S("step 1"), S("5 ms"));

    finding_cause(r, f, CERTAINTY_POSSIBLE, S("host"));
    finding_gap(r, f, S("stacks"));
    report_finding(r, "PRELAUNCH_GAP_HEAVY", PRIORITY_P3, S("step 1"), S("2 ms"));

    assert_int_equal(r->blocks.n, 1);
    assert_int_equal(r->blocks.at[0]->findings.n, 2);
    assert_int_equal(f->causes.n, 1);
    assert_str(f->gaps.at[0], "stacks");
    assert_string_equal(priority_name(f->priority), "P2");
    report_free(r);
}

TEST(the_report_keeps_its_own_copies)
{
    char text[] = "before";
    struct report *r = report_new(LANG_EN, str_of(text));

    memcpy(text, "after ", 6);

    assert_str(r->title, "before");
    report_free(r);
    report_free(NULL);
}

TEST_MAIN("report/report", T(blocks_stand_in_the_order_they_were_added),
          T(findings_that_follow_each_other_share_a_block), T(the_report_keeps_its_own_copies))
