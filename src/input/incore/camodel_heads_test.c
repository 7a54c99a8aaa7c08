#include "input/incore/camodel.h"

#include "base/testing.h"

static struct camodel_points fetches, issues;
static struct camodel_records ends;
static struct camodel_instrs instrs;

static int heads_done(void **state)
{
    (void)state;
    vec_free(&fetches.list);
    vec_free(&issues.list);
    vec_free(&ends.list);
    vec_free(&instrs.list);
    return 0;
}

/* A run of the instruction at `pc`. */
static void add_run(uint64_t pc, int64_t begin, int64_t end)
{
    vec_push(&instrs.list, ((struct camodel_instr){begin, end, (uint32_t)ends.list.n}));
    vec_push(&ends.list, ((struct camodel_record){.tick = end, .pc = pc}));
}

TEST(a_fetched_line_holds_four_instructions)
{
    camodel_fetches_read(&fetches, S("[info] 7: lookup_tag is fetch req addr:0x100\n"
                                     "[info] @9: lookup_tag is fetch req addr:0x13dbf100\n"
                                     "[info] x: lookup_tag is fetch req addr:0x100\n"
                                     "[info] 8: lookup_tag is fetch req addr:100\n"));
    assert_int_equal(fetches.list.n, 8);
    assert_int_equal(fetches.list.at[3].pc, 0x10c);
    assert_int_equal(fetches.list.at[3].tick, 7);
    assert_int_equal(fetches.list.at[4].tick, 9);
}

TEST(issues_have_two_spellings)
{
    camodel_issues_read(&issues, S("[info] 100: is_single_issue instr, pc:0x1000\n"
                                   "[info] 200: ccu do issue success.issue isa pc :0x2000\n"
                                   "[info] 300: something else pc:0x3000\n"));
    assert_int_equal(issues.list.n, 2);
    assert_int_equal(issues.list.at[0].pc, 0x1000);
    assert_int_equal(issues.list.at[1].tick, 200);
}

TEST(the_kth_run_has_the_kth_issue_and_the_last_fetch_before_it)
{
    struct camodel_head heads[3];

    camodel_fetches_read(&fetches, S("[info] 5: lookup_tag is fetch req addr:0x40\n"
                                     "[info] 9: lookup_tag is fetch req addr:0x40\n"
                                     "[info] 10: lookup_tag is fetch req addr:0x40\n"));
    camodel_issues_read(&issues, S("[info] 20: is_single_issue instr, pc:0x44\n"
                                   "[info] 10: is_single_issue instr, pc:0x44\n"
                                   "[info] 90: is_single_issue instr, pc:0x48\n"));
    add_run(0x44, 25, 26);
    add_run(0x44, 12, 13);
    add_run(0x48, 50, 51); /* issued after it began: nothing is known */
    camodel_heads_find(&instrs, &ends, &fetches, &issues, heads);
    assert_int_equal(heads[0].issued, 20);
    assert_int_equal(heads[0].fetched, 10);
    assert_int_equal(heads[1].issued, 10);
    assert_int_equal(heads[1].fetched, 9);
    assert_int_equal(heads[2].issued, -1);
    assert_int_equal(heads[2].fetched, -1);
}

#define TW(name) cmocka_unit_test_teardown(name, heads_done)

TEST_MAIN("input/incore/camodel_heads", TW(a_fetched_line_holds_four_instructions),
          TW(issues_have_two_spellings),
          TW(the_kth_run_has_the_kth_issue_and_the_last_fetch_before_it))
