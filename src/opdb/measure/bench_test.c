#include "opdb/measure/bench.h"

#include "base/testing_folder.h"

#define HEAD                                                                                       \
    "OP Type,OP State,Task Type,Task Duration(us),Input Shapes,Input Data Types,Input Formats,"    \
    "Output Shapes,Output Data Types,Output Formats,aiv_time(us)\n"

static enum status plan_of(struct bench_plan *plan, enum update_mode mode, bool prune)
{
    struct bench_job job = {.dir = scratch_path("db"),
                            .prof = scratch_path("PROF_1"),
                            .how = {.mode = mode, .prune = prune},
                            .ep_size = 16};

    return bench_plan(plan, &job, &diag);
}

static void replay(const char *rows)
{
    scratch_put("PROF_1/mindstudio_profiler_output/op_summary_1.csv",
                arena_format(&arena, HEAD "%s", rows).at);
}

static struct str bench_cell(const struct op_table *t, size_t row, const char *column)
{
    return table_cell(t, row, table_column(t, str_of(column)));
}

#define ADD_TABLE                                                                                  \
    "OP State,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,"        \
    "MicroBench Duration(us),Profiling Average Duration(us),Profiling Average aiv_time(us),Mine\n" \
    "d,\"\"\"4\"\"\",F,ND,4,F,,2,1,x\n"                                                            \
    "d,5,F,ND,5,F,,,,y\n"                                                                          \
    "d,5,F,ND,5,F,,,,z\n"

TEST(the_shortest_sample_is_written_back)
{
    struct bench_plan plan;

    scratch_put("db/Add.csv", ADD_TABLE);
    replay("Add,d,V,3.5,4,F,ND,4,F,ND,2\nAdd,d,V,3,\"\"\"4\"\"\",F,ND,4,F,ND,4\n"
           "Add,d,V,9,7,F,ND,7,F,ND,1\n,d,V,1,1,F,ND,1,F,ND,1\n");
    assert_int_equal(plan_of(&plan, UPDATE_ALL, false), ST_OK);
    const struct update *u = &plan.updates.at[0];
    assert_str(bench_cell(&u->table, 0, "Average Duration(us)"), "3.000000");
    assert_str(bench_cell(&u->table, 0, "MicroBench aiv_time(us)"), "3.000000");
    assert_str(bench_cell(&u->table, 0, "Mine"), "x");
    assert_int_equal(u->table.n_rows, 4);
    assert_str(bench_cell(&u->table, 3, "Input Shapes"), "7");
    assert_int_equal(u->updated, 1);
    assert_int_equal(u->added, 1);
    assert_int_equal(u->missing.n, 1);
    assert_int_equal(u->duplicates.n, 1);
    assert_int_equal(u->duplicates.at[0].count, 2);
    assert_int_equal(plan.gaps.n, 1); /* 3 / 2 is above 1.2 */
    assert_true(u->is_changed);
    bench_plan_free(&plan);
}

TEST(missing_only_leaves_measured_rows_alone)
{
    struct bench_plan plan;

    scratch_put("db/Add.csv", ADD_TABLE);
    replay("Add,d,V,3,4,F,ND,4,F,ND,4\nAdd,d,V,6,5,F,ND,5,F,ND,4\nAdd,d,V,9,7,F,ND,7,F,ND,1\n");
    assert_int_equal(plan_of(&plan, UPDATE_MISSING_ONLY, true), ST_OK);
    const struct update *u = &plan.updates.at[0];
    assert_int_equal(u->unchanged, 1);
    assert_int_equal(u->updated, 1);
    assert_int_equal(u->added, 0);
    assert_int_equal(u->missing.n, 1);
    assert_int_equal(u->deleted.n, 1); /* the second of the two equal rows has no duration */
    assert_int_equal(u->table.n_rows, 2);
    assert_str(bench_cell(&u->table, 1, "Average Duration(us)"), "6.000000");
    bench_plan_free(&plan);
}

