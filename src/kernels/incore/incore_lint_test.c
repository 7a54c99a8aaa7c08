/*
 * Files that MindStudio Insight opens and files that it refuses.
 */
#include "kernels/incore/incore_lint.h"

#include <stdlib.h>

#include "base/files/bin_blocks.h"
#include "base/formats/json_write.h"
#include "base/testing.h"

static struct incore_lint lint;
static struct text bin;

static int fresh(void **state)
{
    (void)state;
    incore_lint_init(&lint);
    bin = (struct text){0};
    return 0;
}

static int done(void **state)
{
    (void)state;
    incore_lint_fini(&lint);
    text_free(&bin);
    return 0;
}

static void add_block(uint8_t type, uint8_t version, struct str payload)
{
    assert_true(bin_write_block(text_sink(&bin), type, version, payload));
}

static void lint_test_check(void)
{
    incore_lint_check(&lint, (struct str){bin.at, bin.n}, (struct lint_file){.size = bin.n});
}

/* The only problem there is. */
static void assert_problem(const char *rule, uint64_t offset, enum lint_weight weight)
{
    assert_int_equal(lint.problems.n, 1);
    assert_string_equal(lint.problems.at[0].rule, rule);
    assert_int_equal(lint.problems.at[0].offset, offset);
    assert_int_equal(lint.problems.at[0].weight, weight);
}

static const struct str good = S_INIT(
    "{\"profilingType\":\"op\",\"traceEvents\":[{\"dur\":1,\"name\":\"A\",\"ph\":\"X\",\"pid\":"
    "\"c\",\"tid\":\"CUBE\",\"ts\":1}]}");

TEST(a_sound_file_breaks_no_rule)
{
    add_block(BIN_TRACE, BIN_MARK, good);
    add_block(BIN_API_INSTR, BIN_NEW, S("{\"Cores\":[]}"));
    lint_test_check();
    assert_int_equal(lint.problems.n, 0);
    assert_true(incore_lint_opens(&lint));
    assert_int_equal(lint.blocks, 2);
    assert_int_equal(lint.events, 1);
}

TEST(a_first_block_of_version_0_is_refused)
{
    add_block(BIN_API_INSTR, BIN_NEW, S("{\"Cores\":[]}"));
    add_block(BIN_TRACE, BIN_MARK, good);
    lint_test_check();
    assert_problem("first-version", 10, LINT_REFUSED);
    assert_false(incore_lint_opens(&lint));
}

TEST(an_empty_block_is_refused)
{
    add_block(BIN_TRACE, BIN_MARK, S("{\"traceEvents\":[]}"));
    add_block(BIN_API_FILE, BIN_MARK, S("{}"));
    add_block(99, BIN_MARK, S(""));
    lint_test_check();
    assert_problem("empty-block", 32 + 16, LINT_REFUSED);
}

TEST(a_broken_header_is_told_at_its_byte)
{
    add_block(BIN_TRACE, BIN_MARK, S("{\"traceEvents\":[]}"));
    add_block(BIN_API_FILE, BIN_MARK, S("{}"));
    bin.at[32 + 11] = 0;
    lint_test_check();
    assert_problem("block-mark", 32 + 11, LINT_REFUSED);
}

TEST(a_trace_that_is_no_json_is_told_at_its_byte)
{
    /*                                  123456789012345678 */
    add_block(BIN_TRACE, BIN_MARK, S("{\"traceEvents\":[}]}"));
    lint_test_check();
    assert_problem("trace-json", 12 + 16, LINT_REFUSED);
}

TEST(flags_need_an_id_of_their_own)
{
    add_block(
        BIN_TRACE, BIN_MARK,
        S("{\"traceEvents\":["
          "{\"id\":\"a\",\"name\":\"SET_FLAG\",\"ph\":\"B\",\"pid\":\"c\",\"tid\":\"M\",\"ts\":1},"
          "{\"id\":\"a\",\"name\":\"SET_FLAG\",\"ph\":\"E\",\"pid\":\"c\",\"tid\":\"M\",\"ts\":2},"
          "{\"id\":\"a\",\"name\":\"SET_FLAG\",\"ph\":\"B\",\"pid\":\"c\",\"tid\":\"M\",\"ts\":3},"
          "{\"id\":\"a\",\"name\":\"SET_FLAG\",\"ph\":\"E\",\"pid\":\"c\",\"tid\":\"M\",\"ts\":4}"
          "]}"));
    lint_test_check();
    assert_int_equal(lint.problems.n, 1);
    assert_string_equal(lint.problems.at[0].rule, "flag-id");
    assert_true(incore_lint_opens(&lint));
}

TEST(slices_may_not_overlap_on_named_rows)
{
    static const struct str text =
        S_INIT("{\"profilingType\":\"op\",\"traceEvents\":["
               "{\"args\":{\"name\":\"r\"},\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":\"c\","
               "\"tid\":\"r\"},"
               "{\"dur\":2,\"name\":\"A\",\"ph\":\"X\",\"pid\":\"c\",\"tid\":\"r\",\"ts\":1},"
               "{\"dur\":2,\"name\":\"A\",\"ph\":\"X\",\"pid\":\"c\",\"tid\":\"r\",\"ts\":3},"
               "{\"dur\":2,\"name\":\"A\",\"ph\":\"X\",\"pid\":\"c\",\"tid\":\"r\",\"ts\":4}]}");

    incore_lint_check(&lint, text, (struct lint_file){.size = text.n});
    assert_int_equal(lint.problems.n, 1);
    assert_string_equal(lint.problems.at[0].rule, "lane-overlap");
}

TEST(a_file_that_others_may_write_is_refused)
{
    incore_lint_check(&lint, good, (struct lint_file){.size = good.n, .others_may_write = true});
    assert_problem("file-access", 0, LINT_REFUSED);
}

TEST(a_rule_broken_often_is_told_a_few_times_and_counted)
{
    add_block(BIN_TRACE, BIN_MARK, S("{\"traceEvents\":[1,2,3,4,5,6,7,8,9,10]}"));
    lint_test_check();
    assert_int_equal(lint.problems.n, LINT_KEPT);
    assert_int_equal(lint.refused, 10);
    assert_int_equal(lint.rules.at[0].count, 10);
}

TEST(no_byte_makes_it_read_past_the_end)
{
    add_block(BIN_TRACE, BIN_MARK, good);
    add_block(BIN_API_INSTR, BIN_NEW, S("{\"Cores\":[]}"));
    for (size_t i = 0; i < bin.n; i++)
        for (int value = 0; value < 256; value++) {
            char *exact = malloc(bin.n);
            memcpy(exact, bin.at, bin.n);
            exact[i] = (char)value;
            incore_lint_fini(&lint);
            incore_lint_init(&lint);
            incore_lint_check(&lint, (struct str){exact, bin.n}, (struct lint_file){.size = bin.n});
            for (size_t k = 0; k < lint.problems.n; k++)
                assert_true(lint.problems.at[k].offset <= bin.n);
            free(exact);
        }
}

TEST_MAIN("kernels/incore/incore_lint", TF(a_sound_file_breaks_no_rule),
          TF(a_first_block_of_version_0_is_refused), TF(an_empty_block_is_refused),
          TF(a_broken_header_is_told_at_its_byte), TF(a_trace_that_is_no_json_is_told_at_its_byte),
          TF(flags_need_an_id_of_their_own), TF(slices_may_not_overlap_on_named_rows),
          TF(a_file_that_others_may_write_is_refused),
          TF(a_rule_broken_often_is_told_a_few_times_and_counted),
          TF(no_byte_makes_it_read_past_the_end))
