#include "opdb/rows/check.h"

#include <unistd.h>

#include "base/testing_folder.h"

#define BASE                                                                                       \
    "OP State,Accelerator Core,Input Shapes,Input Data Types,Input Formats,Output Shapes,"         \
    "Output Data Types,Output Formats"

static struct check check;

static void check_test_run(const char *name, const char *text)
{
    const char *path = scratch_put(name, text);
    struct place_files tree;

    assert_int_equal(place_find(&arena, scratch, NULL, 0, &tree, &diag), ST_OK);
    assert_int_equal(tree.n, 1);
    assert_string_equal(tree.at[0].path, path);
    check_init(&check);
    check_table(&check, &tree.at[0]);
    unlink(path);
}

static void check_test_expect(size_t i, uint64_t line, bool is_note, const char *part)
{
    assert_true(i < check.findings.n);
    assert_int_equal(check.findings.at[i].line, line);
    assert_int_equal(check.findings.at[i].is_note, is_note);
    assert_non_null(strstr(check.findings.at[i].what.at, part));
}

TEST(a_sound_table_has_no_findings)
{
    check_test_run("Add.csv", BASE ",Average Duration(us),MicroBench aic_mac_ratio\n"
                                   "d,V,\"4;()\",F,ND,4,F,ND,1,1.001\n");
    assert_int_equal(check.findings.n, 0);
    assert_int_equal(check.tables.at[0].valid, 1);
    check_free(&check);
}

TEST(impossible_values_are_problems)
{
    check_test_run("Add.csv", BASE ",Average Duration(us),Profiling Average aic_mac_ratio\n"
                                   "d,V,4,F,ND,4,F,ND,-1,0\n"
                                   "d,V,5,F,ND,5,F,ND,nan,0\n"
                                   "d,V,6,F,ND,6,F,ND,inf,0\n"
                                   "d,V,\"7,x\",F,ND,7,F,ND,1,0\n"
                                   "d,V,8,F,ND,8,F,ND,1,1.2\n"
                                   "d,V,9,F\n");
    assert_int_equal(check.problems, 6);
    check_test_expect(0, 2, false, "negative");
    check_test_expect(1, 2, true, "no valid duration");
    check_test_expect(2, 3, false, "not a number");
    check_test_expect(4, 4, false, "infinite");
    check_test_expect(5, 5, false, "\"7,x\"");
    check_test_expect(6, 6, false, "outside 0 to 1");
    check_test_expect(7, 7, false, "4 cells");
    check_free(&check);
}

TEST(doubles_and_empty_rows_are_notes)
{
    check_test_run("MatMulV2.csv", BASE ",Average Duration(us)\n"
                                        "d,C,\"2,3;3,4\",F;F,ND;ND,\"2,4\",F,ND,1\n"
                                        "d,C,\"2,3;4,3\",F;F,ND;ND,\"2,4\",F,ND,\n");
    assert_int_equal(check.problems, 0);
    assert_int_equal(check.notes, 2);
    check_test_expect(0, 3, true, "duplicate of line 2");
    check_test_expect(1, 3, true, "no valid duration");
    check_free(&check);
}

TEST(files_that_are_no_tables_are_problems)
{
    check_test_run("Add.csv", "version https://git-lfs.github.com/spec/v1\n");
    check_test_expect(0, 1, false, "Git LFS pointer");
    check_free(&check);
    check_test_run("Add.csv", "");
    check_test_expect(0, 1, false, "empty");
    check_free(&check);
    check_test_run("Add.csv", "a\n1\n\"2\n");
    check_test_expect(0, 3, false, "ends inside");
    check_free(&check);
    check_test_run("Add.csv", "Input Shapes\n4\n");
    assert_int_equal(check.problems, 7);
    check_free(&check);
    check_test_run("hcom_x_.csv", "message_bytes,num_devices,Duration(us)\n1,2,3\n");
    assert_int_equal(check.findings.n, 0);
    check_free(&check);
}

TEST(leftovers_reports_and_replays_are_passed_over)
{
    struct place_files tree;

    scratch_put("Add.tmp.csv", "\"");
    scratch_put("reports/x.csv", "x");
    scratch_put("msprof_run_1/PROF_1/x.csv", "x");
    scratch_put("DEV/vllm_ascend/v1/Mul.csv", "x");
    assert_int_equal(place_find(&arena, scratch, NULL, 0, &tree, &diag), ST_OK);
    assert_int_equal(tree.n, 1);
    assert_str(tree.at[0].op, "Mul");
    struct place_origin origin = place_origin(tree.at[0].path);
    assert_str(origin.device, "DEV");
    assert_str(origin.stack, "vllm_ascend");
    assert_str(origin.version, "v1");
    assert_int_equal(place_find(&arena, "/nonexistent", NULL, 0, &tree, &diag), ST_NOT_FOUND);
}

TEST_MAIN("opdb/rows/check", TS(a_sound_table_has_no_findings), TS(impossible_values_are_problems),
          TS(doubles_and_empty_rows_are_notes), TS(files_that_are_no_tables_are_problems),
          TS(leftovers_reports_and_replays_are_passed_over))