TEST(matrix_products_match_across_their_family_and_are_never_added)
{
    struct bench_plan plan;

    scratch_put("db/MatMulV2.csv", "Input Shapes,Input Data Types,Input Formats,Output Shapes,"
                                   "Output Data Types\n\"2,3;3,4\",F;F,ND;ND,\"2,4\",F\n");
    replay("MatMulV3,d,C,5,\"2,3;4,3\",F;F,ND;ND,\"2,4\",F,ND,1\n"
           "MatMulV2,d,C,5,\"7,7;7,7\",F;F,ND;ND,\"7,7\",F,ND,1\n");
    assert_int_equal(plan_of(&plan, UPDATE_ALL, false), ST_OK);
    const struct update *u = &plan.updates.at[0];
    assert_int_equal(u->table.n_rows, 1);
    assert_str(bench_cell(&u->table, 0, "Average Duration(us)"), "5.000000");
    assert_int_equal(u->messages.n, 1);
    assert_str(u->messages.at[0],
               "[WARN] match-only profiling row did not match MatMulV2.csv: 7,7;7,7 -> 7,7");
    bench_plan_free(&plan);
}

TEST(a_folder_without_tables_gets_one_for_each_type)
{
    struct bench_plan plan;

    replay("Foo,d,V,3,4,F,ND,4,F,ND,4\nBar,d,V,3,4,F,ND,4,F,ND,4\n");
    assert_int_equal(plan_of(&plan, UPDATE_ALL, false), ST_OK);
    assert_int_equal(plan.updates.n, 2);
    assert_str(plan.updates.at[0].op, "Bar");
    assert_int_equal(plan.updates.at[0].table.columns.n, 62);
    assert_true(plan.updates.at[0].is_new);
    bench_plan_free(&plan);
}

TEST(a_replay_that_is_not_there_is_told)
{
    struct bench_plan plan;

    assert_int_equal(plan_of(&plan, UPDATE_ALL, false), ST_NOT_FOUND);
    assert_int_equal(diag_count(&diag, "perfdb.no-prof"), 1);
    bench_plan_free(&plan);
    scratch_put("PROF_1/x", "");
    assert_int_equal(plan_of(&plan, UPDATE_ALL, false), ST_NOT_FOUND);
    assert_int_equal(diag_count(&diag, "perfdb.no-summary"), 1);
    bench_plan_free(&plan);
}

TEST(complete_tables_have_a_duration_in_every_row)
{
    const char *path = scratch_put("db/Add.csv", "Average Duration(us)\n1\n2\n");
    struct bench_files files = {&path, 1};
    bool is_complete;

    assert_int_equal(bench_is_complete(&files, &is_complete, &diag), ST_OK);
    assert_true(is_complete);
    scratch_put("db/Add.csv", "Average Duration(us)\n1\nnan\n");
    assert_int_equal(bench_is_complete(&files, &is_complete, &diag), ST_OK);
    assert_false(is_complete);
}

TEST(nothing_is_pruned_when_nothing_was_measured)
{
    struct bench_plan plan;

    scratch_put("db/Add.csv", ADD_TABLE);
    replay("Mul,d,V,3.5,4,F,ND,4,F,ND,2\n");
    assert_int_equal(plan_of(&plan, UPDATE_MISSING_ONLY, true), ST_UNSUPPORTED);
    assert_string_equal(diag.entries.at[0].code, "perfdb.prune-refused");
    bench_plan_free(&plan);
    replay("Add,d,V,3.5,4,F,ND,4,F,ND,2\n");
    assert_int_equal(plan_of(&plan, UPDATE_MISSING_ONLY, true), ST_OK);
    assert_int_equal(plan.updates.at[0].deleted.n, 2);
    assert_str(plan.updates.at[0].messages.at[0],
               "[PRUNE] Add.csv: 2 rows deleted, which have no duration, replayed or profiled");
    bench_plan_free(&plan);
}

TEST_MAIN("opdb/measure/bench", TS(nothing_is_pruned_when_nothing_was_measured),
          TS(the_shortest_sample_is_written_back), TS(missing_only_leaves_measured_rows_alone),
          TS(matrix_products_match_across_their_family_and_are_never_added),
          TS(a_folder_without_tables_gets_one_for_each_type),
          TS(a_replay_that_is_not_there_is_told), TS(complete_tables_have_a_duration_in_every_row))
